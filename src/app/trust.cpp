#include "app/trust.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/own_folder.hpp"
#include "app/owned_file.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "trusted.jsonl";
constexpr std::size_t kMaxBytes = 4 * 1024 * 1024;

std::unexpected<Error> failed(const std::string& path, const std::string& doing) {
  return fail(ErrorCode::kInput, "cannot " + doing + " \"" + path + "\": " + std::strerror(errno));
}

std::string line_of(const TrustedProject& project) {
  return to_json_text(JsonObject{{"project", project.root},
                                 {"digest", project.digest},
                                 {"shown", JsonArray(project.shown.begin(), project.shown.end())}}) +
         '\n';
}

Result<TrustedProject> project_in(std::string_view line) {
  const auto json = parse_json(line);
  if (!json) return fail(json.error());
  TrustedProject project{json_string(*json, "project"), json_string(*json, "digest"), {}};
  const auto* shown = json_at(*json, "shown").if_array();
  for (const Json& text : shown != nullptr ? *shown : JsonArray{}) {
    project.shown.push_back(to_plain_text(text));
  }
  if (project.root.empty() || project.digest.empty())
    return fail(ErrorCode::kInput, "an entry needs \"project\" and \"digest\"");
  return project;
}

Result<std::vector<TrustedProject>> projects_in(const std::string& text, const std::string& path) {
  std::vector<TrustedProject> all;
  for (std::size_t start = 0, line = 1; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    auto project = project_in(std::string_view(text).substr(start, end - start));
    if (!project)
      return fail(ErrorCode::kInput, path + ':' + std::to_string(line) + ": " + project.error().message);
    all.push_back(*std::move(project));
    start = end + 1;
  }
  return all;
}

/// Error if the folder could be changed by others. A folder that is missing is safe.
Status check_folder(const std::string& folder) {
  struct stat about = {};
  if (stat(folder.c_str(), &about) != 0) return errno == ENOENT ? Status{} : failed(folder, "read");
  if (std::string unsafe = why_unsafe(about, folder); !unsafe.empty())
    return fail(ErrorCode::kInput, std::move(unsafe));
  return {};
}

Result<std::vector<TrustedProject>> read_all(const std::string& folder) {
  if (auto checked = check_folder(folder); !checked) return fail(checked.error());
  const std::string path = folder + '/' + kName;
  FileDescriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (descriptor.get() < 0 && errno == ENOENT) return std::vector<TrustedProject>{};
  if (descriptor.get() < 0) return failed(path, "open");
  const auto file = regular_file_of(std::move(descriptor), path);
  if (!file) return fail(file.error());
  if (std::string unsafe = why_unsafe(file->about, path); !unsafe.empty())
    return fail(ErrorCode::kInput, std::move(unsafe));
  const auto text = read_whole(*file, path, kMaxBytes);
  if (!text) return fail(text.error());
  return projects_in(*text, path);
}

/// Replaces the file at once: a crash leaves the old one or the new one.
Status replace(const FileDescriptor& folder, const std::string& text, const std::string& path) {
  const std::string next = std::string(kName) + ".new";
  unlinkat(folder.get(), next.c_str(), 0);
  const FileDescriptor file(openat(folder.get(), next.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return failed(path, "write");
  keep_own_rights(file.get());
  const bool kept = write_all(file.get(), text) == 0 && fsync(file.get()) == 0 &&
                    renameat(folder.get(), next.c_str(), folder.get(), kName) == 0 &&
                    fsync(folder.get()) == 0;
  return kept ? Status{} : failed(path, "write");
}

}  // namespace

Result<std::vector<TrustedProject>> TrustedProjects::all() const { return read_all(folder_); }

/// Calls `change` on the entries while no other process can change them, and stores them if it returns true.
template <class Change>
Result<bool> TrustedProjects::change(Change change) const {
  (void)make_private_folders(folder_);  // the next line reports a missing folder
  const FileDescriptor folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || flock(folder.get(), LOCK_EX) != 0) return failed(folder_, "open");
  auto entries = read_all(folder_);
  if (!entries) return fail(entries.error());
  if (!change(*entries)) return false;
  std::string text;
  for (const TrustedProject& entry : *entries) text += line_of(entry);
  if (text.size() > kMaxBytes)
    return fail(ErrorCode::kInput,
                "too many projects are trusted; revoke one with: praxis trust revoke FOLDER");
  if (auto replaced = replace(folder, text, folder_ + '/' + kName); !replaced) return fail(replaced.error());
  return true;
}

Status TrustedProjects::add(TrustedProject project) const {
  const auto changed = change([&](std::vector<TrustedProject>& entries) {
    std::erase_if(entries, [&](const TrustedProject& entry) { return entry.root == project.root; });
    entries.push_back(std::move(project));
    return true;
  });
  return changed ? Status{} : fail(changed.error());
}

Result<bool> TrustedProjects::remove(const std::string& root) const {
  return change([&](std::vector<TrustedProject>& entries) {
    return std::erase_if(entries, [&](const TrustedProject& entry) { return entry.root == root; }) > 0;
  });
}

std::string state_folder() { return own_folder("XDG_STATE_HOME", ".local/state").string(); }

Result<TrustedProject> trust_in(const Project& project) {
  const std::string folder = state_folder();
  if (folder.empty()) return TrustedProject{};
  auto all = TrustedProjects(folder).all();
  if (!all) return fail(all.error());
  const auto found = std::ranges::find(*all, project.root, &TrustedProject::root);
  return found == all->end() ? TrustedProject{} : std::move(*found);
}

std::shared_ptr<const Project> project_at(const std::string& root) {
  Project project = read_project(root);
  if (project.problem.empty() && project.has_content()) {
    const auto trust = trust_in(project);
    if (!trust) project.problem = trust.error().message;
    if (trust) project.trusted = trust->digest == project.digest().hex();
    if (trust) project.changed = !trust->digest.empty() && !project.trusted;
  }
  return std::make_shared<const Project>(std::move(project));
}

std::shared_ptr<const Project> current_project() {
  std::error_code ignored;
  const std::string root =
      find_project_root(fs::current_path(ignored).string(), environment_variable("HOME"));
  return root.empty() ? nullptr : project_at(root);
}

}  // namespace praxis::app
