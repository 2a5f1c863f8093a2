// The commands with `--server`: they act on the runs of a server as without it on those of a journal. Each
// returns what the command of that name returns.
#pragma once

#include "cli/console.hpp"
#include "cli/options.hpp"

namespace praxis::cli {

Result<ExitStatus> run_at_server(const RunOptions& options, Console& console);
/// `plain`: the chat writes lines only.
Result<ExitStatus> chat_at_server(const ChatOptions& options, bool plain, Console& console);
Result<ExitStatus> resume_at_server(const ResumeOptions& options, Console& console);
Result<ExitStatus> approve_at_server(const ApproveOptions& options, Console& console);
Result<ExitStatus> tree_at_server(const TreeOptions& options, Console& console);
Result<ExitStatus> command_at_server(const TreeCommandOptions& options, Console& console);

}  // namespace praxis::cli
