#include "store/byte_locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/out_of_space.hpp"
#include "base/regular_file.hpp"

namespace praxis {
namespace {

struct flock bytes(short kind, std::int64_t first, std::int64_t last) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = last - first + 1;
  return lock;
}

bool set(int file, int command, short kind, std::int64_t byte) {
  auto lock = bytes(kind, byte, byte);
  int done = 0;
  do {
    done = fcntl(file, command, &lock);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

}  // namespace

std::string owners_file(const std::string& journal) { return journal + ".owners"; }

Result<ByteLocks> ByteLocks::open(const std::string& journal, Use use) {
  const auto path = owners_file(journal);
  const int access = use == Use::kLock ? O_RDWR | O_CREAT : O_RDONLY;
  // Close-on-exec matters: a tool that inherited the file would hold our locks after this process has ended.
  FileDescriptor file = open_state_file(path, access);
  if (file.get() >= 0) return ByteLocks(file.release());
  const auto kind = errno == ENOENT ? ErrorKind::kNotFound : kind_of_write_error(errno);
  return fail(
      make_error(ErrorCode::kJournal, kind, "cannot open " + path + ": " + std::strerror(errno), true));
}

ByteLocks::ByteLocks(ByteLocks&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

ByteLocks& ByteLocks::operator=(ByteLocks&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

ByteLocks::~ByteLocks() {
  if (file_ >= 0) ::close(file_);
}

bool ByteLocks::try_lock(std::int64_t byte) const { return set(file_, F_OFD_SETLK, F_WRLCK, byte); }
bool ByteLocks::wait_and_lock(std::int64_t byte) const { return set(file_, F_OFD_SETLKW, F_WRLCK, byte); }
void ByteLocks::unlock(std::int64_t byte) const { set(file_, F_OFD_SETLK, F_UNLCK, byte); }

bool ByteLocks::is_locked(std::int64_t first, std::int64_t last) const {
  auto lock = bytes(F_WRLCK, first, last);
  return fcntl(file_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace praxis
