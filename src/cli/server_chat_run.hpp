// A run at a server, as a chat has it open.
#pragma once

#include <memory>
#include <string>

#include "cli/options.hpp"
#include "cli/server_client.hpp"
#include "tui/chat_run.hpp"

namespace praxis::cli {

/// A run that its first message makes, with an agent of the server (empty: its default agent) and a model
/// (empty: the agent's). Error as `ServerClient::open`.
Result<std::unique_ptr<tui::ChatRun>> new_run_at_server(const ServerPlace& place, const std::string& agent,
                                                        const std::string& model);
/// A run that exists. Error as `ServerClient::open`.
Result<std::unique_ptr<tui::ChatRun>> run_at_server_by_id(const ServerPlace& place, const SessionId& run,
                                                          const std::string& model);

}  // namespace praxis::cli
