#include "memory/words.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/utf8.hpp"
#include "memory/function_words.hpp"

namespace praxis {
namespace {

/// Decodes a valid UTF-8 sequence of 2 to 4 bytes.
std::uint32_t code_point(std::string_view bytes) {
  constexpr std::uint32_t kLead[] = {0, 0, 0x1F, 0x0F, 0x07};
  std::uint32_t point = static_cast<unsigned char>(bytes[0]) & kLead[bytes.size()];
  for (const char byte : bytes.substr(1)) point = point << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
  return point;
}

/// Appends a code point of two bytes.
void append_two_bytes(std::string& out, std::uint32_t point) {
  out += static_cast<char>(0xC0U | point >> 6U);
  out += static_cast<char>(0x80U | (point & 0x3FU));
}

/// The lower case of a letter whose sequence takes two bytes, if that of its lower case does too.
std::uint32_t lower_point(std::uint32_t point) {
  if ((point >= 0xC0 && point <= 0xDE && point != 0xD7) || (point >= 0x391 && point <= 0x3AB) ||
      (point >= 0x410 && point <= 0x42F))
    return point + 0x20;
  if (point >= 0x400 && point <= 0x40F) return point + 0x50;
  const bool is_even_upper = (point >= 0x100 && point <= 0x12F) || (point >= 0x132 && point <= 0x137) ||
                             (point >= 0x14A && point <= 0x177) || (point >= 0x460 && point <= 0x481);
  if (is_even_upper && point % 2 == 0) return point + 1;
  const bool is_odd_upper = (point >= 0x139 && point <= 0x148) || (point >= 0x179 && point <= 0x17E);
  if (is_odd_upper && point % 2 == 1) return point + 1;
  return point;
}

bool is_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Of the characters beyond ASCII, all but common punctuation and spaces belong to words.
bool is_word_point(std::uint32_t point) {
  const bool is_punctuation = point < 0xAA || (point > 0xAA && point < 0xB2) || point == 0xB4 ||
                              (point >= 0xB6 && point <= 0xB8) || point == 0xBB || point == 0xBF ||
                              point == 0xD7 || point == 0xF7 || (point >= 0x2000 && point <= 0x206F) ||
                              (point >= 0x20A0 && point <= 0x20BF) || (point >= 0x2190 && point <= 0x23FF) ||
                              (point >= 0x3000 && point <= 0x3004) || (point >= 0x3008 && point <= 0x3020) ||
                              (point >= 0xFF00 && point <= 0xFF0F) || point == 0xFFFD || point >= 0x1F000;
  return !is_punctuation;
}

void collect_strings(std::string& out, const Json& value) {
  if (value.is_string()) out.append("\n").append(value.get_string());
  if (const JsonArray* array = value.if_array()) {
    for (const Json& each : *array) collect_strings(out, each);
  }
  if (const JsonObject* object = value.if_object()) {
    for (const auto& [name, member] : *object) collect_strings(out, member);
  }
}

}  // namespace

std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [length, valid] = utf8_step(text);
    const char first = text.front();
    if (length == 1 && valid) {
      out += first >= 'A' && first <= 'Z' ? static_cast<char>(first + 32) : first;
    } else if (length == 2 && valid) {
      append_two_bytes(out, lower_point(code_point(text.substr(0, 2))));
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

std::vector<std::string> words_of(std::string_view folded_text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  while (!folded_text.empty()) {
    const auto [length, valid] = utf8_step(folded_text);
    const std::string_view bytes = folded_text.substr(0, length);
    if (valid && (length == 1 ? is_ascii_word(bytes[0]) : is_word_point(code_point(bytes)))) {
      word.append(bytes);
    } else {
      end_word();
    }
    folded_text.remove_prefix(length);
  }
  end_word();
  return words;
}

std::vector<std::string> query_words(std::string_view query) {
  constexpr std::size_t kMaxQueryBytes = 8192;
  std::vector<std::string> words, fillers;
  for (std::string& word : words_of(folded(query.substr(0, kMaxQueryBytes)))) {
    auto& into = is_function_word(word) ? fillers : words;
    if (into.size() < kMaxQueryWords && std::ranges::find(into, word) == into.end())
      into.push_back(std::move(word));
  }
  // Most texts have them: they cost much time and find little.
  return words.empty() ? fillers : words;
}

bool has_pieces(std::string_view word) {
  constexpr std::ptrdiff_t kPiece = 3;
  constexpr std::size_t kMaxPiece = 64;  // the search takes time and memory by its length
  return word.size() <= kMaxPiece && std::ranges::count_if(word, [](char c) {
                                       return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
                                     }) >= kPiece;
}

std::string searchable_text(std::string_view key, const Json& value) {
  std::string text(key);
  collect_strings(text, value);
  return text;
}

std::vector<std::string> matching_words(const std::vector<std::string>& words, std::string_view text) {
  const std::string content = folded(text);
  std::set<std::string> stems;
  for (const std::string& word : words_of(content)) stems.insert(stem_of(word));
  std::vector<std::string> found;
  for (const std::string& word : words) {
    if (stems.contains(stem_of(word)) || (has_pieces(word) && content.find(word) != std::string::npos))
      found.push_back(word);
  }
  return found;
}

}  // namespace praxis
