#include "server/open_streams.hpp"

#include <utility>

#include "net/web_socket.hpp"
#include "server/problem.hpp"

namespace praxis::server {

void OpenStreams::add(const Principal& principal, const Right* right, bool is_socket,
                      const HttpReply& reply) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(
      {principal, right == nullptr ? std::nullopt : std::optional(*right), is_socket, reply.weak()});
}

void OpenStreams::end_unless(TokenBook& book) {
  std::vector<Stream> streams;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const Stream& each) { return each.reply.expired(); });
    streams = streams_;
  }
  for (const Stream& each : streams) {
    auto queue = each.reply.lock();
    if (!queue || book.still_has(each.principal, each.right)) continue;
    const HttpReply reply(std::move(queue));
    const char* const why = "the token was revoked, has expired, or lost the right";
    reply.send(problem(401, make_error(ErrorCode::kPolicy, why)));  // counts if nothing was sent yet
    reply.finish(each.is_socket
                     ? std::make_shared<const std::string>(close_frame(CloseCode::kPolicyViolation, why))
                     : nullptr);
  }
}

}  // namespace praxis::server
