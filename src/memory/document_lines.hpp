// A document as lines with the places where it may be split. Each kind of document is read in its own way
// (`document_lines.cpp`, `document_html.cpp`); `document_split.cpp` packs the lines into pieces. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace praxis {

/// Shared by the lines below it: a document can have as many lines as bytes. Null: none.
using HeadingText = std::shared_ptr<const std::string>;

struct DocumentLine {
  std::string text;
  std::size_t number = 0;  ///< in the source, from 1; the parts of a long line have the same
  bool section = false;    ///< a heading or definition starts here
  bool paragraph = false;  ///< a paragraph starts here
  HeadingText heading;     ///< the headings above, of a heading also itself
};

/// The headings that are open at a place, by level.
class HeadingPath {
 public:
  static constexpr std::size_t kLevels = 6;

  /// Opens a heading and closes those of its level and below. `level` from 1.
  void open(std::size_t level, std::string_view title);
  /// Puts `page N` before all headings.
  void turn_to(std::size_t page);
  /// `page 1 > A > B > C`, at most 300 bytes.
  const HeadingText& text() const { return text_; }

 private:
  void compose();

  std::array<std::string, kLevels> titles_;
  std::string page_;
  HeadingText text_;
};

std::vector<DocumentLine> lines_of_text(std::string_view content);
std::vector<DocumentLine> lines_of_markdown(std::string_view content);
std::vector<DocumentLine> lines_of_code(std::string_view content);
std::vector<DocumentLine> lines_of_html(std::string_view content);

/// Without spaces, tabs and line ends at both ends.
std::string_view trimmed_line(std::string_view text);

}  // namespace praxis
