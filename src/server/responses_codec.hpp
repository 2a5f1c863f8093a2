// OpenAI's Responses: a turn of a run, or the part of it after a decision, as a response and its stream.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer_parts.hpp"
#include "server/responses_id.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

/// The key in the metadata of a message under which the request of its response is kept.
inline constexpr std::string_view kResponsesKey = "responses";
/// `{input_tokens, output_tokens, ...}` of OpenAI's Responses.
Json responses_usage(const Usage& usage);

class ResponseCodec final : public TurnCodec {
 public:
  /// Writes the events with a sequence number above `after`.
  explicit ResponseCodec(ResponseId id, std::int64_t after = -1);
  ResponseCodec(const ResponseCodec&) = delete;
  ResponseCodec& operator=(const ResponseCodec&) = delete;

  /// Before the first event: the turn of a run that was made after the codec.
  void set_id(ResponseId id) { id_ = std::move(id); }
  /// The response follows the decision that was made at this time in the log of a session below.
  void begin_at(UnixMillis time) { begins_at_ = time; }

  bool take(const Event& event, std::string& out) override;
  bool take_decision(const ParkId& decided, const std::vector<ParkedStep>& pending,
                     std::string& out) override;
  void take_wait(const std::vector<ParkedStep>& pending, std::string& out) override;
  void take_error(const Error& error, std::string& out) override;
  bool has_begun() const override { return has_begun_; }
  HttpAnswer answer() const override;

  /// The response so far.
  JsonObject response() const;
  /// What its request said, as kept by the journal; null: the turn was started in another way.
  const Json& request() const { return request_; }
  /// The step whose decision ended the response; the rest of the turn is another one. Empty: no decision did.
  const ParkId& ended_by() const { return ended_by_; }

 private:
  struct Call {
    std::size_t index = 0;  ///< of the item
    std::string error;      ///< of the last attempt
  };
  void begin(UnixMillis time, std::string& out);
  bool begins_with(const Event& event) const;
  void on_own(const Event& event);
  void on_part(PartStep step, PartKind kind, const std::string& text);
  void piece(JsonObject event, const std::string& text);
  void ask(const ParkedStep& step);
  void call_client(const ParkedStep& step);
  bool is_of_client(const ParkedStep& step) const;
  std::size_t add_item(JsonObject item);
  void finish_item(std::size_t index);
  void call_started(const events::ToolStarted& call);
  void call_ended(const CallId& call, const std::string* output, std::string_view status);
  void end_calls(std::string_view status);
  void end(std::string_view type, std::string_view status, UnixMillis time);
  void end_with(const AgentResult& result, UnixMillis time);
  void emit(JsonObject event);
  void write(const JsonObject& event);
  JsonObject about(std::string_view type, std::size_t index) const;

  ResponseId id_;
  const std::int64_t after_;
  std::int64_t next_ = 0;  ///< sequence number
  std::optional<UnixMillis> begins_at_;
  Json request_ = nullptr;
  std::string agent_;
  ParkId ended_by_;
  bool in_turn_ = false, has_begun_ = false, has_content_ = false, has_ended_ = false;
  std::string status_ = "queued";
  UnixMillis created_, ended_;
  Json error_ = nullptr, incomplete_ = nullptr;
  std::vector<JsonObject> items_;
  std::size_t part_ = 0;          ///< the item of the part that is open
  std::int64_t part_began_ = 0;   ///< sequence number before its pieces
  std::map<CallId, Call> calls_;  ///< that run
  Usage usage_;
  std::map<SessionId, Usage> below_;
  AnswerParts parts_;
  std::string* out_ = nullptr;  ///< of the call in progress
};

}  // namespace praxis::server
