#include "journal/read_attempts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

#include "journal/chain.hpp"
#include "journal/owners.hpp"

namespace praxis {
namespace {

constexpr std::size_t kLogHeader = 32;

/// Identifies a file and the time of its last change.
std::string stamp(const struct stat& file) {
  const std::int64_t parts[] = {static_cast<std::int64_t>(file.st_dev),
                                static_cast<std::int64_t>(file.st_ino), file.st_size, file.st_mtim.tv_sec,
                                file.st_mtim.tv_nsec};
  return {reinterpret_cast<const char*>(parts), sizeof parts};
}

/// The log's inode and header: a live log grows, and what was read of it stays until it starts again. A log
/// that cannot be read has no header. Closing this descriptor drops no lock: SQLite locks no log.
std::string log_stamp(const std::string& log) {
  struct stat file{};
  if (stat(log.c_str(), &file) != 0) return "";
  std::string header(kLogHeader, '\0');
  const int descriptor = open(log.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) {
    if (pread(descriptor, header.data(), header.size(), 0) < 0) header.clear();
    close(descriptor);
  }
  return std::to_string(file.st_ino) + ' ' + header;
}

/// Waits until a later change of the file gives it another time: the clock of a file system ticks every few
/// milliseconds.
void await_tick(const std::string& path) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return;
  for (int waits = 0; waits < 20; ++waits) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const bool same = now.tv_sec == file.st_mtim.tv_sec && now.tv_nsec <= file.st_mtim.tv_nsec;
    if (!same) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool may_write(const std::string& path) { return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

}  // namespace

ReadAttempts::Files ReadAttempts::look() const {
  struct stat file{};
  Files files;
  if (stat(path_.c_str(), &file) == 0) files.file = stamp(file);
  files.log = log_stamp(path_ + "-wal");
  files.has_index = access((path_ + "-shm").c_str(), F_OK) == 0;
  return files;
}

/// Without a writer, or without permission to write `-shm`, nothing keeps the index current.
bool ReadAttempts::may_share() const {
  return !sharing_failed_ && before_.has_index && may_write(path_ + "-shm") && Owners::any_alive_in(path_);
}

Database::Mode ReadAttempts::next_mode() {
  before_ = look();
  if (!before_.log.empty() && may_share()) return mode_ = Database::Mode::kRead;
  await_tick(path_);
  before_ = look();
  return mode_ = before_.log.empty() ? Database::Mode::kFileOnly : Database::Mode::kDetached;
}

bool ReadAttempts::is_final(const Error* error) {
  if (mode_ != Database::Mode::kRead) {
    const bool unchanged = look() == before_;
    sharing_failed_ = sharing_failed_ && unchanged;
    return unchanged;
  }
  const bool excluded = error != nullptr && error->kind() == ErrorKind::kIo;
  if (excluded_ != nullptr) *excluded_ = excluded;
  if (!excluded) return true;
  sharing_failed_ = look() == before_;  // or a writer has left, come or started the log again meanwhile
  return false;
}

/// Names the log if that is what cannot be read.
Error ReadAttempts::named(Error error) const {
  const std::string log = path_ + "-wal";
  const bool readable = faccessat(AT_FDCWD, log.c_str(), R_OK, AT_EACCESS) == 0 || errno == ENOENT;
  if (error.kind() != ErrorKind::kIo || readable) return error;
  return journal_error(ErrorKind::kIo,
                       "journal " + path_ + ": cannot read " + log + ": " + std::strerror(errno), true);
}

Error ReadAttempts::changes_too_fast() const {
  return journal_error(ErrorKind::kIo,
                       "journal " + path_ +
                           ": other processes change it faster than it can be read without write access to " +
                           path_ + "-shm",
                       true);
}

}  // namespace praxis
