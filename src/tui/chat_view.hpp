// What a chat shows, from the events of a run: text that is finished, which is printed once, and the state of
// what is in progress, which the live region shows. The same for events as they happen and for those of a
// log.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"
#include "tui/answer_text.hpp"
#include "tui/theme.hpp"

namespace praxis::tui {

class ChatView {
 public:
  /// `make` renders answers; null: they are shown as they were written.
  ChatView(SessionId root, Styles styles, MakeRenderer make = nullptr)
      : root_(std::move(root)), styles_(styles), answer_(std::move(make)) {}

  /// Takes the next event of the run or an agent below it. Returns what is finished now: complete lines, safe
  /// to print, for a screen of `columns`.
  std::string show(const Event& event, std::size_t columns);
  /// The text that is arriving and the calls that are running, in at most `rows` lines.
  std::vector<std::string> live(std::size_t columns, std::size_t rows, UnixMillis now) const;

  /// The theme of what is shown from now on.
  void set_theme(Theme theme) { styles_.theme = theme; }

  /// Whether a turn is in progress, and since when.
  std::optional<UnixMillis> busy_since() const { return busy_since_; }
  /// What the agent does now, in one or two words.
  const std::string& doing() const { return doing_; }
  /// How many agents work on a turn, as far as their events have come.
  std::size_t agents_at_work() const { return at_work_.size(); }
  /// Messages that reach the model at its next step, and those whose turns have not begun.
  const std::vector<WaitingMessage>& steering() const { return steering_; }
  const std::vector<WaitingMessage>& queued() const { return queued_; }
  /// The messages that no step has read, because the turn was stopped or failed; once.
  std::vector<WaitingMessage> take_unread() { return std::exchange(unread_, {}); }

 private:
  /// Calls of several agents can have the same id.
  using CallKey = std::pair<SessionId, CallId>;
  /// A call as the model made it.
  struct Call {
    std::string text;  ///< name and arguments on one line
    std::string agent;
    std::optional<UnixMillis> started = {};
    std::string progress = {};
  };

  void show_message(const events::MessageAdded& added, std::string& out);
  void show_root(const Event& event, std::string& out);
  void show_answer(const events::ModelResponded& responded, std::string& out);
  void end_turn(const AgentResult& result, std::string& out);
  void end_call(const Event& event, const CallId& call, const std::string& name, const std::string& how,
                bool failed, std::string& out);
  void show_decision(const Event& event, const records::Decided& decision, std::string& out);
  void show_command(const Event& event, const records::Intervened& command, std::string& out);
  void show_command_below(const Event& event, const records::Intervened& command, std::string& out);
  void change_waiting(const Event& event, const records::Intervened& command, std::string& out);
  void note(const Event& event, std::string_view text, bool failed, std::string& out);
  std::string agent_prefix(const AgentMeta& agent) const;
  void add_line(std::string& out, std::string line);

  const SessionId root_;
  Styles styles_;
  std::size_t columns_ = 80;
  AnswerText answer_;
  std::string thinking_;                     ///< end of the reasoning that is arriving
  std::map<SessionId, std::string> agents_;  ///< names of the sub-agents
  std::map<CallKey, Call> calls_;            ///< that have not ended
  std::set<SessionId> at_work_;
  std::vector<WaitingMessage> steering_, queued_;  ///< texts as the user wrote them
  std::vector<WaitingMessage> unread_;
  std::string doing_;
  std::optional<UnixMillis> busy_since_;
  bool has_blank_ = true;  ///< the last line that was printed is empty
};

}  // namespace praxis::tui
