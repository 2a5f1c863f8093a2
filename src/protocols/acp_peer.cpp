#include "protocols/acp_peer.hpp"

#include <utility>

namespace praxis::protocols {

std::optional<McpMessage> AcpPeer::answer_to(std::string_view method, Json params,
                                             const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (gone_) return std::nullopt;
  const std::int64_t id = ++next_;
  const auto entry = asked_.emplace(id, std::nullopt).first;
  lock.unlock();
  writer_.write(mcp_request(id, method, std::move(params)));
  lock.lock();
  changed_.wait(lock, stop, [&] { return gone_ || entry->second; });
  std::optional<McpMessage> answer = std::move(entry->second);
  asked_.erase(entry);
  const bool withdrawn = !answer && !gone_;
  lock.unlock();
  if (withdrawn) notify("$/cancel_request", JsonObject{{"requestId", id}});
  return answer;
}

std::optional<Json> AcpPeer::ask(std::string_view method, Json params, const std::stop_token& stop) {
  auto answer = answer_to(method, std::move(params), stop);
  if (!answer || answer->kind != McpMessage::Kind::kResult) return std::nullopt;
  return std::move(answer->body);
}

void AcpPeer::answered(const McpMessage& answer) {
  const std::lock_guard lock(mutex_);
  const auto entry = asked_.find(answer.id.is_int64() ? answer.id.get_int64() : 0);
  if (entry == asked_.end()) return;
  entry->second = answer;
  changed_.notify_all();
}

void AcpPeer::hang_up() {
  const std::lock_guard lock(mutex_);
  gone_ = true;
  changed_.notify_all();
}

}  // namespace praxis::protocols
