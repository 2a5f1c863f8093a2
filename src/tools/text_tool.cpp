#include "praxis/tools/text_tool.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/document.hpp"
#include "tools/line_search.hpp"

namespace praxis {

namespace {

constexpr const char* kTextDescription =
    "Works on the text given in `text`. `sections` lists its headings with level and line numbers; with "
    "`heading`, it "
    "returns the full text of the sections whose heading contains those words. `match` returns the lines "
    "that match "
    "the regular expression `pattern`, with line numbers; `extract` returns the list items that do, whole "
    "and below "
    "their headings, as Markdown. `summary` picks the sentences that say most.";

constexpr std::size_t kMaxText = 8 * 1024 * 1024;

enum class TextOp { kSections, kMatch, kExtract, kSummary };
PRAXIS_ENUM(TextOp, kSections, kMatch, kExtract, kSummary)

struct TextRequest {
  TextOp op;
  std::string text;
  arg<std::optional<std::string>, "For sections: words in the heading, such as a version number; any case">
      heading;
  arg<std::optional<std::string>, "For match and extract: RE2 syntax; (?i) at the start ignores case">
      pattern;
  arg<std::optional<std::uint32_t>, "Most sections, lines or items to return; 100 if absent"> limit;
  arg<std::optional<std::uint32_t>, "For summary; 5 if absent"> max_sentences;
};
PRAXIS_FIELDS(TextRequest, op, text, heading, pattern, limit, max_sentences)

using Lines = std::vector<std::string_view>;

std::string text_of(const Lines& lines, const Section& section) {
  std::string text;
  for (std::size_t i = section.first_line - 1; i < section.last_line; ++i) {
    text += std::string(lines[i]) + "\n";
  }
  return text;
}

Json section_json(const Section& section) {
  return {{"level", section.level},
          {"heading", section.heading},
          {"first_line", section.first_line},
          {"last_line", section.last_line}};
}

/// Sections whose heading matches, except those inside a section already selected.
std::vector<Section> matching(std::vector<Section> sections, const std::string& heading) {
  std::vector<Section> taken;
  for (Section& section : sections) {
    if (!taken.empty() && section.first_line <= taken.back().last_line) continue;
    if (lower_case(section.heading).contains(lower_case(heading))) taken.push_back(std::move(section));
  }
  return taken;
}

ToolOutput sections(const Lines& lines, const std::optional<std::string>& heading, std::size_t limit) {
  std::vector<Section> found = find_sections(lines);
  const std::size_t all = found.size();
  if (heading) found = matching(std::move(found), *heading);
  ToolOutput output;
  JsonArray listed;
  for (const Section& section : found) {
    if (listed.size() == limit) {
      output.text += "[" + std::to_string(found.size() - limit) + " more]\n";
      break;
    }
    Json entry = section_json(section);
    if (heading) {
      entry.get_object()["text"] = text_of(lines, section);
      output.text += text_of(lines, section);
    } else {
      output.text += std::string(2 * (section.level - 1), ' ') + section.heading + " (lines " +
                     std::to_string(section.first_line) + "-" + std::to_string(section.last_line) + ")\n";
    }
    listed.push_back(std::move(entry));
  }
  if (listed.empty()) {
    output.text = heading && all > 0
                      ? "none of the " + std::to_string(all) + " headings contains \"" + *heading + "\""
                      : "the text has no headings";
  }
  output.value = {{"sections", std::move(listed)}};
  return output;
}

Result<ToolOutput> match_lines(const Lines& lines, const std::string& pattern, std::size_t limit) {
  auto search = LineSearch::compile(pattern, limit);
  if (!search) return fail(std::move(search.error()));
  for (std::size_t i = 0; i < lines.size() && !search->full(); ++i) search->look_at("", i + 1, lines[i]);
  return std::move(*search).output();
}

Result<ToolOutput> extract(const Lines& lines, const std::string& pattern, std::size_t limit) {
  auto compiled = compile_pattern(pattern);
  if (!compiled) return fail(std::move(compiled.error()));
  Extract found = extract_items(lines, **compiled, limit);
  if (found.items.empty()) {
    found.markdown =
        "no list item " + (found.heading.empty() ? "" : "below \"" + found.heading + "\" ") + "matches\n";
  }
  ToolOutput output{found.markdown, nullptr, {}, {}};
  if (found.left_out > 0) output.text += "[" + std::to_string(found.left_out) + " more]\n";
  output.value = {{"heading", found.heading},
                  {"markdown", found.markdown},
                  {"items", JsonArray(found.items.begin(), found.items.end())}};
  return output;
}

ToolOutput summary(const Lines& lines, std::size_t count) {
  ToolOutput output;
  JsonArray sentences;
  for (const std::string& sentence : summarise(lines, count)) {
    output.text += sentence + "\n";
    sentences.emplace_back(sentence);
  }
  if (sentences.empty()) output.text = "the text has no sentences";
  output.value = {{"sentences", std::move(sentences)}};
  return output;
}

Result<ToolOutput> work_on_text(const TextRequest& request) {
  if (request.text.size() > kMaxText)
    return fail(ErrorCode::kInput, "/text is longer than 8 MiB; pass a part of it");
  const Lines lines = split_lines(request.text);
  const std::size_t limit = std::clamp<std::size_t>(request.limit.value_or(100), 1, 1000);
  switch (request.op) {
    case TextOp::kSections:
      return sections(lines, request.heading, limit);
    case TextOp::kMatch:
      if (!request.pattern) return fail(ErrorCode::kInput, "/pattern is missing: match needs it");
      return match_lines(lines, *request.pattern, limit);
    case TextOp::kExtract:
      if (!request.pattern) return fail(ErrorCode::kInput, "/pattern is missing: extract needs it");
      return extract(lines, *request.pattern, limit);
    default:
      return summary(lines, std::clamp<std::size_t>(request.max_sentences.value_or(5), 1, 100));
  }
}

}  // namespace

Tool text_tool() {
  Tool tool = make_tool("text", kTextDescription, work_on_text);
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

}  // namespace praxis
