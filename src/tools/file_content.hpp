// The bytes of a file as text: gzip is undone on the way, binary content is told apart.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "tools/file_roots.hpp"

namespace praxis {

/// A regular file, open for reading. Used by one thread.
class FileContent {
 public:
  /// A compressed file is inflated up to this many bytes and no further.
  static constexpr std::uint64_t kMaxInflated = 64 * 1024 * 1024;

  /// Error `kTool` when `file` is no regular file. `name` is for messages.
  static Result<FileContent> open(FileDescriptor file, std::string_view name);

  bool compressed() const { return gzdirect(stream_.get()) == 0; }
  /// Up to `limit` bytes from `offset`, in the inflated content.
  Result<std::string> read(std::uint64_t offset, std::size_t limit);
  /// Bytes that follow the last read; for a compressed file found by inflating on, up to the limit.
  Result<std::uint64_t> remaining(const std::stop_token& stop);

 private:
  FileContent(gzFile stream, std::uint64_t size, std::string name)
      : stream_(stream), size_(size), name_(std::move(name)) {}
  Result<std::size_t> fill(char* buffer, std::size_t size);

  struct Close {
    void operator()(gzFile stream) const { gzclose_r(stream); }
  };
  std::unique_ptr<gzFile_s, Close> stream_;
  std::uint64_t size_;  ///< on disk
  std::string name_;
};

/// Whether bytes are something else than text: they hold a NUL.
inline bool is_binary(std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; }

}  // namespace praxis
