// Reads a file's bytes: inflates gzip and detects binary content.
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
  /// Upper bound on the inflated size of a compressed file.
  static constexpr std::uint64_t kMaxInflated = 64 * 1024 * 1024;

  /// Error `kTool`: `file` is not a regular file. `name` is used in messages.
  static Result<FileContent> open(FileDescriptor file, std::string_view name);

  bool compressed() const { return gzdirect(stream_.get()) == 0; }
  /// Up to `limit` bytes of the inflated content, from `offset`.
  Result<std::string> read(std::uint64_t offset, std::size_t limit);
  /// The number of bytes after the last read; inflates a compressed file further to find out, up to the
  /// bound.
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

/// Whether the content is binary: it contains a NUL byte.
inline bool is_binary(std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; }

/// Upper bound on what is taken as one text, 8 MiB.
inline constexpr std::size_t kMaxWholeText = std::size_t{8} * 1024 * 1024;

/// The whole text of an open file of at most 8 MiB; `path` is used in messages. Error `kTool`: too long, or
/// not text.
Result<std::string> whole_text(int file, const std::string& path);

}  // namespace praxis
