// OpenAI's Chat Completions: a turn of a run as one completion, whole or in chunks.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "server/answer_parts.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

class ChatCodec final : public TurnCodec {
 public:
  /// What the client asked for.
  struct Head {
    std::string model;  ///< as the client named it
    std::int64_t created = 0;
    bool with_usage = false;           ///< the last chunk has the usage
    std::set<std::string> tools = {};  ///< those that the client runs
    bool at_once = false;              ///< the turn continues with the results of calls
  };
  ChatCodec(Head head, SessionId run);
  ChatCodec(const ChatCodec&) = delete;
  ChatCodec& operator=(const ChatCodec&) = delete;
  /// The run, if it was made after the codec.
  void set_run(SessionId run) { run_ = std::move(run); }

  bool take(const Event& event, std::string& out) override;
  void take_wait(const std::vector<ParkedStep>& pending, std::string& out) override;
  void take_error(const Error& error, std::string& out) override;
  bool has_begun() const override { return has_begun_; }
  HttpAnswer answer() const override { return answer_; }

 private:
  void end(const AgentResult& result);
  void fail_with(const HttpAnswer& problem);
  void end_with(std::string_view finish, const std::string& text, JsonArray calls, const Usage& usage);
  void chunk(JsonArray choices, Json usage);
  void delta(JsonObject delta, Json finish);
  JsonObject head_json(const char* object) const;

  SessionId run_;
  const Head head_;
  AnswerParts parts_;
  std::string text_;  ///< of the step in progress
  Usage usage_;
  bool has_begun_ = false, has_delta_ = false, has_text_ = false, has_ended_ = false;
  HttpAnswer answer_;
  std::string* out_ = nullptr;
};

}  // namespace praxis::server
