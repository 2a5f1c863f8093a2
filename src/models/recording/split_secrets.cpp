#include "models/recording/split_secrets.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace praxis {
namespace {

/// One line; `json` is null when it holds none.
struct Line {
  std::string_view before;  ///< such as `data: `
  std::string_view text;
  Json json;
  bool changed = false;
};

/// One string of the stream, and the line that it belongs to.
struct Piece {
  Line* line;
  Json* json;
};

void collect(Line& line, Json& json, const std::string& path,
             std::map<std::string, std::vector<Piece>>& pieces) {
  if (json.is_string()) {
    pieces[path].push_back({&line, &json});
  } else if (JsonArray* array = json.if_array()) {
    for (Json& one : *array) collect(line, one, path + "/-", pieces);
  } else if (JsonObject* object = json.if_object()) {
    for (auto& member : *object)
      collect(line, member.value(), path + '/' + std::string(member.key()), pieces);
  }
}

/// Whether the member that a path leads to continues in the next event. Others, such as ids, are repeated.
bool is_text(std::string_view path) {
  constexpr std::array<std::string_view, 13> kTexts{
      "content", "text",     "thinking", "reasoning", "reasoning_content",
      "refusal", "response", "delta",    "arguments", "partial_json",
      "input",   "output",   "summary"};
  while (path.ends_with("/-")) path.remove_suffix(2);
  return std::ranges::find(kTexts, path.substr(path.rfind('/') + 1)) != kTexts.end();
}

/// Masks secrets in the text that the pieces form together: its first piece gets the mask.
void mask(std::vector<Piece>& pieces, const redact::Redaction& redaction, bool with_rules) {
  std::string whole;
  for (const Piece& piece : pieces) whole += std::string_view(piece.json->get_string());
  const auto found = with_rules ? redaction.find(whole) : redaction.find_known(whole);
  if (found.empty()) return;
  std::size_t begin = 0;
  for (const Piece& piece : pieces) {
    const std::size_t end = begin + piece.json->get_string().size();
    std::string kept;
    std::size_t at = begin;
    for (const redact::Mask& secret : found) {
      if (secret.end <= begin || secret.begin >= end) continue;
      kept += std::string_view(whole).substr(at, std::max(secret.begin, at) - at);
      if (secret.begin >= begin) kept += secret.text;
      at = std::min(secret.end, end);
    }
    kept += std::string_view(whole).substr(at, end - at);
    if (kept != std::string_view(piece.json->get_string())) {
      *piece.json = Json(kept);
      piece.line->changed = true;
    }
    begin = end;
  }
}

std::vector<Line> lines_of(std::string_view body) {
  std::vector<Line> lines;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size() - 1) + 1;
    const std::string_view text = body.substr(0, end);
    const std::size_t json = std::min(text.find('{'), text.size());
    Line line{text.substr(0, json), text.substr(json), nullptr};
    if (auto parsed = parse_json(line.text)) line.json = *std::move(parsed);
    lines.push_back(std::move(line));
    body.remove_prefix(end);
  }
  return lines;
}

}  // namespace

std::string without_secrets_across_lines(std::string_view body, const redact::Redaction& redaction) {
  if (redaction.is_off()) return std::string(body);
  std::vector<Line> lines = lines_of(body);
  std::map<std::string, std::vector<Piece>> pieces;
  for (Line& line : lines) collect(line, line.json, {}, pieces);
  for (auto& [path, all] : pieces) mask(all, redaction, is_text(path));
  for (Line& line : lines) {  // and those that are whole, such as arguments
    const Json before = line.json;
    redaction.redact(line.json);
    line.changed = line.changed || line.json != before;
  }
  std::string out;
  for (const Line& line : lines) {
    out += line.before;
    if (!line.changed) {
      out += line.text;
      continue;
    }
    const std::size_t json_end = line.text.find_last_not_of(" \t\r\n") + 1;
    out += to_json_text(line.json);
    out += line.text.substr(json_end);
  }
  return out;
}

}  // namespace praxis
