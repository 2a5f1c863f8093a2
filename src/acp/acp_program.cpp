#include "acp/acp_program.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "mcp/connection.hpp"

namespace praxis::acp {
namespace {

constexpr std::size_t kShownBytes = 200;  ///< of progress
constexpr std::array<std::string_view, 5> kCallMembers{"title", "kind", "locations", "rawInput", "content"};
constexpr std::array<std::string_view, 1> kOffered{"session/request_permission"};

bool is_offered(const std::string& method) {
  return std::ranges::find(kOffered, std::string_view(method)) != kOffered.end();
}

/// Sets the members that a report of a call states.
void merge_call(JsonObject& known, const Json& update) {
  for (const std::string_view member : kCallMembers) {
    if (const Json& value = json_at(update, member); !value.is_null()) known[member] = value;
  }
}

Error reported(const Json& error, const AcpBounds& bounds) {
  const auto code = json_int(error, "code");
  Error made = make_error(ErrorCode::kTool, ErrorKind::kFailed,
                          "the agent reports error " + std::to_string(code) + ": " +
                              mcp_shown(json_text(error, "message"), bounds.error_bytes));
  made.set("rpc_code", code);
  return with_reach(std::move(made), Reach::kAnswered);
}

}  // namespace

Program::Program(const AcpAgent& agent, Process process)
    : bounds_(agent.bounds),
      channel_(std::move(process),
               {.message_bytes = bounds_.message_bytes,
                .message_depth = bounds_.message_depth,
                .error_bytes = bounds_.error_bytes,
                .total_bytes = bounds_.total_bytes,
                .peer = "the agent"},
               {.message = [this](McpMessage message) { return take(std::move(message)); },
                .ended = [this](const std::string& why) { close_with(why); }}) {
  channel_.begin();
}

Result<std::unique_ptr<Program>> Program::start(const AcpAgent& agent) {
  auto process = start_channel_program(agent.program);
  if (!process) return fail(std::move(process.error()));
  return std::make_unique<Program>(agent, *std::move(process));
}

Status Program::request(std::string_view method, Json params, const Patience& patience) {
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return fail(channel_closed(*closed_, Reach::kNotSent));
    id = ++last_id_;
    answer_.reset();
  }
  return channel_.send(mcp_request(id, method, std::move(params)), patience.stop, patience.deadline);
}

std::optional<Happening> Program::next(const Patience& patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, patience.stop, patience.deadline,
                      [this] { return answer_ || !asked_.empty() || !progress_.empty() || closed_; });
  if (patience.stop.stop_requested()) return std::nullopt;
  if (!progress_.empty()) return Progress{std::exchange(progress_, {})};
  if (answer_) return Happening(*std::exchange(answer_, std::nullopt));
  if (closed_) return Happening(Result<Json>(fail(channel_closed(*closed_, Reach::kSent))));
  if (asked_.empty()) return std::nullopt;
  Asked first = std::move(asked_.front());
  asked_.pop_front();
  return first;
}

void Program::notify(std::string_view method, Json params) {
  std::ignore = channel_.send_quietly(mcp_notification(method, std::move(params)));
}

void Program::answer(const Json& id, Json result) {
  std::ignore = channel_.send_quietly(mcp_result(id, std::move(result)));
}

/// Each refusal that waits for a program that only asks and never reads would delay the end of the call.
void Program::refuse(const Json& id, int code, std::string_view why) {
  const auto sent = channel_.send_quietly(mcp_error(id, code, why));
  if (!sent && sent.error().kind() != ErrorKind::kClosed)
    close_with("the agent asks without reading the answers");
}

void Program::use_session(const std::string& id) {
  const std::lock_guard lock(mutex_);
  session_ = id;
}

std::string Program::text() const {
  const std::lock_guard lock(mutex_);
  if (left_out_ == 0) return text_;
  return text_ + "\n[" + std::to_string(left_out_) + " bytes left out]";
}

Result<JsonObject> Program::known_call(const Json& update) const {
  std::optional<JsonObject> known = JsonObject{};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = calls_.find(json_string(update, "toolCallId")); found != calls_.end())
      known = found->second;
  }
  if (known) merge_call(*known, update);
  if (known && to_json_text(*known).size() <= bounds_.action_bytes) return *std::move(known);
  return fail(ErrorCode::kTool, ErrorKind::kTooLarge, "what it wants to do is too much to show");
}

bool Program::take(McpMessage message) {
  using Kind = McpMessage::Kind;
  if (message.kind == Kind::kRequest) {
    take_request(std::move(message));
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (message.kind == Kind::kNotification) {
    const bool is_ours = !session_.empty() && json_text(message.body, "sessionId") == session_;
    if (message.method == "session/update" && is_ours) take_update(json_at(message.body, "update"));
    changed_.notify_all();
    return true;
  }
  const std::int64_t id = message.id.is_int64() ? message.id.get_int64() : 0;
  if (id != last_id_ || id == 0) return id > 0 && id < last_id_;
  answer_ = message.kind == Kind::kResult ? Result<Json>(std::move(message.body))
                                          : fail(reported(message.body, bounds_));
  changed_.notify_all();
  return true;
}

void Program::take_request(McpMessage message) {
  if (!is_offered(message.method)) {
    return refuse(message.id, kRpcUnknownMethod,
                  "this client offers no " + mcp_shown(message.method, kShownBytes));
  }
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() < bounds_.actions) {
      asked_.push_back({std::move(message.id), std::move(message.method), std::move(message.body)});
      return changed_.notify_all();
    }
  }
  refuse(message.id, kRpcInternal, "too many requests wait for an answer");
}

void Program::take_update(const Json& update) {
  const std::string kind = json_string(update, "sessionUpdate");
  if (kind == "agent_message_chunk") return take_chunk(update);
  if (kind != "tool_call" && kind != "tool_call_update") return;
  is_new_part_ = true;
  remember_call(update);
  if (const std::string_view title = json_text(update, "title"); !title.empty())
    progress_ = mcp_shown(title, kShownBytes);
}

void Program::take_chunk(const Json& update) {
  const Json& content = json_at(update, "content");
  const std::string message = json_string(update, "messageId");
  std::string piece = json_string(content, "text");
  if (const std::string type = json_string(content, "type"); type != "text")
    piece = "\n[" + mcp_shown(type, kShownBytes) + " that is not passed on]\n";
  progress_ = mcp_shown(piece, kShownBytes);
  if ((is_new_part_ || message != message_) && !text_.empty()) piece.insert(0, "\n\n");
  is_new_part_ = false;
  message_ = message;
  const std::size_t room = bounds_.result_bytes - text_.size();
  if (left_out_ == 0) text_.append(piece, 0, room);
  if (left_out_ != 0 || piece.size() > room) left_out_ += piece.size() - (left_out_ == 0 ? room : 0);
}

void Program::remember_call(const Json& update) {
  const std::string id = json_string(update, "toolCallId");
  if (calls_.size() >= bounds_.actions && !calls_.contains(id)) calls_.clear();
  std::optional<JsonObject>& known = calls_.try_emplace(id, JsonObject{}).first->second;
  if (known) merge_call(*known, update);
  if (known && to_json_text(*known).size() > bounds_.action_bytes) known.reset();
}

void Program::close_with(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!closed_) closed_ = why;
  changed_.notify_all();
}

}  // namespace praxis::acp
