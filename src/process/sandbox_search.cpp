#include "process/sandbox_search.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <list>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "process/protected_names.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostFolders = 100'000;
// Each is a mount, and the cost of a mount grows with their number.
constexpr std::size_t kMostFinds = 256;
constexpr std::size_t kMostIndices = 8;
constexpr std::size_t kManyFolders = 4'000;  // to compare fewer takes less time than to start a thread
constexpr std::size_t kMostThreads = 4;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kXfs = 0x58465342;  // <linux/magic.h> has no name for it
/// Local file systems that change a folder's time with every change of its entries.
constexpr std::array<std::int64_t, 5> kReliable{EXT4_SUPER_MAGIC, kXfs, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                                F2FS_SUPER_MAGIC};

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

bool is_folder(int in, const dirent64& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info{};
  return fstatat(in, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

/// The entries of an open folder, without `.` and `..`. As readdir, without its own buffer and system calls
/// for each folder.
class Entries {
 public:
  explicit Entries(int folder) : folder_(folder) {}

  /// Returns null at the end, and when an error has occurred.
  const dirent64* next() {
    for (;;) {
      if (at_ == end_ && !fill()) return nullptr;
      const auto* entry = reinterpret_cast<const dirent64*>(buffer_.data() + at_);
      at_ += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") return entry;
    }
  }
  int error() const { return error_; }  ///< an `errno`, or 0

 private:
  bool fill() {
    const ssize_t size = getdents64(folder_, buffer_.data(), buffer_.size());
    if (size < 0) error_ = errno;
    at_ = 0;
    end_ = size > 0 ? static_cast<std::size_t>(size) : 0;
    return size > 0;
  }

  const int folder_;
  int error_ = 0;
  std::size_t at_ = 0, end_ = 0;
  alignas(dirent64) std::array<char, 16 * 1024> buffer_;
};

}  // namespace

struct FolderIndex::Folder {
  explicit Folder(std::string where) : path(std::move(where)) {}

  std::string path;  ///< relative to the top; `.` is the top
  FileIdentity identity{};
  std::int64_t changed = 0;    ///< nanoseconds
  bool is_remembered = false;  ///< whether the next search may skip reading it
  std::vector<std::unique_ptr<Folder>> below{};
  std::vector<std::string> finds{};
  std::uint64_t compared_in = 0;  ///< number of the search before which it was compared, on any thread
  bool is_unchanged = false;      ///< the result of that

  /// Whether the folder below `top` is as it was when it was read.
  bool compare(int top) const {
    struct stat info{};
    return is_remembered && fstatat(top, path.c_str(), &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
           FileIdentity{info.st_dev, info.st_ino} == identity && nanoseconds(info.st_ctim) == changed;
  }
};

namespace {

/// Compares the remembered folders on several threads if they are many.
template <class Folder>
void compare_together(Folder& root, int top, std::uint64_t search) {
  std::vector<Folder*> all{&root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& below : all[i]->below) all.push_back(below.get());
  }
  if (all.size() < kManyFolders) return;
  const std::size_t parts = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  const auto compare = [&all, top, search, parts](std::size_t part) {
    for (std::size_t i = all.size() * part / parts; i < all.size() * (part + 1) / parts; ++i) {
      all[i]->is_unchanged = all[i]->compare(top);
      all[i]->compared_in = search;
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    try {
      threads.emplace_back(compare, part);
    } catch (const std::system_error&) {
      break;  // the search compares the rest itself
    }
  }
  compare(0);
}

}  // namespace

class FolderIndex::Search {
 public:
  Search(int top, const std::string& path, const std::set<std::string>& closed, std::int64_t settled_after,
         std::uint64_t number)
      : top_(top), path_(path), closed_(closed), settled_after_(settled_after), number_(number) {}

  Result<std::vector<std::string>> run(Folder& root) {
    waiting_.push_back(&root);
    for (std::size_t looked = 0; !waiting_.empty(); ++looked) {
      if (looked == kMostFolders) return too_many(kMostFolders, "folders");
      Folder& folder = *waiting_.back();
      waiting_.pop_back();
      const bool is_known = folder.compared_in == number_ ? folder.is_unchanged : folder.compare(top_);
      if (auto done = is_known ? Status{} : read(folder); !done) return fail(std::move(done.error()));
      for (const std::string& find : folder.finds) finds_.push_back('/' + find);
      if (finds_.size() > kMostFinds) return too_many(kMostFinds, "checkouts and settings");
      if (folder.below.size() > kMostFolders) return too_many(kMostFolders, "folders");
      for (const auto& below : folder.below) {
        if (!is_closed(below->path)) waiting_.push_back(below.get());
      }
    }
    return std::move(finds_);
  }
  std::uint64_t folders_read() const { return read_; }

 private:
  /// Replaces what is known of the folder, but not of the folders below it that still exist.
  Status read(Folder& folder) {
    ++read_;
    auto before = std::exchange(folder.below, {});
    folder.finds.clear();
    folder.is_remembered = false;
    // Follows no link, not even one that is put on the way now.
    const auto opened = open_beneath(top_, folder.path, O_RDONLY | O_DIRECTORY);
    if (!opened) return may_skip(folder.path, opened.error());
    // Before its entries: a change from here on gives it another time.
    const std::int64_t time = now(CLOCK_REALTIME);
    struct stat info{};
    if (fstat(opened->get(), &info) != 0) return may_skip(folder.path, errno);
    if (const int failed = read_entries(folder, opened->get(), before); failed != 0)
      return may_skip(folder.path, failed);
    folder.identity = {info.st_dev, info.st_ino};
    folder.changed = nanoseconds(info.st_ctim);
    folder.is_remembered = folder.changed < time - settled_after_ && is_reliable(opened->get(), info.st_dev);
    return {};
  }

  /// Returns 0 or an `errno`. Stops when there are too many. Takes what exists already from `before`.
  static int read_entries(Folder& folder, int opened, std::vector<std::unique_ptr<Folder>>& before) {
    std::unordered_map<std::string_view, std::unique_ptr<Folder>> known;
    for (auto& one : before) {
      const std::string_view path = one->path;
      known.emplace(path, std::move(one));
    }
    const std::string start = folder.path == "." ? "" : folder.path + '/';
    Entries entries(opened);
    while (folder.below.size() <= kMostFolders && folder.finds.size() <= kMostFinds) {
      const dirent64* entry = entries.next();
      if (entry == nullptr) return entries.error();
      const bool goes_on = is_folder(opened, *entry);
      const bool is_wanted = is_protected_anywhere(entry->d_name, goes_on);
      if (!goes_on && !is_wanted) continue;
      std::string below = start + entry->d_name;
      if (is_wanted) {
        folder.finds.push_back(std::move(below));
      } else {
        auto old = known.extract(below);
        folder.below.push_back(old ? std::move(old.mapped()) : std::make_unique<Folder>(std::move(below)));
      }
    }
    return 0;
  }

  /// Whether the times of the file system of `fd`, which is `device`, tell every change.
  bool is_reliable(int fd, dev_t device) {
    if (reliable_ && reliable_->first == device) return reliable_->second;
    struct statfs system{};
    const bool is =
        fstatfs(fd, &system) == 0 && std::ranges::find(kReliable, system.f_type) != kReliable.end();
    reliable_.emplace(device, is);
    return is;
  }

  bool is_closed(const std::string& path) const {
    return closed_.size() > 1 && closed_.contains(path_ + '/' + path);
  }

  /// Whether a folder that cannot be opened may be skipped: it is gone, is not a folder, or is closed to us
  /// and so to the sandbox as well.
  Status may_skip(const std::string& path, int error) const {
    struct stat info{};
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) return {};
    if (error == EACCES && fstatat(top_, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_uid != geteuid())
      return {};
    return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + path_ +
                                        (path == "." ? "" : '/' + path) +
                                        " cannot be searched for paths to protect: " + std::strerror(error));
  }

  std::unexpected<Error> too_many(std::size_t most, const char* what) const {
    return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + path_ + " holds more than " +
                                        std::to_string(most) + " " + what +
                                        ", too many to protect. Grant a smaller folder");
  }

  const int top_;
  const std::string& path_;
  const std::set<std::string>& closed_;
  const std::int64_t settled_after_;
  const std::uint64_t number_;    ///< of this search of the index
  std::vector<Folder*> waiting_;  ///< folders still to be searched
  std::vector<std::string> finds_;
  std::uint64_t read_ = 0;
  std::optional<std::pair<dev_t, bool>> reliable_;  ///< the last answer of `is_reliable`
};

