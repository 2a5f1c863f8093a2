#include "policy/flow_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/trimmed.hpp"
#include "json/uri_reference.hpp"

namespace praxis::flow {
namespace {

/// Character classes without a locale; input is UTF-8 in plain form, that is without capital letters.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
/// Joins words into one address, number or path.
bool is_joint(char c) { return std::string_view(".-@/:+%\\~").contains(c); }
/// May be left out of a number or a bank account.
bool is_filler(char c) { return c == ' ' || c == '-'; }

// ---- plain form

/// What stands for a sequence of bytes in a plain form.
struct Replacement {
  std::string_view bytes;
  std::string_view by;
};
constexpr std::array kReplaced{
    Replacement{"\xE2\x80\x98", "'"},  Replacement{"\xE2\x80\x99", "'"}, Replacement{"\xE2\x80\x9C", "\""},
    Replacement{"\xE2\x80\x9D", "\""}, Replacement{"\xE2\x80\x90", "-"}, Replacement{"\xE2\x80\x91", "-"},
    Replacement{"\xE2\x80\x92", "-"},  Replacement{"\xE2\x80\x93", "-"}, Replacement{"\xE2\x80\x94", "-"},
    Replacement{"\xC2\xA0", " "},      Replacement{"\xE2\x80\xAF", " "}, Replacement{"\xE3\x80\x80", " "},
    Replacement{"\xE2\x80\x8B", ""},   Replacement{"\xE2\x80\x8C", ""},  Replacement{"\xE2\x80\x8D", ""},
    Replacement{"\xE2\x80\x8E", ""},   Replacement{"\xE2\x80\x8F", ""},  Replacement{"\xE2\x81\xA0", ""},
    Replacement{"\xEF\xBB\xBF", ""},   Replacement{"\xC2\xAD", ""},
};

const Replacement* replacement_at(std::string_view rest) {
  if (!is_wide(rest.front())) return nullptr;
  const auto* const found =
      std::ranges::find_if(kReplaced, [&](const Replacement& each) { return rest.starts_with(each.bytes); });
  return found == kReplaced.end() ? nullptr : found;
}

void put(std::string& out, char c) {
  const bool is_space = c == ' ' || (c >= '\t' && c <= '\r');
  if (is_space && (out.empty() || out.back() == ' ')) return;
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  out.push_back(is_space ? ' ' : c);
}

// ---- whole values

/// Whether a value may begin at `at`.
bool begins_here(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char before = text[at - 1];
  if (is_word(before)) return false;
  if (is_wide(before)) {
    std::size_t lead = at - 1;
    while (lead > 0 && (static_cast<unsigned char>(text[lead]) & 0xC0U) == 0x80U) --lead;
    return static_cast<unsigned char>(text[lead]) >= 0xE0U;  // no letter of an alphabet with two bytes
  }
  if (!is_joint(before) || at < 2) return true;
  if (before == ':') return !is_digit(text[at]);  // `to:NAME`, but not the port of a host
  return !is_word(text[at - 2]) && !is_wide(text[at - 2]);
}

/// Whether a value may end before `at`.
bool ends_here(std::string_view text, std::size_t at) {
  if (at >= text.size()) return true;
  const char next = text[at];
  if (is_word(next)) return false;
  if (is_wide(next)) return static_cast<unsigned char>(next) >= 0xE0U;
  return !is_joint(next) || at + 1 >= text.size() || (!is_word(text[at + 1]) && !is_wide(text[at + 1]));
}

bool has_whole(std::string_view text, std::string_view value) {
  for (auto at = text.find(value); at != std::string_view::npos; at = text.find(value, at + 1)) {
    if (begins_here(text, at) && ends_here(text, at + value.size())) return true;
  }
  return false;
}

/// A number or bank account: letters and digits in groups, with at least six digits.
bool is_number_like(std::string_view value) {
  const auto fits = [](char c) { return is_digit(c) || is_letter(c) || is_filler(c) || c == '+'; };
  return std::ranges::all_of(value, fits) && std::ranges::count_if(value, is_digit) >= 6 &&
         std::ranges::count_if(value, is_letter) * 2 <= std::ranges::count_if(value, is_digit);
}

/// Returns the end of `value` in `text` from `at` on, where both may have fillers; npos: it is not there.
std::size_t end_of_loose(std::string_view text, std::size_t at, std::string_view value) {
  std::size_t i = at;
  for (const char c : value) {
    if (is_filler(c)) continue;
    while (i > at && i < text.size() && is_filler(text[i])) ++i;
    if (i >= text.size() || text[i] != c) return std::string_view::npos;
    ++i;
  }
  return i;
}

bool has_number(std::string_view text, std::string_view value, bool whole) {
  if (!is_number_like(value)) return false;
  const char first = *std::ranges::find_if_not(value, is_filler);
  for (auto at = text.find(first); at != std::string_view::npos; at = text.find(first, at + 1)) {
    const std::size_t end = end_of_loose(text, at, value);
    if (end == std::string_view::npos) continue;
    if (!whole || (begins_here(text, at) && ends_here(text, end))) return true;
  }
  return false;
}

/// A URL without its scheme and last slash, a path without `./`.
std::string_view core_of(std::string_view value) {
  value = trimmed(value, " \"'`<>,;");
  for (const std::string_view scheme : {"https://", "http://", "mailto:", "./"}) {
    if (value.starts_with(scheme)) {
      value.remove_prefix(scheme.size());
      break;
    }
  }
  while (value.size() > 1 && value.ends_with('/')) value.remove_suffix(1);
  return value;
}

// ---- near copies

std::vector<std::uint64_t> sequences_of(std::string_view text) {
  std::vector<std::uint64_t> words, sequences;
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > begin) words.push_back(std::hash<std::string_view>()(text.substr(begin, end - begin)));
    begin = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_word(text[i]) && !is_wide(text[i])) end_word(i);
  }
  end_word(text.size());
  for (std::size_t i = 2; i < words.size(); ++i) {
    std::uint64_t mixed = words[i - 2];
    for (const std::uint64_t word : {words[i - 1], words[i]}) mixed = (mixed * 1'099'511'628'211U) ^ word;
    sequences.push_back(mixed);
  }
  std::ranges::sort(sequences);
  const auto repeated = std::ranges::unique(sequences);
  sequences.erase(repeated.begin(), repeated.end());
  return sequences;
}

