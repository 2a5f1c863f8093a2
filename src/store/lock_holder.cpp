#include "store/lock_holder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// Bytes that SQLite locks, and how another process asks for them in vain.
struct Lock {
  const char* file;  ///< end of its name
  off_t first, length;
  short asked;
};
/// Held by a writer; by a process that closes the journal, which excludes all others; by one that makes the
/// index.
constexpr Lock kLocks[] = {
    {"-shm", 120, 1, F_WRLCK}, {"", 0x40000000, 512, F_RDLCK}, {"-shm", 128, 1, F_RDLCK}};

/// Returns a descriptor of this file, opened once and never closed: closing any descriptor of a file drops
/// the locks that SQLite holds on it for this process. -1 if it cannot be opened.
int lasting_descriptor(const std::string& path, const struct stat& file) {
  static std::mutex mutex;
  static auto& opened = *new std::map<std::pair<dev_t, ino_t>, int>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = opened.try_emplace({file.st_dev, file.st_ino}, -1);
  if (is_new) found->second = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return found->second;
}

fs::path folder_of(pid_t pid) { return fs::path("/proc") / std::to_string(pid); }

/// Whether the process has this file open.
bool has_open(pid_t pid, const struct stat& file) {
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(folder_of(pid) / "fd", failed)) {
    struct stat open{};
    if (stat(each.path().c_str(), &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino)
      return true;
  }
  return false;
}

/// The state letter of a process; 0 if it has ended.
char state_of(pid_t pid) {
  std::ifstream in(folder_of(pid) / "stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto name_ends = text.rfind(") ");  // a name may contain anything
  return name_ends == std::string::npos || name_ends + 2 >= text.size() ? '\0' : text[name_ends + 2];
}

std::string name_of(pid_t pid) {
  std::ifstream in(folder_of(pid) / "comm");
  std::string name;
  std::getline(in, name);
  return name;
}

/// Returns the process that keeps this one from taking the lock; 0 if it can see no such process.
pid_t holder_of(const std::string& journal, const Lock& which) {
  const std::string path = journal + which.file;
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return 0;
  struct flock lock{};
  lock.l_type = which.asked;
  lock.l_whence = SEEK_SET;
  lock.l_start = which.first;
  lock.l_len = which.length;
  const int descriptor = lasting_descriptor(path, file);
  if (descriptor < 0 || fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return std::max(lock.l_pid, 0);
}

}  // namespace

std::optional<LockHolder> write_lock_holder(const std::string& journal) {
  for (const Lock& each : kLocks) {
    if (const pid_t pid = holder_of(journal, each); pid != 0)
      return LockHolder{pid, name_of(pid), state_of(pid) == 'T'};
  }
  return std::nullopt;
}

bool end_stopped_holder(const std::string& journal, const LockHolder& holder) {
  // Names the process before it is examined, so that its number cannot pass to another one.
  const int process = static_cast<int>(syscall(SYS_pidfd_open, holder.pid, 0));
  if (process < 0) return false;
  struct stat owner{}, file{};
  const bool ours = stat(folder_of(holder.pid).c_str(), &owner) == 0 && owner.st_uid == geteuid();
  const bool may_end = ours && state_of(holder.pid) == 'T' && stat(journal.c_str(), &file) == 0 &&
                       has_open(holder.pid, file) && write_lock_holder(journal) == holder;
  const bool ended = may_end && syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0) == 0;
  ::close(process);
  return ended;
}

std::string describe(const LockHolder& holder) {
  const std::string pid = std::to_string(holder.pid);
  std::string text = "process " + pid;
  if (!holder.name.empty()) text += " (" + holder.name + ")";
  if (!holder.stopped) return text + " holds the write lock";
  return text + " is stopped and holds the write lock: continue it with kill -CONT " + pid +
         ", or end it with kill -KILL " + pid + " or praxis resume --force";
}

}  // namespace praxis
