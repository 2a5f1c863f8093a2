#include "process/supervisor/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace praxis::supervisor {

namespace {

struct Entry {
  pid_t pid = 0;
  pid_t parent = 0;
};

std::optional<pid_t> number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Parses `pid (name) state parent ...`; the name may contain any byte.
std::optional<Entry> read_entry(int proc, const char* name) {
  const auto pid = number(name);
  if (!pid) return std::nullopt;
  const FileDescriptor file(openat(proc, (std::string(name) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  text.remove_prefix(std::min(text.rfind(')') + 1, text.size()));
  if (text.size() < 4 || text[1] == 'Z') return std::nullopt;
  text.remove_prefix(3);
  const auto parent = number(text.substr(0, text.find(' ')));
  if (!parent) return std::nullopt;
  return Entry{*pid, *parent};
}

}  // namespace

std::vector<pid_t> descendants() {
  std::vector<Entry> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (!proc) return {};
  while (const dirent* entry = readdir(proc.get())) {
    if (const auto found = read_entry(dirfd(proc.get()), entry->d_name)) all.push_back(*found);
  }
  std::vector<pid_t> below{getpid()};
  for (std::size_t i = 0; i < below.size(); ++i) {
    for (const Entry& entry : all) {
      if (entry.parent == below[i]) below.push_back(entry.pid);
    }
  }
  below.erase(below.begin());
  return below;
}

}  // namespace praxis::supervisor
