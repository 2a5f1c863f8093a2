#include "snapshots/file_scan.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/path_below.hpp"
#include "tools/ignore_rules.hpp"

namespace praxis {
namespace {

using Kind = FileState::Kind;

constexpr std::size_t kMostScanDepth = 64;
constexpr std::size_t kMostRulesFile = std::size_t{64} * 1024;
/// The kernel's clock of files advances in steps of up to 10 ms.
constexpr std::int64_t kClockStep = 50'000'000;

std::int64_t in_nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

std::int64_t clock_of_files() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return in_nanoseconds(now);
}

std::string below_of(const std::string& folder, const std::string& name) {
  return folder.empty() || folder == "." ? name : folder + '/' + name;
}

std::vector<std::string> names_in(FileDescriptor folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(folder.get()), closedir);
  if (!stream) return names;
  folder.release();  // closed by the stream
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// The whole file; `std::nullopt` if it cannot be read or is longer than `most`.
std::optional<std::string> bytes_of(int file, std::uint64_t most) {
  std::string bytes;
  std::array<char, 64 * 1024> buffer{};
  for (;;) {
    const auto got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most) return std::nullopt;
  }
}

/// Reads states of paths below one place.
class StateReader {
 public:
  StateReader(const FilePlace& place, const ScanOptions& options, std::uint64_t& read)
      : place_(place), options_(options), read_(read), began_(clock_of_files()) {}

  /// `folder` holds the path's last name.
  Result<FileState> read(int folder, const std::string& name, const std::string& below,
                         const struct stat& about) {
    if (S_ISDIR(about.st_mode)) return FileState{.kind = Kind::kFolder};
    if (S_ISLNK(about.st_mode)) return link(folder, name);
    if (!S_ISREG(about.st_mode)) return FileState{};
    const std::string path = place_.folder + '/' + below;
    if (options_.seen != nullptr) {
      if (auto known = options_.seen->find(path, about)) return *std::move(known);
    }
    return file(path, below);
  }

 private:
  Result<FileState> link(int folder, const std::string& name) {
    std::array<char, 4096> target{};
    const auto size = readlinkat(folder, name.c_str(), target.data(), target.size());
    if (size < 0) return FileState{};
    const std::string bytes(target.data(), static_cast<std::size_t>(size));
    return kept({.kind = Kind::kLink, .digest = digest_of(bytes)}, bytes);
  }

  Result<FileState> file(const std::string& path, const std::string& below) {
    const auto opened = open_beneath(place_.root.get(), below, O_RDONLY);
    struct stat about{};
    if (!opened || fstat(opened->get(), &about) != 0) return FileState{};
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (size > options_.bounds.file_bytes || read_ + size > options_.bounds.all_bytes)
      return unkept_state(about);
    auto bytes = bytes_of(opened->get(), options_.bounds.file_bytes);
    if (!bytes) return unkept_state(about);
    read_ += bytes->size();
    FileState state{Kind::kFile, about.st_mode & 0777U, bytes->size(), digest_of(*bytes)};
    auto done = kept(state, *std::move(bytes));
    if (done && options_.seen != nullptr) options_.seen->add(path, about, state, began_);
    return done;
  }

  Result<FileState> kept(FileState state, std::string bytes) const {
    if (!options_.keep) return state;
    if (auto done = options_.keep(state.digest, std::move(bytes)); !done)
      return fail(std::move(done.error()));
    return state;
  }

  const FilePlace& place_;
  const ScanOptions& options_;
  std::uint64_t& read_;
  const std::int64_t began_;
};

/// One pass over all files below a place.
class Scan {
 public:
  Scan(const FileRoots& roots, const FilePlace& place, const ScanOptions& options, FileStates& states,
       std::uint64_t& read)
      : roots_(roots), place_(place), options_(options), states_(states), reader_(place, options, read) {}

  Status run() { return enter("", 0); }

 private:
  Status enter(const std::string& below, std::size_t depth) {
    auto opened = open_beneath(place_.root.get(), below.empty() ? "." : below, O_RDONLY | O_DIRECTORY);
    if (!opened) return {};  // removed or unreadable
    const std::size_t before = rules_.count();
    read_rules(below);
    const int folder = fcntl(opened->get(), F_DUPFD_CLOEXEC, 0);
    const FileDescriptor kept(folder);
    for (const std::string& name : names_in(*std::move(opened))) {
      if (states_.size() >= options_.bounds.files) break;
      if (auto done = entry(folder, name, below_of(below, name), depth); !done) return done;
    }
    rules_.keep(before);
    return {};
  }

