#include <sys/stat.h>

#include <algorithm>

#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/media.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/document.hpp"
#include "tools/editor_files.hpp"
#include "tools/file_content.hpp"
#include "tools/line_search.hpp"

namespace praxis {

namespace {

constexpr const char* kFileReadDescription =
    "Reads files. `read` returns the text of a file from byte `offset` on, or shows an image or PDF; `list` "
    "the entries of a folder, "
    "`search` the "
    "lines below a folder (or in a file) that match the regular expression `pattern`; it does not enter "
    "`.git`. "
    "Compressed .gz files are read as their content. Paths are relative or absolute, inside of: ";

constexpr std::size_t kDefaultRead = 64 * 1024;
constexpr std::size_t kMaxRead = 256 * 1024;
constexpr std::size_t kMaxListed = 1000;
constexpr std::size_t kMaxSearchedFile = 16 * 1024 * 1024;
constexpr std::size_t kMaxSearchedBytes = 256 * 1024 * 1024;
constexpr std::size_t kMaxSearchedFiles = 10'000;
constexpr std::size_t kMaxFolderDepth = 32;

enum class FileReadOp { kRead, kList, kSearch };
PRAXIS_ENUM(FileReadOp, kRead, kList, kSearch)

struct FileReadRequest {
  FileReadOp op;
  arg<std::optional<std::string>, "File or folder; the first folder if absent"> path;
  arg<std::optional<std::uint64_t>, "For read: where to start, in bytes; 0 if absent"> offset;
  arg<std::optional<std::uint32_t>,
      "For read: most bytes, 65536 if absent; for search: most lines, 100 if absent">
      limit;
  arg<std::optional<std::string>, "For search: RE2 syntax; (?i) at the start ignores case"> pattern;
};
PRAXIS_FIELDS(FileReadRequest, op, path, offset, limit, pattern)

/// Cuts `bytes` after the last complete line, or at least not inside a character.
void cut_cleanly(std::string& bytes) {
  if (const auto end = bytes.rfind('\n'); end != std::string::npos) {
    bytes.resize(end + 1);
    return;
  }
  for (std::size_t length = bytes.size(), back = 1; back <= 4 && back < length; ++back) {
    const auto byte = static_cast<unsigned char>(bytes[length - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    if (byte >= 0xC0U) bytes.resize(length - back);
    return;
  }
}

/// Passes an image or PDF to the model; one that is too large is only described.
ToolOutput shown(FileContent& content, const std::string& path, std::uint64_t size, std::string_view type) {
  const bool image = type.starts_with("image/");
  ToolOutput output{"\"" + path + "\" is " + std::string(type) + " of " + std::to_string(size) + " bytes",
                    {{"path", path}, {"binary", true}, {"type", type}},
                    {},
                    {}};
  const std::size_t most = image ? kMaxImageBytes : kMaxFileBytes;
  auto bytes = size <= most ? content.read(0, size) : std::string();
  if (!bytes || bytes->empty()) {
    output.text += "; it is too large to be shown";
  } else if (image) {
    output.images.push_back({{std::string(type), *std::move(bytes), {}}, nullptr});
  } else {
    output.files.push_back(
        {{std::string(type), *std::move(bytes), {}}, path.substr(path.rfind('/') + 1), nullptr});
  }
  return output;
}

/// The bytes of a text file from `offset` on, of which `rest` more follow.
ToolOutput shown_text(const std::string& path, std::uint64_t offset, std::string bytes, std::uint64_t rest,
                      bool compressed) {
  const std::size_t read_bytes = bytes.size();
  if (rest > 0) cut_cleanly(bytes);
  const std::uint64_t next = offset + bytes.size();
  const std::uint64_t left = rest + (read_bytes - bytes.size());
  Json value{{"path", path}, {"offset", offset}, {"text", repair_utf8(bytes)}, {"bytes_left", left}};
  ToolOutput output{std::move(bytes), std::move(value), {}, {}};
  if (left > 0) {
    const bool cut_off = compressed && next + left >= FileContent::kMaxInflated;
    output.text += "\n[" + std::string(cut_off ? "at least " : "") + std::to_string(left) +
                   " bytes follow; continue with \"offset\": " + std::to_string(next) + "]";
  } else if (output.text.empty()) {
    output.text = offset == 0 ? "[the file is empty]" : "[the file ends before this offset]";
  }
  return output;
}

/// The part of a text that an editor has.
ToolOutput shown_part(const std::string& path, std::string_view text, std::uint64_t offset,
                      std::size_t limit) {
  const auto part = text.substr(std::min<std::uint64_t>(offset, text.size()), limit);
  const std::uint64_t end = offset + part.size();
  return shown_text(path, offset, std::string(part), text.size() - std::min<std::uint64_t>(end, text.size()),
                    false);
}

Result<ToolOutput> read_text(const FileRoots& roots, const ToolContext& context, const std::string& path,
                             std::uint64_t offset, std::size_t limit) {
  auto opened = roots.open(path, O_RDONLY);
  if (!opened) return fail(std::move(opened.error()));
  auto content = FileContent::open(std::move(opened->second), path);
  if (!content) return fail(std::move(content.error()));
  auto bytes = content->read(offset, limit);
  if (!bytes) return fail(std::move(bytes.error()));
  auto rest = content->remaining(context.stop);
  if (!rest) return fail(std::move(rest.error()));

  const std::string_view type = offset == 0 ? media_type(*bytes) : "";
  if (!type.empty()) return shown(*content, path, bytes->size() + *rest, type);
  if (is_binary(*bytes)) {
    const auto size = std::to_string(offset + bytes->size() + *rest);
    return ToolOutput{"\"" + path + "\" is a binary file of " + size + " bytes; it is not shown",
                      {{"path", path}, {"binary", true}},
                      {},
                      {}};
  }
  if (!content->compressed()) {
    const auto unsaved = text_in_editor(roots, context, opened->first);
    if (!unsaved) return fail(unsaved.error());
    if (*unsaved) return shown_part(path, **unsaved, offset, limit);
  }
  return shown_text(path, offset, *std::move(bytes), *rest, content->compressed());
}

std::string_view kind_name(DirectoryEntry::Kind kind) {
  constexpr std::string_view kNames[] = {"file", "folder", "link", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<ToolOutput> list(const FileRoots& roots, const std::string& path) {
  auto opened = roots.open(path, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail(std::move(opened.error()));
  ToolOutput output;
  JsonArray listed;
  const auto entries = read_directory(std::move(opened->second));
  for (const DirectoryEntry& entry : entries) {
    if (listed.size() == kMaxListed) {
      output.text += "[" + std::to_string(entries.size() - kMaxListed) + " more entries]\n";
      break;
    }
    const bool is_file = entry.kind == DirectoryEntry::Kind::kFile;
    output.text += entry.name +
                   (is_file ? " (" + std::to_string(entry.size) + " bytes)"
                            : " (" + std::string(kind_name(entry.kind)) + ")") +
                   "\n";
    JsonObject item{{"name", repair_utf8(entry.name)}, {"kind", kind_name(entry.kind)}};
    if (is_file) item["size"] = entry.size;
    listed.push_back(std::move(item));
  }
  if (entries.empty()) output.text = "the folder is empty";
  output.value = {{"path", path}, {"entries", std::move(listed)}};
  return output;
}

/// Searches all files below a path in order of name, within bounds.
class TreeSearch {
 public:
  TreeSearch(const FileRoots& roots, const FilePlace& place, std::string shown, LineSearch lines,
             std::stop_token stop)
      : roots_(roots),
        place_(place),
        shown_(std::move(shown)),
        lines_(std::move(lines)),
        stop_(std::move(stop)) {}

  /// `below` is relative to the start; empty for the start itself.
  void visit(const std::string& below, std::size_t depth = 0) {
    if (done()) return;
    auto opened = open_beneath(place_.root.get(), join(place_.path, below), O_RDONLY | O_DIRECTORY);
    if (!opened) return;  // removed or unreadable: skip it
    for (const DirectoryEntry& entry : read_directory(std::move(*opened))) {
      const std::string path = below.empty() ? entry.name : below + "/" + entry.name;
      if (entry.kind == DirectoryEntry::Kind::kFile) look_into(path);
      if (entry.kind != DirectoryEntry::Kind::kDirectory || entry.name == ".git") continue;
      if (depth < kMaxFolderDepth) visit(path, depth + 1);
    }
  }

  void look_into(const std::string& below) {
    const std::string path = join(place_.path, below);
    if (done() || roots_.protection(place_, path) == PathProtection::kSecret) return;
    auto opened = open_beneath(place_.root.get(), path, O_RDONLY);
    if (!opened) return;
    const std::string name = join(shown_, below);
    auto content = FileContent::open(std::move(*opened), name);
    if (!content) return;
    ++files_;
    auto bytes = content->read(0, kMaxSearchedFile);
    if (!bytes || is_binary(std::string_view(*bytes).substr(0, 8192))) return;
    bytes_ += bytes->size();
    const auto all = split_lines(*bytes);
    for (std::size_t i = 0; i < all.size() && !done(); ++i) lines_.look_at(name, i + 1, all[i]);
  }

  ToolOutput output() && {
    const bool incomplete = exhausted();
    const std::size_t files = files_;
    ToolOutput output = std::move(lines_).output();
    if (incomplete)
      output.text += "\n[stopped after " + std::to_string(files) + " files; search a smaller folder]";
    return output;
  }

 private:
  static std::string join(const std::string& folder, const std::string& below) {
    if (below.empty()) return folder;
    return folder == "." ? below : folder + "/" + below;
  }
  bool exhausted() const { return files_ >= kMaxSearchedFiles || bytes_ >= kMaxSearchedBytes; }
  bool done() const { return lines_.full() || exhausted() || stop_.stop_requested(); }

  const FileRoots& roots_;
  const FilePlace& place_;
  const std::string shown_;
  LineSearch lines_;
  const std::stop_token stop_;
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
};

Result<ToolOutput> search(const FileRoots& roots, const std::string& path, const std::string& pattern,
                          std::size_t limit, const std::stop_token& stop) {
  auto lines = LineSearch::compile(pattern, limit);
  if (!lines) return fail(std::move(lines.error()));
  auto opened = roots.open(path, O_RDONLY);
  if (!opened) return fail(std::move(opened.error()));
  TreeSearch tree(roots, opened->first, path, std::move(*lines), stop);
  struct stat info{};
  const bool is_folder = fstat(opened->second.get(), &info) == 0 && S_ISDIR(info.st_mode);
  is_folder ? tree.visit("") : tree.look_into("");
  return std::move(tree).output();
}

Result<ToolOutput> read_files(const FileRoots& roots, const ToolContext& context,
                              const FileReadRequest& request) {
  const std::string path = request.path.value_or(".");
  switch (request.op) {
    case FileReadOp::kRead:
      return read_text(roots, context, path, request.offset.value_or(0),
                       std::clamp<std::size_t>(request.limit.value_or(kDefaultRead), 1, kMaxRead));
    case FileReadOp::kList:
      return list(roots, path);
    default:
      if (!request.pattern) return fail(ErrorCode::kInput, "/pattern is missing: search needs it");
      return search(roots, path, *request.pattern,
                    std::clamp<std::size_t>(request.limit.value_or(100), 1, 1000), context.stop);
  }
}

}  // namespace

Tool file_read_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("file_read", kFileReadDescription + folders.list(),
                        [folders](ToolContext& context, const FileReadRequest& request) {
                          return read_files(folders, context, request);
                        });
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

}  // namespace praxis
