#include "protocols/json_lines.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/write_all.hpp"

namespace praxis::protocols {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

/// Reads what is there. 0: the input has ended or a stop was requested.
Result<std::size_t> read_some(int in, int wake, std::array<char, kReadBytes>& chunk) {
  for (;;) {
    std::array<pollfd, 2> ready{{{in, POLLIN, 0}, {wake, POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) break;
    if (ready[1].revents != 0) return 0;
    if (ready[0].revents == 0) continue;
    const ssize_t got = read(in, chunk.data(), chunk.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) break;
  }
  return fail(ErrorCode::kInternal,
              "standard input cannot be read: " + std::generic_category().message(errno));
}

}  // namespace

void LineWriter::write(std::string line) {
  line += '\n';
  const std::lock_guard lock(writing_);
  std::ignore = write_all(out_, line);
}

Status read_lines(int in, std::size_t max_bytes, const std::stop_token& stop,
                  const std::function<void(std::string_view)>& take) {
  const FileDescriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback on_stop(stop, [&] { eventfd_write(wake.get(), 1); });
  std::string buffer;
  std::array<char, kReadBytes> chunk{};
  for (;;) {
    auto got = read_some(in, wake.get(), chunk);
    if (!got) return fail(std::move(got.error()));
    if (*got == 0) return {};
    std::size_t searched = buffer.size();
    buffer.append(chunk.data(), *got);
    std::size_t start = 0;
    for (std::size_t end = 0; (end = buffer.find('\n', searched)) != std::string::npos;
         start = searched = end + 1)
      take(std::string_view(buffer).substr(start, end - start));
    buffer.erase(0, start);
    if (buffer.size() > max_bytes)
      return fail(ErrorCode::kInput, "the client sent a message that is too long");
  }
}

}  // namespace praxis::protocols
