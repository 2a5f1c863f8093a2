#include "protocols/mcp_serving.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "mcp/message.hpp"
#include "praxis/json/schema.hpp"
#include "protocols/json_lines.hpp"

namespace praxis::protocols {
namespace {

constexpr const char* kStateless = "2026-07-28";
constexpr std::array<std::string_view, 4> kWithHandshake{"2025-11-25", "2025-06-18", "2025-03-26",
                                                         "2024-11-05"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr int kBusy = -32000;
constexpr std::int64_t kListAgeMs = 60'000;

/// One client.
class McpPeer {
 public:
  McpPeer(const McpServing& serving, int out) : serving_(serving), writer_(out) {}

  void take(std::string_view line);
  /// Stops the calls that are running and waits for them.
  void finish();

 private:
  struct Call {
    std::stop_source stop;
    std::thread thread;
    bool ended = false;
  };

  void answer(const McpMessage& request);
  void read(const McpMessage& request, bool stateless);
  void begin_call(const McpMessage& request, bool stateless);
  void run_call(const std::string& key, const Json& id, const Json& token, ServedCall call, bool stateless);
  /// Why a request is not valid in the stateless version; empty: it is, or its client has had a handshake.
  static std::string missing_in(const McpMessage& request);
  /// The version that a request names; empty for one of a client with a handshake.
  static std::string version_of(const McpMessage& request) {
    return json_string(json_at(request.body, "_meta"), kVersionKey);
  }
  Json server_info() const { return JsonObject{{"name", "praxis"}, {"version", serving_.version}}; }
  JsonObject capabilities() const;
  Json handshake(const Json& params) const;
  Json list() const;
  Json complete(JsonObject result, bool stateless) const;
  void reap();
  void write_line(std::string line) { writer_.write(std::move(line)); }

  const McpServing& serving_;
  LineWriter writer_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Call>> calls_;  ///< by the text of the request's id
};

Json McpPeer::complete(JsonObject result, bool stateless) const {
  if (stateless) {
    result["resultType"] = "complete";
    result["_meta"] = JsonObject{{kServerKey, server_info()}};
  }
  return result;
}

JsonObject McpPeer::capabilities() const {
  JsonObject offered{{"tools", JsonObject{}}};
  if (serving_.reading.read) {
    offered["resources"] = JsonObject{};
    offered["prompts"] = JsonObject{};
  }
  return offered;
}

Json McpPeer::handshake(const Json& params) const {
  const std::string wanted = json_string(params, "protocolVersion");
  const bool is_known = std::ranges::find(kWithHandshake, wanted) != kWithHandshake.end();
  JsonObject result{{"protocolVersion", is_known ? std::string_view(wanted) : kWithHandshake.front()},
                    {"capabilities", capabilities()},
                    {"serverInfo", server_info()}};
  if (!serving_.instructions.empty()) result["instructions"] = serving_.instructions;
  return result;
}

Json McpPeer::list() const {
  JsonArray tools;
  for (const ServedTool& tool : serving_.tools) {
    tools.push_back(
        JsonObject{{"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.parameters}});
  }
  return JsonObject{{"tools", std::move(tools)}};
}

void McpPeer::take(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  const auto message = read_mcp_message(line, {.max_depth = 64, .max_bytes = serving_.max_line_bytes});
  if (!message) return write_line(mcp_error(nullptr, kRpcParseError, message.error().message));
  if (message->kind == McpMessage::Kind::kRequest) return answer(*message);
  if (message->method != "notifications/cancelled") return;
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(to_json_text(json_at(message->body, "requestId")));
  if (found != calls_.end()) found->second->stop.request_stop();
}

std::string McpPeer::missing_in(const McpMessage& request) {
  const Json& meta = json_at(request.body, "_meta");
  const bool has_keys = !json_at(meta, kClientKey).is_null() || !json_at(meta, kCapabilitiesKey).is_null();
  const bool is_stateless = has_keys || request.method == "server/discover" || !version_of(request).empty();
  if (!is_stateless) return {};
  if (version_of(request).empty()) return kVersionKey;
  return json_at(meta, kCapabilitiesKey).is_object() ? "" : kCapabilitiesKey;
}

void McpPeer::answer(const McpMessage& request) {
  const std::string version = version_of(request);
  const bool stateless = !version.empty();
  if (stateless && version != kStateless) {
    const JsonObject data{{"supported", JsonArray{kStateless}}, {"requested", version}};
    return write_line(mcp_error(request.id, kRpcUnsupportedVersion,
                                "this server does not support version " + version, data));
  }
  if (const std::string missing = missing_in(request); !missing.empty())
    return write_line(mcp_error(request.id, kRpcInvalidParams, "\"_meta\" needs \"" + missing + '"'));
  if (request.method == "initialize" && !stateless)
    return write_line(mcp_result(request.id, handshake(request.body)));
  if (request.method == "ping" && !stateless) return write_line(mcp_result(request.id, JsonObject{}));
  if (request.method == "server/discover" && stateless) {
    JsonObject result{{"supportedVersions", JsonArray{kStateless}},
                      {"capabilities", capabilities()},
                      {"ttlMs", kListAgeMs},
                      {"cacheScope", "private"}};
    if (!serving_.instructions.empty()) result["instructions"] = serving_.instructions;
    return write_line(mcp_result(request.id, complete(std::move(result), true)));
  }
  if (request.method == "tools/list") {
    JsonObject result = list().get_object();
    if (stateless) {
      result["ttlMs"] = kListAgeMs;
      result["cacheScope"] = "private";
    }
    return write_line(mcp_result(request.id, complete(std::move(result), stateless)));
  }
  if (request.method == "tools/call") return begin_call(request, stateless);
  if (serving_.reading.read && is_reading(request.method)) return read(request, stateless);
  write_line(mcp_error(request.id, kRpcUnknownMethod, "this server has no method " + request.method));
}

void McpPeer::read(const McpMessage& request, bool stateless) {
  McpAnswer answer = answer_reading(serving_.reading, request.method, request.body, stateless);
  if (answer.error != 0) return write_line(mcp_error(request.id, answer.error, answer.why, answer.data));
  // What runs and people add in between is there at once.
  if (stateless && request.method != "prompts/get") {
    answer.result["ttlMs"] = 0;
    answer.result["cacheScope"] = "private";
  }
  write_line(mcp_result(request.id, complete(std::move(answer.result), stateless)));
}

void McpPeer::begin_call(const McpMessage& request, bool stateless) {
  reap();
  ServedCall call;
  call.tool = json_string(request.body, "name");
  call.arguments = json_at(request.body, "arguments");
  if (call.arguments.is_null()) call.arguments = JsonObject{};
  const Json& meta = json_at(request.body, "_meta");
  call.caller = trace_from_header(json_string(meta, "traceparent")).value_or(TraceContext{});
  const auto refuse = [&](int code, const std::string& why) { write_line(mcp_error(request.id, code, why)); };
  const auto tool = std::ranges::find(serving_.tools, call.tool, &ServedTool::name);
  if (tool == serving_.tools.end()) return refuse(kRpcInvalidParams, "there is no tool \"" + call.tool + '"');
  const auto schema = JsonSchema::compile(tool->parameters);
  const auto problems = schema ? schema->validate(call.arguments, 1) : std::vector<SchemaProblem>{};
  if (!problems.empty())
    return refuse(kRpcInvalidParams, "arguments" + problems[0].path + ": " + problems[0].message);
  const std::string key = to_json_text(request.id);
  const std::lock_guard lock(mutex_);
  if (calls_.contains(key)) return refuse(kRpcInvalidRequest, "a request with this id is running");
  if (calls_.size() >= serving_.max_calls) return refuse(kBusy, "too many calls at the same time");
  const auto started = std::make_shared<Call>();
  call.stop = started->stop.get_token();
  calls_[key] = started;
  const Json token = json_at(meta, "progressToken");
  started->thread =
      std::thread([this, key, id = request.id, token, call = std::move(call), stateless]() mutable {
        run_call(key, id, token, std::move(call), stateless);
      });
}

void McpPeer::run_call(const std::string& key, const Json& id, const Json& token, ServedCall call,
                       bool stateless) {
  std::int64_t steps = 0;
  const std::stop_token stop = call.stop;
  if (!token.is_null()) {
    call.progress = [&](const std::string& text) {
      write_line(
          mcp_notification("notifications/progress",
                           JsonObject{{"progressToken", token}, {"progress", ++steps}, {"message", text}}));
    };
  }
  const ServedAnswer given = serving_.call(call);
  JsonObject result{{"content", JsonArray{JsonObject{{"type", "text"}, {"text", given.text}}}},
                    {"isError", given.is_error}};
  if (!given.structured.is_null()) result["structuredContent"] = given.structured;
  // A cancelled request gets no answer.
  if (!stop.stop_requested()) write_line(mcp_result(id, complete(std::move(result), stateless)));
  const std::lock_guard lock(mutex_);
  calls_[key]->ended = true;
}

/// Joins the threads of calls that have ended.
void McpPeer::reap() {
  std::vector<std::shared_ptr<Call>> ended;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(calls_, [&](const auto& entry) {
      if (entry.second->ended) ended.push_back(entry.second);
      return entry.second->ended;
    });
  }
  for (const auto& call : ended) call->thread.join();
}

void McpPeer::finish() {
  std::vector<std::shared_ptr<Call>> running;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, call] : calls_) running.push_back(call);
  }
  for (const auto& call : running) call->stop.request_stop();
  for (const auto& call : running) call->thread.join();
}

}  // namespace

Status serve_mcp(const McpServing& serving, int in, int out, const std::stop_token& stop) {
  McpPeer peer(serving, out);
  Status served =
      read_lines(in, serving.max_line_bytes, stop, [&](std::string_view line) { peer.take(line); });
  peer.finish();
  return served;
}

}  // namespace praxis::protocols
