#include "models/chunk_template.hpp"

#include <array>

#include "praxis/base/json.hpp"

namespace praxis::chat {
namespace {

constexpr auto kNpos = std::string_view::npos;

/// Fields that vendors fill with noise of changing length so that sizes tell nothing of the text.
constexpr std::array<std::string_view, 2> kPaddings{"obfuscation", "p"};

/// Position after the opening quote of the string at `key`; kNpos unless `key` occurs exactly once, as the
/// name of a string.
std::size_t find_string(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  const std::size_t at = text.find(quoted);
  if (at == kNpos || text.find(quoted, at + 1) != kNpos) return kNpos;
  const std::size_t colon = text.find_first_not_of(' ', at + quoted.size());
  if (colon == kNpos || text[colon] != ':') return kNpos;
  const std::size_t value = text.find_first_not_of(' ', colon + 1);
  return value == kNpos || text[value] != '"' ? kNpos : value + 1;
}

/// Position of the quote that closes the string whose content starts at `at`; kNpos when there is none, or
/// when it holds what JSON forbids.
std::size_t find_closing_quote(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\')
      ++at;
    else if (static_cast<unsigned char>(text[at]) < 0x20)
      return kNpos;
  }
  return kNpos;
}

/// Resolves escapes. False for those left to the parser.
bool decode(std::string_view escaped, std::string& out) {
  constexpr std::string_view kLetters = R"("\/bfnrt)", kMeanings = "\"\\/\b\f\n\r\t";
  out.clear();
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      out += escaped[i];
      continue;
    }
    const std::size_t letter = kLetters.find(escaped[++i]);
    if (letter == kNpos) return false;
    out += kMeanings[letter];
  }
  return true;
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

void ChunkTemplate::learn(std::string_view chunk, std::string_view field) {
  forget();
  const std::size_t begin = find_string(chunk, field);
  if (begin == kNpos) return;
  const std::size_t end = find_closing_quote(chunk, begin);
  const std::string_view before = chunk.substr(0, begin);
  std::string_view after = chunk.substr(end);
  padded_ = false;
  for (const std::string_view padding : kPaddings) {
    const std::size_t noise = find_string(after, padding);
    if (noise == kNpos) continue;
    padded_ = true;
    suffix_ = after.substr(find_closing_quote(after, noise));
    after = after.substr(0, noise);
    break;
  }
  // An escape might hide a second spelling of the field's name.
  if (before.contains('\\') || after.contains('\\') || (padded_ && suffix_.contains('\\'))) return;
  prefix_ = before;
  middle_ = after;
}

std::optional<std::string_view> ChunkTemplate::match(std::string_view chunk) {
  if (prefix_.empty() || !chunk.starts_with(prefix_)) return std::nullopt;
  const std::size_t begin = prefix_.size();
  const std::size_t end = find_closing_quote(chunk, begin);
  if (end == kNpos || end == begin) return std::nullopt;
  std::string_view rest = chunk.substr(end);
  if (!rest.starts_with(middle_)) return std::nullopt;
  rest.remove_prefix(middle_.size());
  if (padded_) {
    const std::size_t noise_end = find_closing_quote(rest, 0);
    if (noise_end == kNpos || rest.substr(0, noise_end).contains('\\')) return std::nullopt;
    if (rest.substr(noise_end) != suffix_) return std::nullopt;
  } else if (!rest.empty()) {
    return std::nullopt;
  }
  const std::string_view text = chunk.substr(begin, end - begin);
  if (!is_ascii(text) && !is_valid_utf8(text)) return std::nullopt;
  if (!text.contains('\\')) return text;
  return decode(text, decoded_) ? std::optional<std::string_view>(decoded_) : std::nullopt;
}

}  // namespace praxis::chat
