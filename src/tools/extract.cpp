// Extracts matching list items, including those that span several lines.
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/trimmed.hpp"

#include "tools/document.hpp"

namespace praxis {

namespace {

/// The text after the mark of a list item; empty for any other line.
std::string item_text(std::string_view line) {
  static const RE2 kItem(R"([ \t]*(?:[-*+•]|\d+[.)])[ \t]+(\S.*?)[ \t]*)");
  std::string text;
  RE2::FullMatch(line, kItem, &text);
  return text;
}

class Extractor {
 public:
  Extractor(const RE2& pattern, std::size_t limit) : pattern_(pattern), limit_(limit) {}

  void open(const Section& section) {
    end_item();
    if (found_.heading.empty()) found_.heading = section.heading;
    while (!pending_.empty() && pending_.back().level >= section.level) pending_.pop_back();
    depth_ = std::min(depth_, section.level);
    pending_.push_back(section);
  }

  void look_at(std::string_view line) {
    const std::string text = item_text(line);
    const std::string_view rest = trimmed(line, " \t");
    if (!text.empty() || rest.empty()) end_item();
    if (!text.empty()) {
      item_ = text;
    } else if (!item_.empty()) {
      item_ += ' ';
      item_ += rest;
    }
  }

  Extract result() && {
    end_item();
    return std::move(found_);
  }

 private:
  void end_item() {
    const std::string item = std::exchange(item_, {});
    if (item.empty() || !RE2::PartialMatch(item, pattern_)) return;
    if (found_.items.size() == limit_) {
      ++found_.left_out;
      return;
    }
    for (Section& section : pending_) {
      if (section.heading.empty()) continue;
      if (!found_.markdown.empty() && !found_.markdown.ends_with("\n\n")) found_.markdown += '\n';
      found_.markdown += std::string(std::min<std::size_t>(section.level - depth_ + 3, 6), '#') + ' ' +
                         std::exchange(section.heading, {}) + "\n\n";
    }
    found_.markdown += "- " + item + '\n';
    found_.items.push_back(item);
  }

  const RE2& pattern_;
  std::size_t limit_;
  std::size_t depth_ = 6;         ///< highest heading level so far
  std::vector<Section> pending_;  ///< enclosing headings; the text of those already written is cleared
  std::string item_;
  Extract found_;
};

}  // namespace

Extract extract_items(const std::vector<std::string_view>& lines, const RE2& pattern, std::size_t limit) {
  const std::vector<Section> sections = find_sections(lines);
  auto next = sections.begin();
  Extractor extractor(pattern, limit);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (next != sections.end() && next->first_line == i + 1) {
      extractor.open(*next++);
    } else {
      extractor.look_at(lines[i]);
    }
  }
  return std::move(extractor).result();
}

}  // namespace praxis
