#include "process/sandbox_search.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace praxis {
namespace {

constexpr std::size_t kMostFolders = 100'000;  // takes about a second
// Each is a mount, and the cost of a mount grows with their number.
constexpr std::size_t kMostFinds = 256;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

/// Returns null with `errno` set on failure. Never follows a link in place of the folder.
OpenFolder open_folder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  OpenFolder folder(fdopendir(fd));
  if (!folder) close(fd);
  return folder;
}

bool is_folder(DIR* in, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info{};
  return fstatat(dirfd(in), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

bool is_of_others(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && info.st_uid != geteuid();
}

class Search {
 public:
  Search(const std::string& top, const std::set<std::string>& closed, IsWanted is_wanted)
      : top_(top), closed_(closed), is_wanted_(is_wanted) {}

  Result<std::vector<std::string>> run() {
    waiting_.emplace_back();
    for (std::size_t looked = 0; !waiting_.empty(); ++looked) {
      if (looked == kMostFolders) return too_many(kMostFolders, "folders");
      const std::string path = std::move(waiting_.back());
      waiting_.pop_back();
      if (auto done = look_into(path); !done) return fail(std::move(done.error()));
      if (finds_.size() > kMostFinds) return too_many(kMostFinds, "checkouts and settings");
    }
    return std::move(finds_);
  }

 private:
  Status look_into(const std::string& path) {
    const OpenFolder folder = open_folder(top_ + path);
    if (!folder) return may_skip(path, errno);
    for (errno = 0; const dirent* entry = readdir(folder.get()); errno = 0) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const bool goes_on = is_folder(folder.get(), *entry);
      std::string below = path + '/' + entry->d_name;
      if (is_wanted_(name, goes_on)) {
        finds_.push_back(std::move(below));
      } else if (goes_on && !closed_.contains(top_ + below)) {
        waiting_.push_back(std::move(below));
      }
    }
    return errno == 0 ? Status{} : may_skip(path, errno);
  }

  /// Whether a folder that cannot be opened may be skipped: it is gone, is not a folder, or is closed to us
  /// and so to the sandbox as well.
  Status may_skip(const std::string& path, int error) const {
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) return {};
    if (error == EACCES && is_of_others(top_ + path)) return {};
    return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + top_ + path +
                                        " cannot be searched for paths to protect: " + std::strerror(error));
  }

  std::unexpected<Error> too_many(std::size_t most, const char* what) const {
    return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + top_ + " holds more than " +
                                        std::to_string(most) + " " + what +
                                        ", too many to protect. Grant a smaller folder");
  }

  const std::string& top_;
  const std::set<std::string>& closed_;
  const IsWanted is_wanted_;
  std::vector<std::string> waiting_;  ///< folders still to be searched
  std::vector<std::string> finds_;
};

}  // namespace

Result<std::vector<std::string>> find_below(const std::string& folder, const std::set<std::string>& closed,
                                            IsWanted is_wanted) {
  return Search(folder, closed, is_wanted).run();
}

}  // namespace praxis
