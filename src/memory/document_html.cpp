// The visible text of HTML, line by line. No parser of the standard: tags that are wrong cost layout, never
// text, and nothing is executed or fetched.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "memory/document_lines.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis {
namespace {

struct NamedCharacter {
  std::string_view name, text;
};
constexpr auto kNamedCharacters = std::to_array<NamedCharacter>(
    {{"amp", "&"},   {"lt", "<"},    {"gt", ">"},     {"quot", "\""},  {"apos", "'"},   {"nbsp", " "},
     {"mdash", "—"}, {"ndash", "–"}, {"hellip", "…"}, {"copy", "©"},   {"lsquo", "‘"},  {"rsquo", "’"},
     {"ldquo", "“"}, {"rdquo", "”"}, {"middot", "·"}, {"bull", "•"},   {"times", "×"},  {"rarr", "→"},
     {"larr", "←"},  {"auml", "ä"},  {"ouml", "ö"},   {"uuml", "ü"},   {"Auml", "Ä"},   {"Ouml", "Ö"},
     {"Uuml", "Ü"},  {"szlig", "ß"}, {"eacute", "é"}, {"egrave", "è"}, {"agrave", "à"}, {"ccedil", "ç"},
     {"laquo", "«"}, {"raquo", "»"}, {"shy", ""},     {"deg", "°"},    {"plusmn", "±"}, {"sect", "§"}});

constexpr auto kBlockTags = std::to_array<std::string_view>(
    {"address", "article", "aside", "blockquote", "body",  "br",  "dd",    "div",    "dl", "dt",
     "figure",  "footer",  "form",  "h1",         "h2",    "h3",  "h4",    "h5",     "h6", "head",
     "header",  "hr",      "html",  "li",         "main",  "nav", "ol",    "option", "p",  "pre",
     "section", "table",   "tbody", "td",         "tfoot", "th",  "thead", "title",  "tr", "ul"});
constexpr auto kHiddenTags =
    std::to_array<std::string_view>({"script", "style", "template", "noscript", "svg"});

/// A code point as UTF-8; nothing for one that cannot be.
std::string utf8_of(std::uint32_t point) {
  constexpr std::uint32_t kLast = 0x10FFFF;
  if (point == 0 || point > kLast || (point >= 0xD800 && point <= 0xDFFF)) return {};
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0U | point >> 6U), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xE0U | point >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | point >> 18U), tail(12), tail(6), tail(0)};
}

/// What stands between `&` and `;`.
std::optional<std::string> character_named(std::string_view name) {
  if (name.starts_with('#')) {
    name.remove_prefix(1);
    const int base = name.starts_with('x') || name.starts_with('X') ? 16 : 10;
    if (base == 16) name.remove_prefix(1);
    std::uint32_t point = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), point, base);
    if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) return std::nullopt;
    return utf8_of(point);
  }
  const auto* const found = std::ranges::find(kNamedCharacters, name, &NamedCharacter::name);
  if (found == kNamedCharacters.end()) return std::nullopt;
  return std::string(found->text);
}

/// A tag such as `<h2 class="a">`.
struct HtmlTag {
  std::string name;  ///< in lower case
  bool closes = false;
  std::size_t size = 0;  ///< of its text, with both angle brackets
};

/// The tag that starts here; nothing if the `<` is text.
std::optional<HtmlTag> tag_at(std::string_view rest) {
  HtmlTag tag;
  std::size_t at = 1;
  if (rest.size() > at && rest[at] == '/') {
    tag.closes = true;
    ++at;
  }
  for (; at < rest.size(); ++at) {
    const char c = rest[at] >= 'A' && rest[at] <= 'Z' ? static_cast<char>(rest[at] + 32) : rest[at];
    const bool is_digit = c >= '0' && c <= '9';
    if ((c < 'a' || c > 'z') && (tag.name.empty() || !is_digit)) break;
    tag.name += c;
  }
  if (tag.name.empty()) return std::nullopt;
  char quote = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      tag.size = at + 1;
      return tag;
    }
  }
  tag.size = rest.size();
  return tag;
}

/// Reads the text once from front to back.
class HtmlText {
 public:
  explicit HtmlText(std::string_view content) : rest_(content) {}

  std::vector<DocumentLine> lines() {
    while (!rest_.empty()) step();
    end_line();
    return std::move(lines_);
  }

 private:
  void step() {
    const char c = rest_.front();
    if (c == '<') return markup();
    if (c == '&') return character();
    if (c == '\n' && level_ == 0) end_line();  // a heading is one line
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (!text_.empty() && text_.back() != ' ') text_ += ' ';
    } else {
      add(rest_.substr(0, 1));
    }
    skip(1);
  }

  void add(std::string_view text) {
    if (text_.empty()) started_ = number_;
    text_.append(text);
  }

  void skip(std::size_t bytes) {
    number_ += static_cast<std::size_t>(std::ranges::count(rest_.substr(0, bytes), '\n'));
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  /// Skips what ends with `end`, or all that is left.
  void skip_past(std::string_view end) {
    const std::size_t at = rest_.find(end);
    skip(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  /// Skips the content of an element, up to its closing tag in any case.
  void skip_to_closing(const std::string& name) {
    const auto same = [](char a, char b) {
      return a == b || (a >= 'A' && a <= 'Z' && static_cast<char>(a + 32) == b);
    };
    const auto found = std::ranges::search(rest_, "</" + name, same);
    skip(static_cast<std::size_t>(found.begin() - rest_.begin()));
  }

  void markup() {
    if (rest_.starts_with("<!--")) return skip_past("-->");
    if (rest_.starts_with("<!") || rest_.starts_with("<?")) return skip_past(">");
    const auto tag = tag_at(rest_);
    if (!tag) {
      add("<");
      return skip(1);
    }
    skip(tag->size);
    if (!tag->closes && std::ranges::find(kHiddenTags, tag->name) != kHiddenTags.end())
      return skip_to_closing(tag->name);
    if (std::ranges::find(kBlockTags, tag->name) == kBlockTags.end()) return;
    end_line();
    paragraph_ = true;
    if (tag->name.size() == 2 && tag->name[0] == 'h' && tag->name[1] >= '1' && tag->name[1] <= '6')
      level_ = tag->closes ? 0 : static_cast<std::size_t>(tag->name[1] - '0');
  }

  void character() {
    constexpr std::size_t kLongestName = 12;
    const std::size_t end = rest_.substr(0, kLongestName).find(';');
    const auto named =
        end == std::string_view::npos ? std::nullopt : character_named(rest_.substr(1, end - 1));
    add(named ? *named : "&");
    skip(named ? end + 1 : 1);
  }

  void end_line() {
    const std::string_view bytes = trimmed_line(text_);
    if (!bytes.empty()) {
      std::string text = is_valid_utf8(bytes) ? std::string(bytes) : repair_utf8(bytes);
      const bool is_heading = level_ > 0;
      if (is_heading) path_.open(level_, text);
      lines_.push_back({std::move(text), started_, is_heading, paragraph_, path_.text()});
      paragraph_ = false;
    }
    text_.clear();
  }

  std::string_view rest_;
  std::size_t number_ = 1;
  std::string text_;         ///< of the line in progress
  std::size_t started_ = 1;  ///< the number of its first line
  bool paragraph_ = true;
  std::size_t level_ = 0;  ///< of the heading in progress; 0: none
  HeadingPath path_;
  std::vector<DocumentLine> lines_;
};

}  // namespace

std::vector<DocumentLine> lines_of_html(std::string_view content) { return HtmlText(content).lines(); }

}  // namespace praxis
