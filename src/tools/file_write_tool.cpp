#include <sys/stat.h>

#include <optional>

#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/file_replace.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

namespace {

constexpr const char* kFileWriteDescription =
    "Writes a whole file: creates it, with its folders, or replaces what it held. Paths are relative or "
    "absolute, inside "
    "of: ";

struct FileWriteRequest {
  std::string path;
  arg<std::string, "The whole new content"> content;
};
PRAXIS_FIELDS(FileWriteRequest, path, content)

Result<ToolOutput> write_file(const FileRoots& roots, const FileWriteRequest& request) {
  auto places = roots.places(request.path);
  if (!places) return fail(std::move(places.error()));
  std::string name = places->front().path;
  if (name == "." || request.path.ends_with('/')) {
    return fail(ErrorCode::kInput, "/path names a folder; give the name of a file");
  }
  if (const auto found = roots.protection(places->front(), name); found != PathProtection::kNone)
    return protected_error(request.path, found);
  auto folder = open_parent(std::move(places->front().root), name);
  if (!folder) return file_error(request.path, folder.error());

  struct stat old{};
  const bool exists = fstatat(folder->get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return fail(ErrorCode::kTool,
                "\"" + request.path + "\" exists and is not a regular file; it was not changed");
  }
  const int error = replace_file(folder->get(), name, request.content,
                                 exists ? std::optional(old.st_mode & 0777U) : std::nullopt);
  if (error != 0) return file_error(request.path, error);
  const std::size_t bytes = request.content.size();
  // Does not say whether the file is new: a call that is made again after a crash could not know.
  return ToolOutput{"wrote \"" + request.path + "\" (" + std::to_string(bytes) + " bytes)",
                    {{"path", request.path}, {"bytes", bytes}},
                    {},
                    {}};
}

}  // namespace

Tool file_write_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("file_write", kFileWriteDescription + folders.list(),
                        [folders](const FileWriteRequest& request) { return write_file(folders, request); });
  tool.definition.safe_by_default = false;  // it changes files: a rule must allow it
  tool.definition.idempotent = true;
  return tool;
}

}  // namespace praxis
