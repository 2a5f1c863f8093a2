#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/trimmed.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/tools/code_tools.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/document.hpp"
#include "tools/editor_files.hpp"
#include "tools/file_changes.hpp"
#include "tools/file_content.hpp"
#include "tools/file_replace.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

const char* const kEditDescription =
    "Changes a text file: replaces each `old` by its `replacement`, in this order, all of them or none. "
    "`old` is copied "
    "exactly from the file, with its white space, and long enough to occur once; `all` replaces every "
    "occurrence. Paths are relative or absolute, inside of: ";

namespace {

constexpr std::size_t kMaxEdits = 100;
constexpr std::size_t kMaxNearLines = 12;  ///< of the lines that come nearest
constexpr std::size_t kMaxComparedLines = 200'000;

struct EditPiece {
  arg<std::string, "The text to replace, exactly as the file has it"> old;
  arg<std::string, "The text in its place; empty removes it"> replacement;
  arg<std::optional<bool>, "Replace every occurrence"> all;
};
PRAXIS_FIELDS(EditPiece, old, replacement, all)

struct EditRequest {
  std::string path;
  std::vector<EditPiece> edits;
};
PRAXIS_FIELDS(EditRequest, path, edits)

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::size_t line_at(std::string_view text, std::size_t at) {
  return static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

/// How alike two lines are, from 0 to 100: the part that they begin and end with alike.
std::size_t likeness(std::string_view a, std::string_view b) {
  constexpr std::string_view kBlank = " \t\r";
  a = trimmed(a, kBlank);
  b = trimmed(b, kBlank);
  const std::size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  if (longer == 0) return 0;  // blank lines are alike everywhere
  std::size_t front = 0, back = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return (front + back) * 100 / longer;
}

/// The lines of the file that come nearest to `old`, as the model can copy them; empty if none is like it.
std::string nearest_lines(std::string_view text, std::string_view old) {
  const auto lines = split_lines(text), wanted = split_lines(old);
  if (wanted.empty() || lines.size() < wanted.size() || lines.size() > kMaxComparedLines) return "";
  const std::size_t compared = std::min(wanted.size(), kMaxNearLines);
  std::size_t best = 0, score = 0;
  for (std::size_t begin = 0; begin + wanted.size() <= lines.size(); ++begin) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < compared; ++i) sum += likeness(lines[begin + i], wanted[i]);
    if (sum > score) {
      score = sum;
      best = begin;
    }
  }
  if (score < compared * 50) return "";
  std::string shown = "; lines " + std::to_string(best + 1) + " to " + std::to_string(best + wanted.size()) +
                      " come nearest:\n";
  for (std::size_t i = 0; i < compared; ++i) shown += repair_utf8(lines[best + i]) + '\n';
  if (compared < wanted.size()) shown += "[" + std::to_string(wanted.size() - compared) + " more lines]\n";
  return shown;
}

std::unexpected<Error> edit_error(std::size_t index, const std::string& problem) {
  const char* const end = problem.ends_with('\n') ? "" : "\n";
  return fail(ErrorCode::kTool,
              "/edits/" + std::to_string(index) + "/old " + problem + end + "[nothing was changed]");
}

/// Applies one edit; returns the number of replacements.
Result<std::size_t> apply_edit(std::string& text, const EditPiece& edit, std::size_t index) {
  const std::string& old = edit.old;
  const std::string& replacement = edit.replacement;
  if (old.empty()) return edit_error(index, "is empty; file_write writes a whole file");
  if (old == replacement) return edit_error(index, "is the same as its replacement");
  const std::size_t count = occurrences(text, old);
  if (count == 0) return edit_error(index, "does not occur in the file" + nearest_lines(text, old));
  const bool all = edit.all.value_or(false);
  if (count > 1 && !all) {
    std::string places;
    for (auto at = text.find(old); at != std::string::npos && places.size() < 100;
         at = text.find(old, at + old.size()))
      places += (places.empty() ? "" : ", ") + std::to_string(line_at(text, at));
    return edit_error(index, "occurs " + std::to_string(count) + " times, at the lines " + places +
                                 "; add lines around it, or set \"all\"");
  }
  std::string changed;
  std::size_t from = 0;
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, from)) {
    changed.append(text, from, at - from).append(replacement);
    from = at + old.size();
  }
  text = changed.append(text, from);
  return count;
}

