#include "store/lock_holder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace praxis {
namespace {

namespace fs = std::filesystem;

constexpr off_t kWriteLock = 120;  // the byte of `-shm` that SQLite's writers lock

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

std::string index_of(const std::string& journal) { return journal + "-shm"; }

}  // namespace

std::optional<LockHolder> write_lock_holder(const std::string& journal) {
  const std::string path = index_of(journal);
  struct stat index{};
  if (stat(path.c_str(), &index) != 0) return std::nullopt;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kWriteLock;
  lock.l_len = 1;
  const int descriptor = lasting_descriptor(path, index);
  if (descriptor < 0 || fcntl(descriptor, F_GETLK, &lock) != 0) return std::nullopt;
  if (lock.l_type == F_UNLCK || lock.l_pid <= 0) return std::nullopt;
  return LockHolder{lock.l_pid, name_of(lock.l_pid), state_of(lock.l_pid) == 'T'};
}

bool end_stopped_holder(const std::string& journal, const LockHolder& holder) {
  // Names the process before it is examined, so that its number cannot pass to another one.
  const int process = static_cast<int>(syscall(SYS_pidfd_open, holder.pid, 0));
  if (process < 0) return false;
  struct stat owner{}, index{};
  const bool ours = stat(folder_of(holder.pid).c_str(), &owner) == 0 && owner.st_uid == geteuid();
  const bool may_end = ours && state_of(holder.pid) == 'T' && stat(index_of(journal).c_str(), &index) == 0 &&
                       has_open(holder.pid, index) && write_lock_holder(journal) == holder;
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
