#include "process/supervisor/memory_group.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

namespace praxis::supervisor {
namespace {

constexpr std::string_view kName = "praxis-";  ///< before the number of the process
constexpr const char* kFirstVersion = "/sys/fs/cgroup/memory";
constexpr std::array kSecondVersion{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

FileDescriptor open_folder(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string read_text(int folder, const char* name) {
  const FileDescriptor file(openat(folder, name, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  return size <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(size));
}

bool write_text(int folder, const char* name, std::string_view text) {
  const FileDescriptor file(openat(folder, name, O_WRONLY | O_CLOEXEC));
  return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// The rest of the line of /proc/self/cgroup that has `start` behind its first colon; empty if none has.
std::string own_path(std::string_view groups, std::string_view start) {
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::string_view rest = line.substr(std::min(line.find(':'), line.size()));
    if (rest.starts_with(start)) return std::string(rest.substr(start.size()));
  }
  return {};
}

/// Removes the groups of processes that are gone. One that still holds processes stays.
void remove_ended(int parent) {
  const int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(copy), closedir);
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kName)) continue;
    pid_t owner = 0;
    const auto [end, error] = std::from_chars(name.data() + kName.size(), name.data() + name.size(), owner);
    const bool is_ours = error == std::errc() && end == name.data() + name.size() && owner > 0;
    if (is_ours && kill(owner, 0) != 0 && errno == ESRCH) unlinkat(parent, entry->d_name, AT_REMOVEDIR);
  }
}

}  // namespace

MemoryGroup::MemoryGroup(std::uint64_t bytes) : name_(std::string(kName) + std::to_string(getpid())) {
  if (bytes == 0) return;
  const std::string groups = read_text(AT_FDCWD, "/proc/self/cgroup");
  if (const std::string own = own_path(groups, ":memory:"); !own.empty())
    make(kFirstVersion + own, true, bytes);
  const std::string own = own_path(groups, "::");
  for (const char* top : kSecondVersion) {
    if (exists() || own.empty()) return;
    home_ = open_folder(top + own);
    make(top + own.substr(0, own.rfind('/')), false, bytes);
  }
}

void MemoryGroup::prepare() {
  if (fork() != 0) return;
  const std::string groups = read_text(AT_FDCWD, "/proc/self/cgroup");
  const std::string first = own_path(groups, ":memory:"), second = own_path(groups, "::");
  // Writes that leave the child where it is.
  if (!first.empty()) {
    write_text(open_folder(kFirstVersion + first).get(), "cgroup.procs", "0");
  } else if (!second.empty()) {
    for (const char* top : kSecondVersion) write_text(open_folder(top + second).get(), "cgroup.procs", "0");
  }
  _exit(0);
}

void MemoryGroup::make(const std::string& parent, bool is_first_version, std::uint64_t bytes) {
  parent_ = open_folder(parent);
  if (is_first_version) home_ = open_folder(parent);
  if (parent_.get() < 0 || home_.get() < 0) return;
  // Version 2 gives a group its memory controller only if the group above it says so.
  if (!is_first_version && !read_text(parent_.get(), "cgroup.subtree_control").contains("memory")) return;
  remove_ended(parent_.get());
  if (mkdirat(parent_.get(), name_.c_str(), 0755) != 0) return;
  FileDescriptor made(openat(parent_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string limit = std::to_string(bytes);
  const bool is_bounded =
      write_text(made.get(), is_first_version ? "memory.limit_in_bytes" : "memory.max", limit) &&
      write_text(made.get(), "cgroup.procs", "0") && write_text(home_.get(), "cgroup.procs", "0");
  if (!is_bounded) {
    unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
    return;
  }
  // Swap counts too, where the kernel counts it at all.
  write_text(made.get(), is_first_version ? "memory.memsw.limit_in_bytes" : "memory.swap.max",
             is_first_version ? limit : "0");
  group_ = std::move(made);
}

MemoryGroup::~MemoryGroup() {
  if (exists()) unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
}

void MemoryGroup::move_to(const FileDescriptor& group) const {
  if (exists()) write_text(group.get(), "cgroup.procs", "0");
}

bool MemoryGroup::has_killed() const {
  if (!exists()) return false;
  for (const char* name : {"memory.oom_control", "memory.events"}) {
    const std::string text = read_text(group_.get(), name);
    const auto at = text.find("oom_kill ");
    if (at != std::string::npos) return text[at + std::string_view("oom_kill ").size()] != '0';
  }
  return false;
}

}  // namespace praxis::supervisor
