// The other side of a JSON-RPC conversation in which both sides ask: an editor that speaks the Agent Client
// Protocol.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/message.hpp"
#include "praxis/json/json.hpp"
#include "protocols/json_lines.hpp"

namespace praxis::protocols {

/// Writes to the editor, and waits for what it answers. Thread-safe.
class AcpPeer {
 public:
  explicit AcpPeer(int out) : writer_(out) {}

  void respond(const Json& id, Json result) { writer_.write(mcp_result(id, std::move(result))); }
  void refuse(const Json& id, int code, std::string_view why, Json data = nullptr) {
    writer_.write(mcp_error(id, code, why, std::move(data)));
  }
  void notify(std::string_view method, Json params) {
    writer_.write(mcp_notification(method, std::move(params)));
  }

  /// Asks the editor and waits for its answer. `std::nullopt`: it has gone, or `stop` was requested; then it
  /// learns that the question is withdrawn.
  std::optional<McpMessage> answer_to(std::string_view method, Json params, const std::stop_token& stop);
  /// The result of the same; `std::nullopt` for an error of the editor too.
  std::optional<Json> ask(std::string_view method, Json params, const std::stop_token& stop);
  /// Takes an answer of the editor.
  void answered(const McpMessage& answer);
  /// No answer comes any more.
  void hang_up();

 private:
  LineWriter writer_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::int64_t, std::optional<McpMessage>> asked_;
  std::int64_t next_ = 0;
  bool gone_ = false;
};

}  // namespace praxis::protocols
