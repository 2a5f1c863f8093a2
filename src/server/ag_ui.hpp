// AG-UI: a turn as the events of one run of that protocol, with those of its sub-agents.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer_parts.hpp"
#include "server/problem.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

class AgUiCodec final : public TurnCodec {
 public:
  struct Begin {
    std::string thread, id;   ///< of the client: of the conversation and of this run of the protocol
    TurnId turn = {};         ///< the turn that it shows; empty: the next one
    bool at_once = false;     ///< the turn continues after a decision
    Json messages = nullptr;  ///< of a snapshot with which it begins; null: none
  };
  AgUiCodec(Begin begin, SessionId run);
  AgUiCodec(const AgUiCodec&) = delete;
  AgUiCodec& operator=(const AgUiCodec&) = delete;
  /// The run, if it was made after the codec.
  void set_run(SessionId run) { run_ = std::move(run); }
  /// Before the first event: which turn is shown, and what came before it; as in `Begin`.
  void show(TurnId turn, Json messages) {
    begin_.turn = std::move(turn);
    begin_.messages = std::move(messages);
  }

  bool take(const Event& event, std::string& out) override;
  void take_wait(const std::vector<ParkedStep>& pending, std::string& out) override;
  void take_error(const Error& error, std::string& out) override;
  bool has_begun() const override { return has_begun_; }
  HttpAnswer answer() const override { return json_answer(JsonObject{}); }
  /// All of a conversation in which no turn is open.
  std::string idle();

 private:
  /// A session that speaks in this run: its own, or a sub-agent.
  struct Voice {
    explicit Voice(AnswerParts::Write write) : parts(std::move(write)) {}
    AnswerParts parts;
    std::string subagent;  ///< empty for the run itself
    std::string step;      ///< its name, while it is open
    std::string place;     ///< of the step: with what ids of its messages begin
    std::string part;      ///< id of the open message
    std::size_t texts = 0, reasonings = 0;
    std::map<std::string, std::string> errors;  ///< of calls without a result, by call
    bool is_open = false;
  };
  /// What the run and its sub-agents have done since this run of the protocol began.
  struct Work {
    std::uint64_t model_calls = 0, tool_calls = 0;
    std::int64_t tokens = 0;
  };
  bool concerns(const Event& event) const;
  Voice& voice(const SessionId& session);
  void open(const SessionId& session, const std::string& name, const std::string& call,
            const SessionId& parent);
  void begin(std::string_view status = "running");
  void on_event(const Event& event, Voice& voice);
  void on_part(Voice& voice, PartStep step, PartKind kind, const std::string& text);
  void called(const events::ToolCalled& call, const SessionId& session, Voice& voice);
  void result(Voice& voice, const std::string& call, const std::string& text);
  void finish_step(Voice& voice);
  void settled(const events::ChildSettled& child);
  void close_all(const std::vector<ParkedStep>* pending);
  void end(const AgentResult& result);
  void finish(JsonObject outcome, Json result, const Usage* usage);
  void show_state(std::string_view status);
  void change_state(JsonArray operations);
  void emit(JsonObject event, const Voice* voice = nullptr);
  std::string call_id(const SessionId& session, const CallId& call) const;

  SessionId run_;
  Begin begin_;
  bool has_begun_ = false, has_ended_ = false, has_text_ = false;
  std::map<SessionId, std::unique_ptr<Voice>> voices_;
  std::map<SessionId, std::size_t> times_;  ///< how often a sub-agent has begun
  Work work_;
  UnixMillis time_;
  std::string* out_ = nullptr;
};

/// The messages of a conversation in the form of the protocol. `until`: how many of them.
JsonArray ag_ui_messages(const SessionId& run, const std::vector<MessagePtr>& messages, std::size_t until);

}  // namespace praxis::server
