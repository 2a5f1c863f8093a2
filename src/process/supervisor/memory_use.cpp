#include "process/supervisor/memory_use.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace praxis::supervisor {

namespace {

std::uint64_t number_at_start(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The text of a file of a process; empty when it has ended.
std::string read_about(pid_t process, const char* name) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + name;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  return size <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(size));
}

/// Pages in memory, shared ones included: quick to read, and never less than the proportional part.
std::uint64_t resident(pid_t process) {
  const std::string text = read_about(process, "statm");
  const auto second = text.find(' ');
  if (second == std::string::npos) return 0;
  return number_at_start(std::string_view(text).substr(second)) * static_cast<std::uint64_t>(getpagesize());
}

/// The proportional part: each shared page counts divided by the number of processes that share it.
std::uint64_t proportional(pid_t process) {
  constexpr std::string_view kField = "\nPss:";
  const std::string text = read_about(process, "smaps_rollup");
  const auto at = text.find(kField);
  if (at == std::string::npos) return resident(process);  // the kernel may refuse it
  return number_at_start(std::string_view(text).substr(at + kField.size())) * 1024;
}

std::string mounts_of(const std::string& process) {
  std::array<char, 64> name;
  const ssize_t size = readlink(("/proc/" + process + "/ns/mnt").c_str(), name.data(), name.size());
  return size <= 0 ? std::string() : std::string(name.data(), static_cast<std::size_t>(size));
}

/// What the temporary folders of the sandbox hold, as its first process sees them. They are memory, too.
std::uint64_t temporary_files(const std::vector<pid_t>& processes) {
  const std::string outside = mounts_of("self");
  for (const pid_t process : processes) {
    const std::string inside = mounts_of(std::to_string(process));
    if (inside.empty() || inside == outside) continue;
    std::uint64_t total = 0;
    for (const char* folder : {"/tmp", "/dev/shm", "/run", "/home", "/root"}) {
      struct statfs about{};
      const std::string path = "/proc/" + std::to_string(process) + "/root" + folder;
      if (statfs(path.c_str(), &about) != 0 || about.f_type != TMPFS_MAGIC) continue;
      total += (about.f_blocks - about.f_bfree) * static_cast<std::uint64_t>(about.f_bsize);
    }
    return total;
  }
  return 0;
}

template <class Measure>
std::uint64_t sum(const std::vector<pid_t>& processes, Measure measure) {
  std::uint64_t total = 0;
  for (const pid_t process : processes) total += measure(process);
  return total;
}

}  // namespace

bool holds_more_than(std::uint64_t bytes, const std::vector<pid_t>& processes) {
  const std::uint64_t files = temporary_files(processes);
  return files + sum(processes, resident) > bytes && files + sum(processes, proportional) > bytes;
}

}  // namespace praxis::supervisor
