#include "base/held_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace praxis {
namespace {

/// The locks belong to the process, and so does what it knows of them.
struct Registry {
  std::mutex mutex;
  std::map<FileIdentity, int> holders;
};

Registry& registry() {
  static auto& all = *new Registry;  // used until the last database is closed
  return all;
}

FileIdentity identity_at(int folder, const std::string& path) {
  struct stat info{};
  return fstatat(folder, path.c_str(), &info, 0) == 0 ? FileIdentity{info.st_dev, info.st_ino}
                                                      : FileIdentity{};
}

}  // namespace

HeldFile::HeldFile(const std::string& path) : file_(identity_at(AT_FDCWD, path)) {
  if (file_ == FileIdentity{}) return;
  const std::lock_guard lock(registry().mutex);
  ++registry().holders[file_];
}

HeldFile::HeldFile(HeldFile&& other) noexcept : file_(std::exchange(other.file_, {})) {}

HeldFile& HeldFile::operator=(HeldFile&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

HeldFile::~HeldFile() {
  if (file_ == FileIdentity{}) return;
  const std::lock_guard lock(registry().mutex);
  const auto held = registry().holders.find(file_);
  if (--held->second == 0) registry().holders.erase(held);
}

bool is_held(int folder, const std::string& path) {
  constexpr std::string_view kIndex = "-shm";
  const auto held = [&](const std::string& each) {
    const FileIdentity file = identity_at(folder, each);
    const std::lock_guard lock(registry().mutex);
    return registry().holders.contains(file);
  };
  return held(path) || (path.ends_with(kIndex) && held(path.substr(0, path.size() - kIndex.size())));
}

}  // namespace praxis