// ---- addresses

/// Endings of host names without a scheme that are not also endings of files.
constexpr std::array<std::string_view, 40> kEndings{
    "com",   "net",  "org",  "info",   "biz",  "io",    "dev",  "app",  "co",    "me",
    "xyz",   "top",  "site", "online", "link", "click", "live", "shop", "store", "tech",
    "cloud", "page", "ai",   "ru",     "cn",   "tk",    "gq",   "ga",   "ly",    "to",
    "de",    "uk",   "eu",   "fr",     "nl",   "us",    "edu",  "gov",  "int",   "onion"};

bool is_host(std::string_view host) {
  const auto dot = host.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == host.size()) return false;
  const auto fits = [](char c) { return is_word(c) || c == '.' || c == '-' || is_wide(c); };
  return std::ranges::all_of(host, fits) && !host.contains("..");
}

bool is_bank_account(std::string_view word) {
  if (word.size() < 15 || word.size() > 34) return false;
  const bool begins = is_letter(word[0]) && is_letter(word[1]) && is_digit(word[2]) && is_digit(word[3]);
  return begins && std::ranges::all_of(word, [](char c) { return is_letter(c) || is_digit(c); }) &&
         std::ranges::count_if(word, is_digit) >= 8;
}

/// The address in one word of a text.
std::optional<std::string_view> address_in_word(std::string_view word) {
  while (!word.empty() && std::string_view(".:!?,-_/=").contains(word.back())) word.remove_suffix(1);
  if (const auto scheme = word.find("://"); scheme != std::string_view::npos && scheme > 0) {
    std::size_t begin = scheme;
    while (begin > 0 && (is_letter(word[begin - 1]) || is_digit(word[begin - 1]))) --begin;
    if (word.size() > scheme + 3) return word.substr(begin);
  }
  const std::string_view host = word.substr(0, word.find_first_of("/:?#"));
  if (host.starts_with("www.") && is_host(host)) return word;
  if (const auto at = word.find('@'); at != std::string_view::npos && at > 0 && at + 1 < word.size()) {
    std::size_t begin = at;
    while (begin > 0 && (is_word(word[begin - 1]) || std::string_view(".-+%").contains(word[begin - 1])))
      --begin;
    const std::string_view domain = word.substr(at + 1, word.find_first_of("/:?#", at) - at - 1);
    if (begin < at && is_host(domain)) return word.substr(begin, at + 1 + domain.size() - begin);
  }
  if (is_host(host) && std::ranges::count(kEndings, host.substr(host.rfind('.') + 1)) > 0) return word;
  if (is_bank_account(word)) return word;
  return std::nullopt;
}

