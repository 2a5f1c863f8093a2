#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_descriptor.hpp"
#include "process/supervisor/confine.hpp"

namespace praxis::supervisor {

namespace {

// The current kernel interface; the headers of Debian 12 stop at version 2.
struct RulesetAttributes {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};
struct PortRule {
  std::uint64_t allowed = 0;
  std::uint64_t port = 0;
};
constexpr unsigned kVersionFlag = 1;
constexpr int kPathRule = 1, kPortRule = 2;

constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3;
constexpr std::uint64_t kTruncate = 1 << 14, kDeviceControl = 1 << 15;
constexpr std::uint64_t kConnect = 1 << 1, kAllNet = 3, kAllScopes = 3;
constexpr std::uint64_t kRead = kExecute | kReadFile | kReadFolder;
/// Rights that a rule may name for a path that is not a folder.
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;

/// All file rights that version `abi` knows.
std::uint64_t file_rights(long abi) {
  if (abi >= 5) return (1 << 16) - 1;
  if (abi >= 3) return (1 << 15) - 1;
  return abi == 2 ? (1 << 14) - 1 : (1 << 13) - 1;
}

std::size_t known_size(long abi) { return abi >= 6 ? 24 : abi >= 4 ? 16 : 8; }

bool allow(int ruleset, const char* path, std::uint64_t rights) {
  const FileDescriptor place(open(path, O_PATH | O_CLOEXEC));
  if (place.get() < 0) return errno == ENOENT;
  struct stat info{};
  if (fstat(place.get(), &info) != 0) return false;
  const PathRule rule{S_ISDIR(info.st_mode) ? rights : rights & kOfFiles, place.get()};
  return syscall(SYS_landlock_add_rule, ruleset, kPathRule, &rule, 0) == 0;
}

}  // namespace

bool restrict_files(const std::vector<std::string>& writable, bool network) {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionFlag);
  if (abi < 1) return false;
  const std::uint64_t all = file_rights(abi);
  const RulesetAttributes attributes{all, kAllNet, kAllScopes};
  const FileDescriptor ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, known_size(abi), 0)));
  if (ruleset.get() < 0) return false;
  if (!allow(ruleset.get(), "/", kRead & all)) return false;
  if (!allow(ruleset.get(), "/dev", (kRead | kWriteFile | kTruncate | kDeviceControl) & all)) return false;
  for (const char* path : {"/tmp", "/home", "/root", "/dev/shm"}) {
    if (!allow(ruleset.get(), path, all)) return false;
  }
  for (const std::string& path : writable) {
    if (!allow(ruleset.get(), path.c_str(), all)) return false;
  }
  const PortRule proxy{kConnect, kProxyPort};
  if (abi >= 4 && network && syscall(SYS_landlock_add_rule, ruleset.get(), kPortRule, &proxy, 0) != 0)
    return false;
  return syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

}  // namespace praxis::supervisor
