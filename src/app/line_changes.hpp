// What changed between two texts, line by line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::app {

/// The lines of `after`, those that `before` lacks marked with `+`, and those of `before` that are gone with
/// `-`.
std::vector<std::string> marked_changes(const std::vector<std::string>& before,
                                        const std::vector<std::string>& after);
/// The changed lines of a text in the same form, with two lines around each change and `...` for what is left
/// out; safe to display.
std::vector<std::string> changed_lines(std::string_view before, std::string_view after);

/// The hunks of a unified diff between two texts.
struct UnifiedDiff {
  std::vector<std::string> lines;  ///< `@@ -1,4 +1,5 @@`, ` same`, `-gone`, `+new`
  std::size_t added = 0, removed = 0;
};
enum class LineForm : bool {
  kSafe,  ///< safe to display; a line of more than 2000 bytes is cut
  kExact  ///< the bytes of the texts, for other programs
};
/// Three lines around each change. `\ no newline at the end` follows a last line that has none.
UnifiedDiff unified_diff(std::string_view before, std::string_view after, LineForm form = LineForm::kSafe);

}  // namespace praxis::app
