#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/editor_files.hpp"
#include "tools/file_changes.hpp"
#include "tools/file_content.hpp"
#include "tools/file_replace.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

const char* const kFileWriteDescription =
    "Writes a whole file: creates it, with its folders, or replaces what it held. Paths are relative or "
    "absolute, inside "
    "of: ";

namespace {

struct FileWriteRequest {
  std::string path;
  arg<std::string, "The whole new content"> content;
};
PRAXIS_FIELDS(FileWriteRequest, path, content)

std::unexpected<Error> not_regular(const std::string& path) {
  return fail(ErrorCode::kTool, "\"" + path + "\" exists and is not a regular file; it was not changed");
}

/// Where the file is, or will be.
Result<FilePlace> place_to_write(const FileRoots& roots, const std::string& path) {
  auto places = roots.places(path);
  if (!places) return fail(std::move(places.error()));
  FilePlace& place = places->front();
  if (place.path == "." || path.ends_with('/'))
    return fail(ErrorCode::kInput, "/path names a folder; give the name of a file");
  if (const auto found = roots.protection(place, place.path); found != PathProtection::kNone)
    return protected_error(path, found);
  return std::move(place);
}

/// Does not say whether the file is new: a call that is made again after a crash could not know.
ToolOutput written(const FileWriteRequest& request) {
  const std::size_t bytes = request.content.size();
  return ToolOutput{"wrote \"" + request.path + "\" (" + std::to_string(bytes) + " bytes)",
                    {{"path", request.path}, {"bytes", bytes}},
                    {},
                    {}};
}

/// Lets the editor write a file that it has. False: it does not have it, or writes no files.
Result<bool> written_in_editor(const FileRoots& roots, const ToolContext& context, const FilePlace& place,
                               const std::string& text) {
  if (roots.editor() == nullptr) return false;
  const auto file = open_beneath(place.root.get(), place.path, O_RDONLY);
  struct stat old{};
  if (!file || fstat(file->get(), &old) != 0 || !S_ISREG(old.st_mode)) return false;
  const auto before = text_in_editor(roots, context, place);
  if (!before) return fail(before.error());
  return *before ? write_in_editor(roots, context, place, text) : Result<bool>(false);
}

Result<ToolOutput> write_file(const FileRoots& roots, const ToolContext& context,
                              const FileWriteRequest& request) {
  auto place = place_to_write(roots, request.path);
  if (!place) return fail(std::move(place.error()));
  const auto done = written_in_editor(roots, context, *place, request.content);
  if (!done) return fail(done.error());
  if (*done) return written(request);
  std::string name = place->path;
  auto folder = open_parent(std::move(place->root), name);
  if (!folder) return file_error(request.path, folder.error());

  struct stat old{};
  const bool exists = fstatat(folder->get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode)) return not_regular(request.path);
  const int error = replace_file(folder->get(), name, request.content,
                                 exists ? std::optional(old.st_mode & 0777U) : std::nullopt);
  if (error != 0) return file_error(request.path, error);
  return written(request);
}

}  // namespace

Result<FileChange> written_change(const FileRoots& roots, const Json& arguments) {
  auto request = from_json_as<FileWriteRequest>(arguments);
  if (!request) return fail(std::move(request.error()));
  auto place = place_to_write(roots, request->path);
  if (!place) return fail(std::move(place.error()));
  FileChange change{place->folder + '/' + place->path, std::nullopt, request->content};
  const auto file = open_beneath(place->root.get(), place->path, O_RDONLY);
  if (!file && file.error() == ENOENT) return change;
  if (!file) return file_error(request->path, file.error());
  struct stat old{};
  if (fstat(file->get(), &old) != 0 || !S_ISREG(old.st_mode)) return not_regular(request->path);
  auto before = whole_text(file->get(), request->path);
  if (!before) return fail(std::move(before.error()));
  change.before = *std::move(before);
  return change;
}

Tool file_write_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("file_write", kFileWriteDescription + folders.list(),
                        [folders](ToolContext& context, const FileWriteRequest& request) {
                          return write_file(folders, context, request);
                        });
  tool.definition.safe_by_default = false;  // it changes files: a rule must allow it
  tool.definition.idempotent = true;
  return tool;
}

}  // namespace praxis
