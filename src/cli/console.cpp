#include "cli/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "app/plain_text.hpp"
#include "app/without_secrets.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMaxInput = 64 * 1024 * 1024;

/// Owns a file descriptor; does not close standard input.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

std::unexpected<Error> failed(std::string_view verb, const std::string& path) {
  return fail(ErrorCode::kInput, fmt::format("cannot {} {}: {}", verb, path, std::strerror(errno)));
}

/// Foreign text after our words: its further lines get a prefix, so that they cannot imitate ours.
std::string on_own_lines(std::string_view text) {
  std::string lines = visible_text(text);
  for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 5)
    lines.insert(at + 1, "  | ");
  return lines;
}

}  // namespace

void Stream::write(std::string_view bytes) {
  if (closed_) return;
  if (const int error = write_all(fd_, bytes); error != 0) {
    closed_ = true;
    error_ = error == EPIPE ? 0 : error;
  }
}

void Console::item(std::string_view kind, const JsonObject& members) {
  JsonObject line{{"item", kind}};
  for (const auto& [key, value] : members) line[key] = value;
  json(line);
}

ExitStatus Console::report(const Error& exact, int signal) {
  Error error = exact;
  app::redaction_of_errors().redact(error);
  const std::string_view red = terminal.color ? kRed : "", plain = terminal.color ? kPlain : "";
  err.line(fmt::format("{}praxis: error:{} {}", red, plain, on_own_lines(error.message)));
  const std::string hint = json_string(error.detail(), "hint");
  if (!hint.empty()) err.line("hint: " + on_own_lines(hint));
  return exit_status(error, signal);
}

bool can_confirm() { return isatty(STDIN_FILENO) == 1; }

bool confirmed(std::string_view question, Console& console) {
  console.err.write(std::string(question) + " [y/N] ");
  std::string answer(16, '\0');
  const auto got = read(STDIN_FILENO, answer.data(), answer.size());
  return got > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

Result<std::string> read_input(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : '"' + path + '"';
  const File file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return failed("read", name);
  std::string bytes;
  std::array<char, 65536> buffer;
  for (;;) {
    const auto got = read(file.fd(), buffer.data(), buffer.size());
    if (got == 0) return bytes;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", name);
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes.size() > kMaxInput) return fail(ErrorCode::kInput, name + " is larger than 64 MiB");
  }
}

Status write_file(const std::string& path, std::string_view bytes) {
  const std::string name = '"' + path + '"';
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.fd() < 0) return failed("write", name);
  keep_own_rights(file.fd());
  Stream stream(file.fd());
  stream.write(bytes);
  if (stream.error() == 0) return {};
  errno = stream.error();
  return failed("write", name);
}

}  // namespace praxis::cli