/// A bank account that is written in groups and begins at `at`; empty if no account does.
std::string_view grouped_account(std::string_view text, std::size_t at) {
  std::string squeezed;
  std::size_t end = at;
  std::size_t group = 0;
  for (std::size_t i = at; i < text.size() && squeezed.size() < 34; ++i) {
    if (is_digit(text[i]) || is_letter(text[i])) {
      if (++group > 4) break;
      squeezed.push_back(text[i]);
      end = i + 1;
    } else if (is_filler(text[i]) && group > 0) {
      if (group < 4 && squeezed.size() >= 15) break;
      group = 0;
    } else {
      break;
    }
  }
  return is_bank_account(squeezed) && end - at > squeezed.size() ? text.substr(at, end - at) : "";
}

}  // namespace

std::string plain_form(std::string_view text) {
  const std::string decoded = percent_decode(percent_decode(text));
  std::string out;
  out.reserve(decoded.size());
  for (std::size_t i = 0; i < decoded.size();) {
    const std::string_view rest = std::string_view(decoded).substr(i);
    if (const Replacement* const replaced = replacement_at(rest)) {
      for (const char c : replaced->by) put(out, c);
      i += replaced->bytes.size();
    } else {
      put(out, decoded[i++]);
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

bool names(std::string_view text, std::string_view value) {
  const std::string_view core = core_of(value);
  return !core.empty() && (has_whole(text, core) || has_number(text, core, true));
}

bool contains(std::string_view text, std::string_view value) {
  const std::string_view core = core_of(value);
  return !core.empty() && (text.contains(core) || has_number(text, core, false));
}

bool resembles(std::string_view text, std::string_view value) {
  const std::vector<std::uint64_t> wanted = sequences_of(value);
  if (wanted.size() < 4) return false;
  const std::vector<std::uint64_t> there = sequences_of(text);
  const auto shared = std::ranges::count_if(
      wanted, [&](std::uint64_t each) { return std::ranges::binary_search(there, each); });
  return static_cast<std::size_t>(shared) * 2 >= wanted.size();
}

std::vector<std::string> addresses_in(std::string_view text) {
  constexpr std::string_view kBetween = " \"'`<>()[]{}|,;*";
  std::vector<std::string> found;
  const auto add = [&](std::string_view address) {
    if (std::ranges::find(found, address) == found.end()) found.emplace_back(address);
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    if (const auto address = address_in_word(text.substr(begin, end - begin))) add(*address);
    if (end - begin == 4) {
      if (const std::string_view account = grouped_account(text, begin); !account.empty()) add(account);
    }
    begin = end + 1;
  }
  return found;
}

}  // namespace praxis::flow
