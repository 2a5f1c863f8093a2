// A file descriptor that its owner closes.
#pragma once

#include <unistd.h>

#include <utility>

namespace praxis {

/// Owns a file descriptor; -1 means no descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset() { *this = FileDescriptor(); }

 private:
  int fd_ = -1;
};

}  // namespace praxis
