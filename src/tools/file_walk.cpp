#include "tools/file_walk.hpp"

#include <unistd.h>

#include <string_view>

namespace praxis {
namespace {

constexpr std::size_t kMostEntries = 200'000;
constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kMostIgnoreFile = std::size_t{64} * 1024;

std::string joined_path(const std::string& folder, const std::string& name) {
  if (name.empty()) return folder;
  return folder.empty() || folder == "." ? name : folder + '/' + name;
}

}  // namespace

std::string FileWalk::path_of(const std::string& below) const { return joined_path(place_.path, below); }

bool FileWalk::run(const Visit& each) {
  // The rules of the folders above the start hold too.
  if (place_.path != ".") {
    read_rules("");
    for (auto slash = place_.path.find('/'); slash != std::string::npos;
         slash = place_.path.find('/', slash + 1))
      read_rules(place_.path.substr(0, slash));
  }
  return enter("", 0, each);
}

/// Reads the `.gitignore` in a folder below the root; empty for the root.
void FileWalk::read_rules(const std::string& folder) {
  const auto opened = open_beneath(place_.root.get(), joined_path(folder, ".gitignore"), O_RDONLY);
  if (!opened) return;
  std::string text(kMostIgnoreFile, '\0');
  const auto got = ::read(opened->get(), text.data(), text.size());
  if (got > 0) rules_.add(folder, std::string_view(text).substr(0, static_cast<std::size_t>(got)));
}

bool FileWalk::enter(const std::string& below, std::size_t depth, const Visit& each) {
  const std::string here = path_of(below);
  auto opened = open_beneath(place_.root.get(), here, O_RDONLY | O_DIRECTORY);
  if (!opened) return true;  // removed or unreadable
  const std::size_t before = rules_.count();
  read_rules(here == "." ? "" : here);
  bool whole = true;
  for (const DirectoryEntry& entry : read_directory(std::move(*opened))) {
    if (++seen_ > kMostEntries || stop_.stop_requested()) return false;
    const bool is_folder = entry.kind == DirectoryEntry::Kind::kDirectory;
    if (!is_folder && entry.kind != DirectoryEntry::Kind::kFile) continue;
    const std::string path = joined_path(below, entry.name), whole_path = path_of(path);
    if (entry.name == ".git" || rules_.excludes(whole_path, is_folder)) continue;
    if (is_folder) {
      whole = depth < kMostDepth ? enter(path, depth + 1, each) : true;
    } else if (roots_.protection(place_, whole_path) != PathProtection::kSecret) {
      whole = each(path);
    }
    if (!whole) break;
  }
  rules_.keep(before);
  return whole;
}

}  // namespace praxis