/// A file with all its edits, not yet written.
struct EditedFile {
  FilePlace place;
  mode_t mode = 0;
  std::string before, after;
  std::size_t count = 0;   ///< of the replacements
  bool in_editor = false;  ///< `before` is what an editor has
};

/// `context`: of the call; null: the disk counts, also if an editor has other text.
Result<EditedFile> edited_file(const FileRoots& roots, const EditRequest& request,
                               const ToolContext* context) {
  if (request.edits.empty() || request.edits.size() > kMaxEdits)
    return fail(ErrorCode::kInput, "/edits needs 1 to " + std::to_string(kMaxEdits) + " entries");
  auto opened = roots.open(request.path, O_RDONLY);
  if (!opened) return fail(std::move(opened.error()));
  struct stat old{};
  if (fstat(opened->second.get(), &old) != 0 || !S_ISREG(old.st_mode))
    return fail(ErrorCode::kTool, "\"" + request.path + "\" is not a regular file");
  if (const auto found = roots.protection(opened->first, opened->first.path); found != PathProtection::kNone)
    return protected_error(request.path, found);
  auto text = whole_text(opened->second.get(), request.path);
  if (!text) return fail(std::move(text.error()));
  std::optional<std::string> unsaved;
  if (context != nullptr) {
    auto found = text_in_editor(roots, *context, opened->first);
    if (!found) return fail(std::move(found.error()));
    unsaved = *std::move(found);
  }
  EditedFile file{std::move(opened->first), old.st_mode & 0777U, unsaved ? *unsaved : *text, {}};
  file.after = file.before;
  file.in_editor = unsaved.has_value();
  for (std::size_t i = 0; i < request.edits.size(); ++i) {
    const auto replaced = apply_edit(file.after, request.edits[i], i);
    if (!replaced) return fail(replaced.error());
    file.count += *replaced;
  }
  return file;
}

Status write_edited(const FileRoots& roots, const ToolContext& context, const std::string& path,
                    EditedFile& file) {
  const auto done =
      file.in_editor ? write_in_editor(roots, context, file.place, file.after) : Result<bool>(false);
  if (!done) return fail(done.error());
  if (*done) return {};
  std::string name = file.place.path;
  auto folder = open_parent(std::move(file.place.root), name);
  if (!folder) return file_error(path, folder.error());
  if (const int error = replace_file(folder->get(), name, file.after, file.mode); error != 0)
    return file_error(path, error);
  return {};
}

Result<ToolOutput> edit_file(const FileRoots& roots, const ToolContext& context, const EditRequest& request) {
  auto file = edited_file(roots, request, &context);
  if (!file) return fail(std::move(file.error()));
  if (auto done = write_edited(roots, context, request.path, *file); !done)
    return fail(std::move(done.error()));
  return ToolOutput{"replaced " + std::to_string(file->count) + (file->count == 1 ? " piece" : " pieces") +
                        " in \"" + request.path + "\"",
                    {{"path", request.path}, {"replaced", file->count}, {"bytes", file->after.size()}},
                    {},
                    {}};
}

}  // namespace

Result<FileChange> edited_change(const FileRoots& roots, const Json& arguments) {
  const auto request = from_json_as<EditRequest>(arguments);
  if (!request) return fail(request.error());
  auto file = edited_file(roots, *request, nullptr);
  if (!file) return fail(std::move(file.error()));
  return FileChange{file->place.folder + '/' + file->place.path, std::move(file->before),
                    std::move(file->after)};
}

Tool edit_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("edit", kEditDescription + folders.list(),
                        [folders](ToolContext& context, const EditRequest& request) {
                          return edit_file(folders, context, request);
                        });
  tool.definition.safe_by_default = false;  // it changes files: a rule must allow it
  tool.definition.idempotent = false;
  return tool;
}

}  // namespace praxis
