#include "memory/document_lines.hpp"

#include <algorithm>
#include <optional>

#include "base/trimmed.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

/// The lines without their ends, numbered, with the paragraphs that blank lines make. Of more than two blank
/// lines in a row, two are kept: a document may have little else.
std::vector<DocumentLine> plain_lines(std::string_view content) {
  constexpr std::size_t kMostBlank = 2;
  std::vector<DocumentLine> lines;
  std::size_t blank = 1;  // blank lines just before
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = content.find('\n');
    std::string_view line = content.substr(0, end);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool has_text = !trimmed_line(line).empty();
    if (has_text || blank < kMostBlank || line.find('\f') != std::string_view::npos) {
      lines.push_back({is_valid_utf8(line) ? std::string(line) : repair_utf8(line),
                       number,
                       false,
                       has_text && blank > 0,
                       {}});
    }
    blank = has_text ? 0 : blank + 1;
  }
  return lines;
}

/// The character of a line of at least three equal marks that underline a title; 0 for any other line.
char underline_of(std::string_view line, std::string_view marks) {
  line = trimmed_line(line);
  if (line.size() < 3 || marks.find(line[0]) == std::string_view::npos) return 0;
  return line.find_first_not_of(line[0]) == std::string_view::npos ? line[0] : '\0';
}

/// The mark under a title: a line that begins a paragraph in the first column. 0 for no match.
char underlined(const std::vector<DocumentLine>& lines, std::size_t at, std::string_view marks) {
  constexpr std::size_t kMaxTitle = 200;
  if (at + 1 >= lines.size()) return 0;
  const std::string& title = lines[at].text;
  const bool may_be_title = lines[at].paragraph && !title.empty() && title.size() <= kMaxTitle &&
                            title[0] != ' ' && title[0] != '\t' && underline_of(title, marks) == 0;
  return may_be_title ? underline_of(lines[at + 1].text, marks) : '\0';
}

struct MarkedTitle {
  std::size_t level = 0;
  std::string_view title;
};

/// The heading of a line such as `## Title ##`.
std::optional<MarkedTitle> hash_title(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(indent);
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  if (indent > 3 || level == 0 || level > HeadingPath::kLevels) return std::nullopt;
  line.remove_prefix(level);
  if (!line.empty() && line[0] != ' ' && line[0] != '\t') return std::nullopt;
  std::string_view title = trimmed_line(line);
  while (title.ends_with('#')) title.remove_suffix(1);
  return MarkedTitle{level, trimmed_line(title)};
}

/// Whether the line opens or closes a fence, and of which mark.
char fence_of(std::string_view line) {
  line = trimmed_line(line);
  if (line.starts_with("```")) return '`';
  return line.starts_with("~~~") ? '~' : '\0';
}

/// Whether a line of source code says nothing about what is defined below it.
bool is_remark(std::string_view line) {
  line = trimmed_line(line);
  for (const std::string_view mark : {"//", "#", "/*", "*", "--", ";", "@", "\"\"\"", "%", "template"}) {
    if (line.starts_with(mark)) return true;
  }
  return line.empty();
}

/// What the block of source code that starts here defines: its first line that is no remark.
std::string definition_at(const std::vector<DocumentLine>& lines, std::size_t at) {
  constexpr std::size_t kMaxTitle = 100;
  for (std::size_t i = at; i < lines.size() && !trimmed_line(lines[i].text).empty(); ++i) {
    if (!is_remark(lines[i].text)) return std::string(utf8_head(trimmed_line(lines[i].text), kMaxTitle));
  }
  return {};
}

}  // namespace

std::string_view trimmed_line(std::string_view text) { return trimmed(text, kBlanks); }

void HeadingPath::open(std::size_t level, std::string_view title) {
  constexpr std::size_t kMaxTitle = 200;
  const std::size_t index = std::clamp<std::size_t>(level, 1, kLevels) - 1;
  titles_.at(index) = utf8_head(title, kMaxTitle);
  for (std::size_t i = index + 1; i < kLevels; ++i) titles_.at(i).clear();
  compose();
}

void HeadingPath::turn_to(std::size_t page) {
  page_ = "page " + std::to_string(page);
  compose();
}

void HeadingPath::compose() {
  constexpr std::size_t kMaxPath = 300;
  std::string path = page_;
  for (const std::string& title : titles_) {
    if (!title.empty()) path.append(path.empty() ? "" : " > ").append(title);
  }
  text_ = std::make_shared<const std::string>(utf8_head(path, kMaxPath));
}

std::vector<DocumentLine> lines_of_text(std::string_view content) {
  auto lines = plain_lines(content);
  HeadingPath path;
  std::string marks_used;  // the level of an underline is the order of its first use
  std::size_t page = content.find('\f') == std::string_view::npos ? 0 : 1;
  if (page > 0) path.turn_to(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // A form feed begins a page, as in the text of a PDF.
    if (const auto feeds = std::ranges::count(lines[i].text, '\f'); feeds > 0) {
      page += static_cast<std::size_t>(feeds);
      path.turn_to(page);
    }
    if (const char mark = underlined(lines, i, "=-~^\"*+#"); mark != 0) {
      std::size_t level = marks_used.find(mark);
      if (level == std::string::npos) {
        level = marks_used.size();
        marks_used += mark;
      }
      path.open(level + 1, trimmed_line(lines[i].text));
      lines[i].section = true;
    }
    lines[i].heading = path.text();
  }
  return lines;
}

std::vector<DocumentLine> lines_of_markdown(std::string_view content) {
  auto lines = plain_lines(content);
  HeadingPath path;
  char fence = 0;  // the mark of the fence that is open
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char mark = fence_of(lines[i].text);
    if (fence != 0) {
      lines[i].paragraph = false;
    } else if (const auto title = hash_title(lines[i].text)) {
      path.open(title->level, title->title);
      lines[i].section = true;
    } else if (const char line = underlined(lines, i, "=-"); line != 0) {
      path.open(line == '=' ? 1 : 2, trimmed_line(lines[i].text));
      lines[i].section = true;
    }
    if (mark != 0 && (fence == 0 || fence == mark)) fence = fence == 0 ? mark : '\0';
    lines[i].heading = path.text();
  }
  return lines;
}

std::vector<DocumentLine> lines_of_code(std::string_view content) {
  constexpr std::string_view kContinues = " \t})]";
  auto lines = plain_lines(content);
  HeadingText heading;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    DocumentLine& line = lines[i];
    if (line.paragraph && kContinues.find(line.text[0]) == std::string_view::npos) {
      line.section = true;
      heading = std::make_shared<const std::string>(definition_at(lines, i));
    }
    line.heading = heading;
  }
  return lines;
}

}  // namespace praxis
