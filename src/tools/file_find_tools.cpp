#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "praxis/base/utf8.hpp"
#include "praxis/tools/code_tools.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/document.hpp"
#include "tools/file_content.hpp"
#include "tools/file_walk.hpp"
#include "tools/line_search.hpp"

namespace praxis {

namespace {

constexpr const char* kGlobDescription =
    "Finds files by a pattern for their path below `path`: `*` within a name, `**` across folders, `?`, "
    "`[a-z]`, "
    "`{a,b}`. The newest come first. Leaves out .git and what .gitignore excludes. Inside of: ";
constexpr const char* kGrepDescription =
    "Finds the lines that match a regular expression in the files below `path`, or in one file. Leaves out "
    ".git, what .gitignore excludes, and binary files. Inside of: ";

constexpr std::size_t kMostFound = 20'000;
constexpr std::size_t kMostGrepped = std::size_t{256} * 1024 * 1024;  ///< bytes
constexpr std::size_t kMostOfAFile = std::size_t{16} * 1024 * 1024;

struct GlobRequest {
  arg<std::string, "Such as src/**/*.cpp"> pattern;
  arg<std::optional<std::string>, "Folder; the first folder if absent"> path;
  arg<std::optional<std::uint32_t>, "Most files; 100 if absent"> limit;
};
PRAXIS_FIELDS(GlobRequest, pattern, path, limit)

struct GrepRequest {
  arg<std::string, "RE2 syntax; (?i) at the start ignores case"> pattern;
  arg<std::optional<std::string>, "File or folder; the first folder if absent"> path;
  arg<std::optional<std::string>, "Only files whose path below `path` fits this, such as **/*.py"> glob;
  arg<std::optional<std::uint32_t>, "Most lines; 100 if absent"> limit;
};
PRAXIS_FIELDS(GrepRequest, pattern, path, glob, limit)

std::string shown_path(const std::string& start, const std::string& below) {
  if (below.empty()) return start;
  return start == "." ? below : start + (start.ends_with('/') ? "" : "/") + below;
}

Result<ToolOutput> find_files(const FileRoots& roots, const GlobRequest& request,
                              const std::stop_token& stop) {
  const auto pattern = compile_glob(request.pattern);
  if (!pattern) return fail(pattern.error());
  const std::string start = request.path.value_or(".");
  auto opened = roots.open(start, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail(std::move(opened.error()));
  FileWalk walk(roots, opened->first, stop);
  std::vector<std::pair<std::int64_t, std::string>> found;  // time and path
  const bool whole = walk.run([&](const std::string& below) {
    if (!re2::RE2::FullMatch(below, **pattern)) return true;
    struct stat info{};
    const auto file = open_beneath(opened->first.root.get(), walk.path_of(below), O_RDONLY);
    if (file && fstat(file->get(), &info) == 0)
      found.emplace_back(info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000, below);
    return found.size() < kMostFound;
  });
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  const std::size_t most = std::clamp<std::size_t>(request.limit.value_or(100), 1, 1000);
  ToolOutput output;
  JsonArray files;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
    const std::string path = shown_path(start, found[i].second);
    output.text += path + '\n';
    files.emplace_back(repair_utf8(path));
  }
  if (found.empty()) output.text = "no file fits\n";
  if (found.size() > most) output.text += "[" + std::to_string(found.size() - most) + " more files]\n";
  if (!whole) output.text += "[not all folders were looked into; name a smaller one]\n";
  output.value = {{"files", std::move(files)}, {"found", found.size()}};
  return output;
}

/// Looks at the lines of one file; returns the bytes that were read.
std::size_t grep_file(LineSearch& lines, FileDescriptor file, const std::string& name) {
  auto content = FileContent::open(std::move(file), name);
  if (!content) return 0;
  const auto bytes = content->read(0, kMostOfAFile);
  if (!bytes || is_binary(std::string_view(*bytes).substr(0, 8192))) return 0;
  const auto all = split_lines(*bytes);
  for (std::size_t i = 0; i < all.size() && !lines.full(); ++i) lines.look_at(name, i + 1, all[i]);
  return bytes->size();
}

Result<ToolOutput> find_lines(const FileRoots& roots, const GrepRequest& request,
                              const std::stop_token& stop) {
  auto lines =
      LineSearch::compile(request.pattern, std::clamp<std::size_t>(request.limit.value_or(100), 1, 1000));
  if (!lines) return fail(std::move(lines.error()));
  std::shared_ptr<const re2::RE2> only;
  if (request.glob) {
    auto glob = compile_glob(*request.glob);
    if (!glob) return fail(glob.error());
    only = *std::move(glob);
  }
  const std::string start = request.path.value_or(".");
  auto opened = roots.open(start, O_RDONLY);
  if (!opened) return fail(std::move(opened.error()));
  struct stat info{};
  if (fstat(opened->second.get(), &info) == 0 && !S_ISDIR(info.st_mode)) {
    grep_file(*lines, std::move(opened->second), start);
    return std::move(*lines).output();
  }
  FileWalk walk(roots, opened->first, stop);
  std::size_t read_bytes = 0;
  const bool whole = walk.run([&](const std::string& below) {
    if (only && !re2::RE2::FullMatch(below, *only)) return true;
    auto file = open_beneath(opened->first.root.get(), walk.path_of(below), O_RDONLY);
    if (file) read_bytes += grep_file(*lines, std::move(*file), shown_path(start, below));
    return !lines->full() && read_bytes < kMostGrepped;
  });
  const bool full = lines->full();
  ToolOutput output = std::move(*lines).output();
  if (!whole && !full) output.text += "\n[not all files were searched; name a smaller folder]";
  return output;
}

}  // namespace

Tool glob_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("glob", kGlobDescription + folders.list(),
                        [folders](ToolContext& context, const GlobRequest& request) {
                          return find_files(folders, request, context.stop);
                        });
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

Tool grep_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("grep", kGrepDescription + folders.list(),
                        [folders](ToolContext& context, const GrepRequest& request) {
                          return find_lines(folders, request, context.stop);
                        });
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

}  // namespace praxis
