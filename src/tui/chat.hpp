// The chat with an agent at a terminal (docs/chat.md): a run that stays open while the user reads, writes and
// decides. `cli/` opens what it needs.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"
#include "tui/answer_text.hpp"
#include "tui/chat_run.hpp"
#include "tui/notice.hpp"
#include "tui/theme.hpp"

namespace praxis::tui {

/// What a chat gets from its command. All must outlive the chat.
struct ChatSetup {
  const app::Workspace& workspace;  ///< what printed commands name
  ChatPlace& place;
  std::shared_ptr<Executor> executor;  ///< runs what blocks, such as looking for files
  std::shared_ptr<Environment> environment;
  bool plain = false;  ///< lines only: nothing is drawn a second time
  ThemeChoice theme = {};
  NoticeSettings notice = {};
  std::vector<std::string> status_command = {};  ///< draws the status line; empty: the chat does
  /// Lets the user edit a text in an editor; the suffix is that of the file.
  std::function<Result<std::string>(std::string_view text, std::string_view suffix)> edit;
  /// Writes a whole file.
  std::function<Status(const std::string& path, std::string_view bytes)> write;
  /// Returns a text without the secrets that are known here; called from any thread.
  std::function<std::string(std::string text)> hide;
  MakeRenderer render;   ///< of answers; null: they are shown as they were written
  std::string folder;    ///< for drafts and the history; empty: keeps nothing
  std::stop_token stop;  ///< leaves the chat
};

/// Runs a chat on `run` until the user leaves it; returns the id of the run that was open last, empty if
/// it has no record. A turn that works then is left as `ChatRun::leave` does. Error `kInput`: the terminal
/// cannot be used.
Result<SessionId> run_chat(const ChatSetup& setup, std::unique_ptr<ChatRun> run);

}  // namespace praxis::tui