  Status entry(int folder, const std::string& name, const std::string& below, std::size_t depth) {
    if (std::chrono::steady_clock::now() >= options_.deadline)
      return fail(ErrorCode::kLimit, "there was no time to look at all files");
    struct stat about{};
    if (name == ".git" || fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return {};
    const bool is_folder = S_ISDIR(about.st_mode);
    const std::string path = place_.folder + '/' + below;
    if (rules_.excludes(below, is_folder)) {
      states_[path] = unkept_state(about);
      return {};
    }
    const bool is_known = options_.seen != nullptr && !is_folder && options_.seen->find(path, about);
    if (!is_known && roots_.protection(place_, below) != PathProtection::kNone) return {};
    auto state = reader_.read(folder, name, below, about);
    if (!state) return fail(std::move(state.error()));
    if (state->kind != Kind::kMissing) states_[path] = *state;
    return is_folder && depth < kMostScanDepth ? enter(below, depth + 1) : Status{};
  }

  void read_rules(const std::string& folder) {
    const auto opened = open_beneath(place_.root.get(), below_of(folder, ".gitignore"), O_RDONLY);
    if (!opened) return;
    std::string text(kMostRulesFile, '\0');
    const auto got = ::read(opened->get(), text.data(), text.size());
    if (got > 0) rules_.add(folder, std::string_view(text).substr(0, static_cast<std::size_t>(got)));
  }

  const FileRoots& roots_;
  const FilePlace& place_;
  const ScanOptions& options_;
  FileStates& states_;
  StateReader reader_;
  IgnoreRules rules_;
};

/// The state of one file and of the folders above it.
Status look_at_file(const FilePlace& place, const ScanOptions& options, FileStates& states) {
  for (auto slash = place.path.find('/');; slash = place.path.find('/', slash + 1)) {
    const std::string below = place.path.substr(0, slash);
    auto state = state_at(place, below, options);
    if (!state) return fail(std::move(state.error()));
    if (state->kind != Kind::kMissing) states[place.folder + '/' + below] = *state;
    if (slash == std::string::npos) return {};
  }
}

/// The place where the tool would find the file, or make it.
Result<FilePlace> place_of_file(const FileRoots& roots, const std::string& path) {
  auto places = roots.places(path);
  if (!places) return fail(std::move(places.error()));
  for (FilePlace& place : *places) {
    if (open_beneath(place.root.get(), place.path, O_PATH)) return std::move(place);
  }
  return std::move(places->front());
}

}  // namespace

Json to_json(const ChangePlaces& places) {
  const auto list = [](const std::vector<std::string>& paths) {
    return JsonArray(paths.begin(), paths.end());
  };
  JsonObject json{{"folders", list(places.folders)},
                  {"no_links_below", list(places.bounds.no_links_below)},
                  {"protect", list(places.bounds.protect)},
                  {"hide", list(places.bounds.hide)}};
  if (!places.file.empty()) json["file"] = places.file;
  return json;
}

ChangePlaces change_places_from(const Json& json) {
  const auto list = [&](std::string_view key) {
    std::vector<std::string> paths;
    if (const auto* all = json_at(json, key).if_array()) {
      for (const Json& each : *all) paths.push_back(to_plain_text(each));
    }
    return paths;
  };
  return {
      list("folders"), {list("no_links_below"), list("protect"), list("hide")}, json_string(json, "file")};
}

std::optional<FileState> SeenFiles::find(const std::string& path, const struct stat& about) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  const Seen& seen = found->second;
  const bool same = seen.device == about.st_dev && seen.inode == about.st_ino && seen.size == about.st_size &&
                    seen.modified == in_nanoseconds(about.st_mtim) &&
                    seen.changed == in_nanoseconds(about.st_ctim);
  return same ? std::optional(seen.state) : std::nullopt;
}

void SeenFiles::add(const std::string& path, const struct stat& about, const FileState& state,
                    std::int64_t at) {
  const std::lock_guard lock(mutex_);
  if (in_nanoseconds(about.st_ctim) > at - kClockStep) {
    files_.erase(path);
    return;
  }
  files_[path] = {
      about.st_dev, about.st_ino, about.st_size, in_nanoseconds(about.st_mtim), in_nanoseconds(about.st_ctim),
      state};
}

Result<FileState> state_at(const FilePlace& place, const std::string& below, const ScanOptions& options) {
  const auto slash = below.rfind('/');
  const std::string name = slash == std::string::npos ? below : below.substr(slash + 1);
  const std::string parent = slash == std::string::npos ? "." : below.substr(0, slash);
  const auto folder = open_beneath(place.root.get(), parent, O_RDONLY | O_DIRECTORY);
  struct stat about{};
  if (!folder || fstatat(folder->get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return FileState{};
  std::uint64_t read = 0;
  return StateReader(place, options, read).read(folder->get(), name, below, about);
}

Result<FileStates> look_at(const ChangePlaces& places, const ScanOptions& options) {
  const FileRoots roots(places.folders, places.bounds);
  FileStates states;
  if (!places.file.empty()) {
    const auto place = place_of_file(roots, places.file);
    if (!place) return fail(place.error());
    if (auto looked = look_at_file(*place, options, states); !looked) return fail(std::move(looked.error()));
    return states;
  }
  std::uint64_t read = 0;
  for (const std::string& folder : places.folders) {
    const auto inside = [&](const std::string& other) {
      return other != folder && !path_below(other, folder).empty();
    };
    if (std::ranges::any_of(places.folders, inside)) continue;  // looked at with the other
    const auto found = roots.places(folder);
    if (!found) return fail(found.error());
    const FilePlace& place = found->front();
    auto looked = place.path == "." ? Scan(roots, place, options, states, read).run()
                                    : look_at_file(place, options, states);
    if (!looked) return fail(std::move(looked.error()));
  }
  return states;
}

}  // namespace praxis