FolderIndex::FolderIndex(std::chrono::nanoseconds settled_after) : settled_after_(settled_after.count()) {}
FolderIndex::~FolderIndex() = default;

Result<std::vector<std::string>> FolderIndex::find(int top, const std::string& path,
                                                   const std::set<std::string>& closed) {
  const std::lock_guard lock(mutex_);
  const std::int64_t clock = now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME);
  if (!root_ || clock < clock_ - kSecond) {
    root_ = std::make_unique<Folder>(".");
    clock_ = clock;
  }
  clock_ = std::max(clock, clock_);
  compare_together(*root_, top, ++searches_);
  Search search(top, path, closed, settled_after_, searches_);
  auto finds = search.run(*root_);
  read_ += search.folders_read();
  return finds;
}

std::uint64_t FolderIndex::folders_read() const {
  const std::lock_guard lock(mutex_);
  return read_;
}

Result<std::vector<std::string>> find_below(int top, const std::string& path,
                                            const std::set<std::string>& closed) {
  struct Kept {
    FileIdentity folder;
    std::shared_ptr<FolderIndex> index;
  };
  static std::mutex mutex;
  static std::list<Kept> all;  // the last used comes first
  std::shared_ptr<FolderIndex> index;
  {
    const std::lock_guard lock(mutex);
    const FileIdentity folder = identity_of(top);
    const auto found = std::ranges::find(all, folder, &Kept::folder);
    if (found != all.end()) {
      all.splice(all.begin(), all, found);
    } else {
      all.push_front({folder, std::make_shared<FolderIndex>()});
      if (all.size() > kMostIndices) all.pop_back();
    }
    index = all.front().index;
  }
  return index->find(top, path, closed);
}

}  // namespace praxis
