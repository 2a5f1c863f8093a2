#include "tools/document.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "base/trimmed.hpp"

namespace praxis {

namespace {

std::string_view trim(std::string_view text) { return trimmed(text, " \t\r"); }

/// The heading and level of a Markdown `## Title ##`.
std::optional<Section> hash_heading(std::string_view line) {
  static const RE2 kPattern(R"( {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*)");
  std::string marks;
  std::string title;
  if (!RE2::FullMatch(line, kPattern, &marks, &title) || title.empty()) return std::nullopt;
  return Section{title, marks.size()};
}

/// Whether a line is a heading because of its text; each comment below is an example.
bool is_version_line(std::string_view line) {
  static const std::string kVersion = R"(\[?[vV]?\d+(?:\.\d+)+[\w.+~-]*\]?)";
  static const std::string kDate =
      R"([ \t]*[-:,–—]*[ \t]*(?:[(\[][^()\[\]]{3,40}[)\]]|\d{4}[-./]\d\d?[-./]\d\d?|\d{1,2}[-. ]\p{L}{3,9}[-. ]\d{4}))";
  static const std::string kKeyword =
      R"((?i:version|release|news (?:for|in)|new in|what'?s new in|(?:[a-z]+ )?changes (?:in|with|for|from|since)))";
  static const std::string kEnd = R"([ \t]*(?i:release)?[ \t]*:?[ \t]*)";
  // 1.2.3 (2024-01-01)
  static const RE2 kBare(kVersion + "(?:" + kDate + ")*" + kEnd);
  // dbus 1.14.10 (2023-09-01)
  static const RE2 kNamed(R"([\w.+-]+[ \t]+)" + kVersion + "(?:" + kDate + ")+" + kEnd);
  // * Noteworthy changes in release 9.1 (2022-04-15) [stable]
  static const RE2 kAnnounced(R"((?:\*+ )?)" + kKeyword + R"((?:[ \t]+\S+){0,5}[ \t]+)" + kVersion +
                              "(?:" + kDate + ")*" + kEnd);
  // zlib (1:1.2.13.dfsg-1) unstable; urgency=low
  static const RE2 kDebian(R"([a-z0-9][a-z0-9+.-]* \([^()\s]+\)(?: [\w.-]+)+;.*\burgency=.*)");
  // 2022-11-02  Jane Doe  <jane@example.org>
  static const RE2 kGnu(R"(\d{4}-\d\d-\d\d[ \t]+\S.*<\S+@\S+>)");
  const auto matches = [text = re2::StringPiece(line)](const RE2& pattern) {
    return RE2::FullMatch(text, pattern);
  };
  return matches(kBare) || matches(kNamed) || matches(kAnnounced) || matches(kDebian) || matches(kGnu);
}

/// The character of a line that consists of at least three equal ones, such as `=====`; 0 otherwise.
char rule_character(std::string_view line) {
  constexpr std::string_view kRules = "=-~^\"'`*+#.:_";
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  if (line.size() < 3 || kRules.find(line[0]) == std::string_view::npos) return 0;
  return line.find_first_not_of(line[0]) == std::string_view::npos ? line[0] : '\0';
}

/// Finds headings line by line, from the top.
class HeadingScanner {
 public:
  explicit HeadingScanner(const std::vector<std::string_view>& lines) : lines_(lines) {
    has_hashes_ =
        std::ranges::any_of(lines, [](std::string_view line) { return hash_heading(line).has_value(); });
  }

  std::vector<Section> scan() {
    for (std::size_t i = skip_front_matter(); i < lines_.size(); ++i) {
      if (in_comment(lines_[i]) || toggles_fence(lines_[i]) || in_fence_) continue;
      if (auto heading = hash_heading(lines_[i])) {
        marked_level_ = heading->level;
        add(std::move(*heading), i);
      } else if (is_underlined(i)) {
        const bool overlined = i > 0 && rule_character(lines_[i - 1]) == lines_[i + 1][0];
        marked_level_ = underline_level(lines_[i + 1][0], overlined);
        add({std::string(trim(lines_[i])), marked_level_}, i);
        ++i;
      } else if (blank(i - 1) && is_version_line(lines_[i])) {
        add({std::string(trim(lines_[i])), marked_level_ + 1}, i);
      }
    }
    return std::move(found_);
  }

