// A2A 1.0: a turn of a run as a task of that protocol, and its stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer_parts.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

/// Which turn of which run a task is. As text `RUN~t1`.
struct A2aTaskId {
  SessionId run;
  TurnId turn;

  std::string text() const;
  /// Nothing if the text has another form.
  static std::optional<A2aTaskId> parse(std::string_view text);
};

/// The key in the metadata of a message under which its A2A ids are kept: `{message, context}`.
inline constexpr std::string_view kA2aKey = "a2a";

/// The form in which answers go out.
struct A2aForm {
  bool is_rpc = false;                        ///< JSON-RPC; else HTTP+JSON
  Json id = nullptr;                          ///< of the JSON-RPC request
  bool is_bare = false;                       ///< the task itself, not `{"task": ...}`
  bool is_lines = false;                      ///< events are lines of JSON, not server-sent events
  std::optional<std::size_t> history = {};    ///< most messages of the history; nothing: all
  HttpAnswer answer(Json result) const;       ///< the whole answer
  std::string event(const Json& data) const;  ///< one server-sent event, or line
};

/// Folds the events of a turn to a task. Writes nothing until `speak` is called, so that it can take what the
/// log holds first.
class A2aCodec final : public TurnCodec {
 public:
  A2aCodec(A2aTaskId id, A2aForm form);
  A2aCodec(const A2aCodec&) = delete;
  A2aCodec& operator=(const A2aCodec&) = delete;

  /// Before the first event: the turn of a run that was made after the codec.
  void set_task(A2aTaskId id) { id_ = std::move(id); }
  /// From now on, events are written. Gives the task so far as the first one if the turn has begun.
  std::string speak();

  bool take(const Event& event, std::string& out) override;
  void take_wait(const std::vector<ParkedStep>& pending, std::string& out) override;
  void take_error(const Error& error, std::string& out) override;
  bool has_begun() const override { return has_begun_; }
  HttpAnswer answer() const override;

  /// The task so far.
  Json task(std::optional<std::size_t> history, bool with_artifacts = true) const;
  /// The state of the task, such as `TASK_STATE_WORKING`.
  std::string_view state() const { return state_; }
  bool has_ended() const { return has_ended_; }
  /// The time of the last change of the state.
  UnixMillis time() const { return time_; }
  /// The context of the run: as its first client named it, else the id of the run.
  std::string context() const;

 private:
  void on_own(const Event& event);
  void on_message(const events::MessageAdded& added);
  void on_part(PartStep step, PartKind kind, const std::string& text);
  void end(const AgentResult& result);
  void set_state(std::string_view state, UnixMillis time, Json message = nullptr);
  void give_piece(bool is_last);
  Json status_json() const;
  Json artifact_json(const std::string& text) const;
  Json agent_message(JsonArray parts);
  void emit(std::string_view kind, Json payload);

  A2aTaskId id_;
  const A2aForm form_;
  std::string context_;
  bool speaks_ = false, in_turn_ = false, has_begun_ = false, has_ended_ = false;
  std::string_view state_ = "TASK_STATE_SUBMITTED";
  UnixMillis time_;
  Json message_ = nullptr;  ///< of the status
  JsonArray history_;
  std::string answer_;          ///< the text of the last step
  std::string held_;            ///< its last piece, until it is known whether another follows
  bool holds_ = false;          ///< there is such a piece
  bool was_sent_ = false;       ///< a piece of this step has been written
  bool called_ = false;         ///< the step made a call, so that its text is no answer
  std::uint32_t messages_ = 0;  ///< of the agent, for their ids
  AnswerParts parts_;
  std::string* out_ = nullptr;  ///< of the call in progress
};

}  // namespace praxis::server
