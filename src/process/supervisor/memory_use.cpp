#include "process/supervisor/memory_use.hpp"

#include <fcntl.h>
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

template <class Measure>
std::uint64_t sum(const std::vector<pid_t>& processes, Measure measure) {
  std::uint64_t total = 0;
  for (const pid_t process : processes) total += measure(process);
  return total;
}

}  // namespace

bool holds_more_than(std::uint64_t bytes, const std::vector<pid_t>& processes) {
  return sum(processes, resident) > bytes && sum(processes, proportional) > bytes;
}

}  // namespace praxis::supervisor
