// Splits a text into lines, sections with heading levels, and sentences. Views point into the given text,
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

/// The lines of `text`, without line ends (LF or CRLF).
std::vector<std::string_view> split_lines(std::string_view text);

/// Part of a document, from its heading to the next heading of the same or a higher level. Line numbers start
/// at 1.
struct Section {
  std::string heading;
  std::size_t level = 1;
  std::size_t first_line = 0;  ///< of the heading itself
  std::size_t last_line = 0;   ///< including subsections
};

/// All sections in order. Headings are: Markdown `#` outside of code fences and comments; titles underlined
/// as in Markdown and reStructuredText (levels by order of first use); entries of a Debian changelog; and
/// version lines of plain release notes such as `1.2.3 (2024-01-01)` or `Changes in 1.3`, one level below the
/// last marked heading.
std::vector<Section> find_sections(const std::vector<std::string_view>& lines);

/// The `count` most informative sentences or list items, in order of appearance. Scores a sentence by how
/// often its words occur in the text, favours early ones, and avoids repetition. Deterministic.
std::vector<std::string> summarise(const std::vector<std::string_view>& lines, std::size_t count);

/// The result of `extract_items`.
struct Extract {
  std::string heading;             ///< the first heading of the text
  std::string markdown;            ///< the items below their headings
  std::vector<std::string> items;  ///< each on one line, without its list mark
  std::size_t left_out = 0;
};
/// The list items that match `pattern`, at most `limit`. An item extends to the next item, heading or blank
/// line.
Extract extract_items(const std::vector<std::string_view>& lines, const re2::RE2& pattern, std::size_t limit);

}  // namespace praxis
