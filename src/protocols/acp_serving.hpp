// The agent of an editor that speaks the Agent Client Protocol, version 1, on standard input and output: each
// conversation is a run of the journal.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "app/home_folder.hpp"
#include "app/workspace.hpp"
#include "praxis/domain/author.hpp"

namespace praxis::protocols {

struct AcpServing {
  std::string version;     ///< of the program, for editors
  std::string agent = {};  ///< of new conversations: a name, or an absolute path; empty: the default agent
  std::string model = {};  ///< of new conversations; empty: that of the agent
  /// Journal and profile. Each conversation has a folder of its own; this one, an absolute path, is for a
  /// list of all conversations.
  app::Place place = {};
  Author author = {};  ///< of messages and approvals
  /// Opens the workspace of a folder, which becomes the current one.
  std::function<Result<app::Workspace>(const app::Place&)> open;
  app::HomeAcceptance accept_home = {};               ///< null: no tool may reach the home folder
  std::function<void(const std::string&)> warn = {};  ///< gets what editors cannot show; not null
};

/// Serves until the end of `in` or a stop request, then interrupts the turns that are running and waits for
/// them. Errors: `kInput` for a message that is too long, `kInternal` when `in` cannot be read.
Status serve_acp(const AcpServing& serving, int in, int out, const std::stop_token& stop);

}  // namespace praxis::protocols
