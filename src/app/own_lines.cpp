#include "app/own_lines.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/own_folder.hpp"
#include "app/owned_file.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"

namespace praxis::app {
namespace {

std::unexpected<Error> failed(const std::string& path, const std::string& doing) {
  return fail(ErrorCode::kInput, "cannot " + doing + " \"" + path + "\": " + std::strerror(errno));
}

Result<std::vector<Json>> values_in(std::string_view text, const std::string& path) {
  std::vector<Json> all;
  for (std::size_t start = 0, line = 1; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    auto value = parse_json(text.substr(start, end - start));
    if (!value)
      return fail(ErrorCode::kInput, path + ':' + std::to_string(line) + ": " + value.error().message);
    all.push_back(*std::move(value));
    start = end + 1;
  }
  return all;
}

/// Error if the folder could be changed by others. A folder that is missing is safe.
Status check_own_folder(const std::string& folder) {
  struct stat about = {};
  if (stat(folder.c_str(), &about) != 0) return errno == ENOENT ? Status{} : failed(folder, "read");
  if (std::string unsafe = why_unsafe(about, folder); !unsafe.empty())
    return fail(ErrorCode::kInput, std::move(unsafe));
  return {};
}

/// Replaces the file at once: a crash leaves the old one or the new one.
Status replace(const FileDescriptor& folder, const std::string& name, const std::string& text,
               const std::string& path) {
  const std::string next = name + ".new";
  unlinkat(folder.get(), next.c_str(), 0);
  const FileDescriptor file(openat(folder.get(), next.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return failed(path, "write");
  keep_own_rights(file.get());
  const bool kept = write_all(file.get(), text) == 0 && fsync(file.get()) == 0 &&
                    renameat(folder.get(), next.c_str(), folder.get(), name.c_str()) == 0 &&
                    fsync(folder.get()) == 0;
  return kept ? Status{} : failed(path, "write");
}

}  // namespace

std::string state_folder() { return own_folder("XDG_STATE_HOME", ".local/state").string(); }

Result<std::vector<Json>> OwnLines::all() const {
  if (auto checked = check_own_folder(folder_); !checked) return fail(checked.error());
  FileDescriptor descriptor(open(path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (descriptor.get() < 0 && errno == ENOENT) return std::vector<Json>{};
  if (descriptor.get() < 0) return failed(path(), "open");
  const auto file = regular_file_of(std::move(descriptor), path());
  if (!file) return fail(file.error());
  if (std::string unsafe = why_unsafe(file->about, path()); !unsafe.empty())
    return fail(ErrorCode::kInput, std::move(unsafe));
  const auto text = read_whole(*file, path(), max_bytes_);
  if (!text) return fail(text.error());
  return values_in(*text, path());
}

Result<bool> OwnLines::change(const std::function<Result<bool>(std::vector<Json>&)>& change) const {
  std::ignore = make_private_folders(folder_);  // the next line reports a missing folder
  const FileDescriptor folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || flock(folder.get(), LOCK_EX) != 0) return failed(folder_, "open");
  auto values = all();
  if (!values) return fail(values.error());
  auto changed = change(*values);
  if (!changed || !*changed) return changed;
  std::string text;
  for (const Json& value : *values) text += to_json_text(value) + '\n';
  if (text.size() > max_bytes_)
    return fail(ErrorCode::kInput,
                '"' + path() + "\" would have more than " + std::to_string(max_bytes_) + " bytes");
  if (auto replaced = replace(folder, name_, text, path()); !replaced) return fail(replaced.error());
  return true;
}

}  // namespace praxis::app
