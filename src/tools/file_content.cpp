#include "tools/file_content.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace praxis {

Result<FileContent> FileContent::open(FileDescriptor file, std::string_view name) {
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return file_error(name, errno);
  const std::string quoted = "\"" + std::string(name) + "\"";
  if (S_ISDIR(info.st_mode)) return fail(ErrorCode::kTool, quoted + " is a folder; list it instead");
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::kTool, quoted + " is a device, pipe or socket; only files can be read");
  gzFile stream = gzdopen(file.get(), "rb");
  if (stream == nullptr) return file_error(name, ENOMEM);
  file.release();  // closed by the stream
  return FileContent(stream, static_cast<std::uint64_t>(info.st_size), std::string(name));
}

Result<std::size_t> FileContent::fill(char* buffer, std::size_t size) {
  const int count = gzread(stream_.get(), buffer, static_cast<unsigned>(size));
  int error = Z_OK;
  const char* message = gzerror(stream_.get(), &error);
  if (error == Z_ERRNO) return file_error(name_, errno);
  if (count < 0 || error == Z_BUF_ERROR) {
    return fail(ErrorCode::kTool, "\"" + name_ + "\" is a corrupt gzip file: " + message);
  }
  return static_cast<std::size_t>(count);
}

Result<std::string> FileContent::read(std::uint64_t offset, std::size_t limit) {
  if (compressed() && offset > kMaxInflated) {
    return fail(ErrorCode::kTool, "\"" + name_ + "\" is compressed; only its first 64 MiB can be read");
  }
  if (compressed()) limit = std::min<std::size_t>(limit, kMaxInflated - offset);
  std::string bytes(limit, '\0');
  if (gzseek(stream_.get(), static_cast<z_off_t>(offset), SEEK_SET) < 0) bytes.clear();
  auto count = fill(bytes.data(), bytes.size());
  if (!count) return fail(std::move(count.error()));
  bytes.resize(*count);
  return bytes;
}

Result<std::uint64_t> FileContent::remaining(const std::stop_token& stop) {
  const auto position = static_cast<std::uint64_t>(gztell(stream_.get()));
  if (!compressed()) return size_ - std::min(size_, position);
  std::uint64_t count = 0;
  std::array<char, 64 * 1024> discarded{};
  while (position + count < kMaxInflated && !stop.stop_requested()) {
    auto more = fill(discarded.data(), discarded.size());
    if (!more) return fail(std::move(more.error()));
    if (*more == 0) break;
    count += *more;
  }
  return count;
}

Result<std::string> whole_text(int file, const std::string& path) {
  std::string text;
  std::string buffer(std::size_t{64} * 1024, '\0');
  for (;;) {
    const auto got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, errno);
    if (got == 0) break;
    text.append(buffer, 0, static_cast<std::size_t>(got));
    if (text.size() > kMaxWholeText) return fail(ErrorCode::kTool, "\"" + path + "\" is longer than 8 MiB");
  }
  if (is_binary(text)) return fail(ErrorCode::kTool, "\"" + path + "\" is a binary file");
  return text;
}

}  // namespace praxis
