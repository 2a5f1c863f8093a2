// The chat with an agent at a terminal (docs/chat.md): a run that stays open while the user reads, writes and
// decides. `cli/` opens what it needs.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/workspace.hpp"
#include "praxis/runtime/runtime.hpp"
#include "tui/answer_text.hpp"
#include "tui/notice.hpp"
#include "tui/theme.hpp"

namespace praxis::tui {

/// A run that a chat has open.
struct ChatRun {
  Session session;
  std::shared_ptr<Team> team = nullptr;  ///< whose conversation the run is; null: one agent's
};

/// Which run a chat opens.
struct ChatOpening {
  std::string id = {};     ///< empty: a new run
  std::string model = {};  ///< empty: the run's or the agent's
  std::string agent = {};  ///< of a new run; empty: that of the chat
};

/// What a chat gets from its command. All must outlive the chat.
struct ChatSetup {
  const app::Workspace& workspace;
  std::shared_ptr<Runtime> runtime;
  Author author;       ///< of commands and approvals
  bool plain = false;  ///< lines only: nothing is drawn a second time
  ThemeChoice theme = {};
  NoticeSettings notice = {};
  std::function<Result<ChatRun>(const ChatOpening& opening)> open;
  /// Lets the user edit a text in an editor; the suffix is that of the file.
  std::function<Result<std::string>(std::string_view text, std::string_view suffix)> edit;
  /// Writes a whole file.
  std::function<Status(const std::string& path, std::string_view bytes)> write;
  MakeRenderer render;   ///< of answers; null: they are shown as they were written
  std::string folder;    ///< for drafts and the history; empty: keeps nothing
  std::stop_token stop;  ///< leaves the chat
};

/// Runs a chat on `run` until the user leaves it; returns the id of the run that was open last, empty if
/// it has no record. A turn that works then is interrupted and settled. Error `kInput`: the terminal cannot
/// be used.
Result<SessionId> run_chat(const ChatSetup& setup, ChatRun run);

}  // namespace praxis::tui
