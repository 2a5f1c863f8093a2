#include "journal/owners.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "journal/chain.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kAll = 0;  // as a number of bytes: to the end of the file, however long

struct flock byte_lock(std::int64_t number, std::int64_t bytes = 1) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = number;
  lock.l_len = bytes;
  return lock;
}

/// Whether another open file holds a lock of these bytes; true if the kernel cannot tell.
bool is_locked(int file, struct flock lock) {
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace

Result<Owners> Owners::open(const std::string& journal) {
  auto path = journal + ".owners";
  // Close-on-exec matters: a tool that inherited the file would hold our number after this process has ended.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return fail(journal_error(ErrorKind::kIo, "cannot open " + path + ": " + std::strerror(errno)));
  return Owners(std::move(path), file);
}

bool Owners::alive_in(const std::string& journal, std::int64_t number) {
  auto path = journal + ".owners";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  // Without the file, no process can hold a number.
  if (file < 0) return errno != ENOENT;
  return Owners(std::move(path), file).alive(number);
}

bool Owners::any_alive_in(const std::string& journal) {
  auto path = journal + ".owners";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return errno != ENOENT;
  return is_locked(Owners(std::move(path), file).file_, byte_lock(0, kAll));
}

Owners::Owners(Owners&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

Owners::~Owners() {
  if (file_ >= 0) close(file_);
}

Status Owners::claim(std::int64_t number) {
  auto lock = byte_lock(number);
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return {};
  return fail(journal_error(ErrorKind::kIo, "cannot lock " + path_ + ": " + std::strerror(errno)));
}

bool Owners::alive(std::int64_t number) const { return is_locked(file_, byte_lock(number)); }

}  // namespace praxis
