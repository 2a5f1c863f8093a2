#include <algorithm>
#include <array>
#include <utility>

#include "memory/document_lines.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/memory/documents.hpp"

namespace praxis {
namespace {

constexpr std::size_t kLeastPiece = 64;

bool has_no_text(const DocumentLine& line) { return trimmed_line(line.text).empty(); }

/// Cuts lines that are longer than a piece.
std::vector<DocumentLine> with_short_lines(std::vector<DocumentLine> lines, std::size_t most) {
  const bool all_fit =
      std::ranges::all_of(lines, [most](const DocumentLine& line) { return line.text.size() <= most; });
  if (all_fit) return lines;
  std::vector<DocumentLine> result;
  for (DocumentLine& line : lines) {
    std::string_view rest = line.text;
    while (rest.size() > most) {
      std::string_view head = utf8_head(rest, most);
      // Between words, if the line has some.
      if (const std::size_t space = head.rfind(' '); space != std::string_view::npos && space > most / 2)
        head = head.substr(0, space + 1);
      result.push_back({std::string(head), line.number, line.section, line.paragraph, line.heading});
      line.section = false;
      line.paragraph = false;
      rest.remove_prefix(head.size());
    }
    result.push_back({std::string(rest), line.number, line.section, line.paragraph, line.heading});
  }
  return result;
}

/// Packs lines into pieces.
class Packing {
 public:
  Packing(std::vector<DocumentLine> lines, const SplitOptions& options)
      : lines_(std::move(lines)), most_(options.max_bytes), overlap_(options.overlap_bytes) {}

  std::vector<DocumentPiece> pieces() {
    std::size_t repeated = lines_.size();  // the first line that the next piece repeats
    std::size_t fresh = 0;                 // its first line that no piece has yet
    for (;;) {
      while (fresh < lines_.size() && has_no_text(lines_[fresh])) ++fresh;
      if (fresh == lines_.size()) return std::move(pieces_);
      const std::size_t start = fits(repeated, fresh) ? repeated : fresh;
      const auto [end, is_cut] = end_of(start, fresh);
      add(start, fresh, end);
      fresh = end;
      repeated = is_cut ? repeated_before(end) : lines_.size();
    }
  }

 private:
  std::size_t size_of(std::size_t line) const { return lines_[line].text.size() + 1; }

  /// Whether a piece can begin at `start` and still have the line `fresh`.
  bool fits(std::size_t start, std::size_t fresh) const {
    if (start >= fresh) return false;
    std::size_t size = 0;
    for (std::size_t i = start; i <= fresh; ++i) size += size_of(i);
    return size <= most_ + 1;
  }

  /// Where a piece ends, and whether the next one continues its section.
  std::pair<std::size_t, bool> end_of(std::size_t start, std::size_t fresh) const {
    const std::size_t little = most_ / 8, enough = most_ / 3;
    std::size_t size = 0, paragraph = 0;
    for (std::size_t i = start; i < lines_.size(); ++i) {
      // A section that has next to nothing, such as a heading above others, stays with the next one.
      if (i > fresh && lines_[i].section && size >= little) return {i, false};
      if (i > fresh && size + size_of(i) > most_ + 1) return {paragraph == 0 ? i : paragraph, true};
      if (i > fresh && lines_[i].paragraph && size >= enough) paragraph = i;
      size += size_of(i);
    }
    return {lines_.size(), false};
  }

  /// The first of the lines before `end` that the next piece repeats; the number of lines if no such line
  /// follows.
  std::size_t repeated_before(std::size_t end) const {
    std::size_t size = 0, start = end;
    while (start > 0 && !lines_[start].section && size + size_of(start - 1) <= overlap_) {
      size += size_of(start - 1);
      --start;
    }
    while (start < end && has_no_text(lines_[start])) ++start;
    return start < end ? start : lines_.size();
  }

  void add(std::size_t start, std::size_t fresh, std::size_t end) {
    while (end > start && has_no_text(lines_[end - 1])) --end;
    const HeadingText& heading = lines_[fresh].heading;
    DocumentPiece piece{{}, heading ? *heading : std::string(), lines_[start].number, lines_[end - 1].number};
    for (std::size_t i = start; i < end; ++i) piece.text.append(i > start ? "\n" : "").append(lines_[i].text);
    pieces_.push_back(std::move(piece));
  }

  const std::vector<DocumentLine> lines_;
  const std::size_t most_, overlap_;
  std::vector<DocumentPiece> pieces_;
};

struct KindOfEnding {
  std::string_view ending;
  DocumentKind kind;
};

}  // namespace

DocumentKind document_kind_of(std::string_view name) {
  using enum DocumentKind;
  static constexpr auto kKinds = std::to_array<KindOfEnding>(
      {{"md", kMarkdown}, {"markdown", kMarkdown}, {"mkd", kMarkdown}, {"html", kHtml},
       {"htm", kHtml},    {"xhtml", kHtml},        {"c", kCode},       {"cc", kCode},
       {"cpp", kCode},    {"cxx", kCode},          {"h", kCode},       {"hh", kCode},
       {"hpp", kCode},    {"py", kCode},           {"js", kCode},      {"mjs", kCode},
       {"ts", kCode},     {"tsx", kCode},          {"jsx", kCode},     {"go", kCode},
       {"rs", kCode},     {"java", kCode},         {"kt", kCode},      {"rb", kCode},
       {"php", kCode},    {"sh", kCode},           {"bash", kCode},    {"pl", kCode},
       {"pm", kCode},     {"lua", kCode},          {"sql", kCode},     {"cmake", kCode},
       {"swift", kCode},  {"cs", kCode},           {"scala", kCode},   {"toml", kCode},
       {"yaml", kCode},   {"yml", kCode},          {"css", kCode}});
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return kText;
  std::string ending(name.substr(dot + 1));
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto* const found = std::ranges::find(kKinds, ending, &KindOfEnding::ending);
  return found == kKinds.end() ? kText : found->kind;
}

std::vector<DocumentPiece> split_document(std::string_view content, DocumentKind kind,
                                          const SplitOptions& options) {
  SplitOptions bounded = options;
  bounded.max_bytes = std::max(options.max_bytes, kLeastPiece);
  bounded.overlap_bytes = std::min(options.overlap_bytes, bounded.max_bytes / 2);
  const auto lines = [&] {
    switch (kind) {
      case DocumentKind::kText:
        return lines_of_text(content);
      case DocumentKind::kMarkdown:
        return lines_of_markdown(content);
      case DocumentKind::kHtml:
        return lines_of_html(content);
      case DocumentKind::kCode:
        return lines_of_code(content);
    }
    std::unreachable();
  };
  return Packing(with_short_lines(lines(), bounded.max_bytes), bounded).pieces();
}

}  // namespace praxis
