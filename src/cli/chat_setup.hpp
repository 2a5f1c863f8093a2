// What a chat needs of its command, wherever the runs are.
#pragma once

#include <string>

#include "app/workspace.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "tui/chat.hpp"

namespace praxis::cli {

/// How the chat uses the terminal: whether it writes lines only. Error `kInput`: there is no terminal, and
/// `--plain` is not set.
Result<bool> is_plain(const ChatOptions& options, const Terminal& terminal);

/// The setup of a chat whose runs are at `place`, with the look of the configuration of `workspace`. `named`:
/// what printed commands name. All must outlive the setup.
tui::ChatSetup chat_setup(const ChatOptions& options, const app::Workspace& workspace,
                          const app::Workspace& named, tui::ChatPlace& place,
                          std::shared_ptr<Executor> executor, bool plain, const Terminal& terminal);

}  // namespace praxis::cli
