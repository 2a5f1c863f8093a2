// A text seen as a document: lines, headings with their level, sentences. Views point into the text given,
// which must outlive them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace praxis {

/// The lines of `text`, without their ends (LF or CRLF).
std::vector<std::string_view> split_lines(std::string_view text);

/// Part of a document from its heading to the next of the same or a higher level. Line numbers start at 1.
struct Section {
  std::string heading;
  std::size_t level = 1;
  std::size_t first_line = 0;  ///< of the heading itself
  std::size_t last_line = 0;   ///< including subsections
};

/// All sections in order. Headings are Markdown `#` outside of fenced code and comments, titles underlined as
/// in Markdown and reStructuredText (levels by order of first use), entries of a Debian changelog, and
/// version lines of plain release notes such as `1.2.3 (2024-01-01)` or `Changes in 1.3`, which count as one
/// level below the last marked heading.
std::vector<Section> find_sections(const std::vector<std::string_view>& lines);

/// The `count` sentences or list items that say most, in order of appearance, one string each: those whose
/// words occur often in the whole text, earlier ones first, without saying the same twice. Deterministic.
std::vector<std::string> summarise(const std::vector<std::string_view>& lines, std::size_t count);

/// What `extract_items` has found.
struct Extract {
  std::string heading;             ///< the first of the text
  std::string markdown;            ///< the items below the headings they stood below
  std::vector<std::string> items;  ///< each in one line, without its mark
  std::size_t left_out = 0;
};
/// The list items that match `pattern`, at most `limit`, each whole: up to the next item, heading or blank
/// line.
Extract extract_items(const std::vector<std::string_view>& lines, const re2::RE2& pattern, std::size_t limit);

}  // namespace praxis
