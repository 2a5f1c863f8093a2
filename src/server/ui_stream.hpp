// The UI message stream of the AI SDK: a turn as the chunks of one message of the assistant.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/answer_parts.hpp"
#include "server/problem.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

class UiStreamCodec final : public TurnCodec {
 public:
  /// Where the stream begins: with the next turn, with `turn`, or at once because `turn` continues after
  /// decisions on the steps `decided` (`SESSION/p1`).
  struct Begin {
    TurnId turn = {};
    bool at_once = false;
    std::set<std::string> decided = {};
  };
  UiStreamCodec(Begin begin, SessionId run);
  UiStreamCodec(const UiStreamCodec&) = delete;
  UiStreamCodec& operator=(const UiStreamCodec&) = delete;
  /// The run, if it was made after the codec.
  void set_run(SessionId run) { run_ = std::move(run); }

  bool take(const Event& event, std::string& out) override;
  void take_wait(const std::vector<ParkedStep>& pending, std::string& out) override;
  void take_error(const Error& error, std::string& out) override;
  bool has_begun() const override { return has_begun_; }
  HttpAnswer answer() const override { return json_answer(JsonObject{}); }

 private:
  void begin(const TurnId& turn);
  void on_own(const Event& event);
  void on_below(const Event& event);
  void on_part(PartStep step, PartKind kind, const std::string& text);
  void on_decided(const records::Decided& decision);
  void result(const std::string& call, const Json& output);
  void failed(const std::string& call, const std::string& reason);
  void finish_step();
  void end(const AgentResult& result);
  void end_chunks(std::string_view reason, Json metadata);
  void show_agent(const SessionId& agent);
  void emit(const JsonObject& chunk);

  SessionId run_;
  const Begin begin_;
  bool has_begun_ = false, has_ended_ = false, in_step_ = false, has_text_ = false;
  std::size_t next_part_ = 0;
  std::string part_;
  AnswerParts parts_;
  std::map<SessionId, JsonObject> agents_;
  /// Calls of sub-agents that the client decided on, and as which calls it knows them.
  std::map<std::pair<SessionId, CallId>, std::string> decided_calls_;
  std::string* out_ = nullptr;
};

}  // namespace praxis::server