 private:
  /// True for blank lines, and for positions beyond the last line.
  bool blank(std::size_t i) const { return i >= lines_.size() || trim(lines_[i]).empty(); }

  void add(Section section, std::size_t line) {
    section.first_line = line + 1;
    found_.push_back(std::move(section));
  }

  std::size_t skip_front_matter() const {
    if (lines_.empty() || lines_[0] != "---") return 0;
    const auto end = std::find(lines_.begin() + 1, lines_.end(), "---");
    return end == lines_.end() ? 0 : static_cast<std::size_t>(end - lines_.begin()) + 1;
  }

  /// Whether the line is part of an HTML comment, such as a template for the next release.
  bool in_comment(std::string_view line) {
    const bool inside = in_comment_ || (!in_fence_ && trim(line).starts_with("<!--"));
    in_comment_ = inside && line.find("-->") == std::string_view::npos;
    return inside;
  }

  bool toggles_fence(std::string_view line) {
    const auto text = trim(line);
    for (std::string_view mark : {"```", "~~~"}) {
      if (!text.starts_with(mark) || (in_fence_ && mark != fence_)) continue;
      // Tildes below a title are an underline; two groups of backticks in one line are inline code.
      if (!in_fence_ && (rule_character(line) == '~' || text.substr(3).find('`') != std::string_view::npos))
        return false;
      fence_ = mark;
      in_fence_ = !in_fence_;
      return true;
    }
    return false;
  }

  /// A title is a single line above its rule, which has the same length or, after a blank line, any length.
  bool is_underlined(std::size_t i) const {
    if (i + 1 >= lines_.size() || blank(i) || rule_character(lines_[i]) != 0) return false;
    const char rule = rule_character(lines_[i + 1]);
    if (rule == 0 || lines_[i].starts_with(' ') || lines_[i].starts_with('\t')) return false;
    const auto title = trim(lines_[i]).size();
    const auto length = trim(lines_[i + 1]).size();
    const bool starts_block = blank(i - 1) || rule_character(lines_[i - 1]) == rule;
    return length == title || (starts_block && (length > title || rule == '=' || rule == '-'));
  }

  /// The level of an underline. Markdown fixes the levels of `=` and `-`; in reStructuredText they follow
  /// from the order of first use.
  std::size_t underline_level(char rule, bool overlined) {
    if (has_hashes_ && rule == '=') return 1;
    if (has_hashes_ && rule == '-') return 2;
    const std::string style = overlined ? std::string(2, rule) : std::string(1, rule);
    auto known = std::ranges::find(styles_, style);
    if (known == styles_.end()) known = styles_.insert(known, style);
    return static_cast<std::size_t>(known - styles_.begin()) + 1;
  }

  const std::vector<std::string_view>& lines_;
  bool has_hashes_ = false;
  bool in_comment_ = false;
  bool in_fence_ = false;
  std::string_view fence_;
  std::size_t marked_level_ = 0;
  std::vector<std::string> styles_;
  std::vector<Section> found_;
};

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Section> find_sections(const std::vector<std::string_view>& lines) {
  std::vector<Section> sections = HeadingScanner(lines).scan();
  std::vector<Section*> open;
  const auto close = [&](std::size_t level, std::size_t last_line) {
    while (!open.empty() && open.back()->level >= level) {
      open.back()->last_line = last_line;
      open.pop_back();
    }
  };
  for (Section& section : sections) {
    close(section.level, section.first_line - 1);
    open.push_back(&section);
  }
  close(0, lines.size());
  return sections;
}

}  // namespace praxis
