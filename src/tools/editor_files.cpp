#include "tools/editor_files.hpp"

#include <utility>

#include "tools/file_content.hpp"

namespace praxis {
namespace {

std::string whole_path(const FilePlace& place) { return place.folder + '/' + place.path; }

}  // namespace

Result<std::optional<std::string>> text_in_editor(const FileRoots& roots, const ToolContext& context,
                                                  const FilePlace& place) {
  EditorFiles* const editor = roots.editor();
  if (editor == nullptr) return std::nullopt;
  auto text = editor->read(context, whole_path(place));
  if (!text || !*text) return text;
  if ((*text)->size() > kMaxWholeText)
    return fail(ErrorCode::kTool, '"' + place.path + "\" is longer than 8 MiB in the editor");
  // The editor opened the path by itself: a link that replaced the file meanwhile led it elsewhere.
  const auto still = open_beneath(place.root.get(), place.path, O_RDONLY);
  if (!still) return file_error(place.path, still.error());
  return text;
}

Result<bool> write_in_editor(const FileRoots& roots, const ToolContext& context, const FilePlace& place,
                             const std::string& text) {
  EditorFiles* const editor = roots.editor();
  return editor == nullptr ? Result<bool>(false) : editor->write(context, whole_path(place), text);
}

}  // namespace praxis
