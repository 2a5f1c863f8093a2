// Texts that the rules must find, generated from their expressions: no fake key stands in the sources.
#pragma once

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "praxis/base/base64.hpp"
#include "redact/checks.hpp"
#include "redact/detector.hpp"
#include "redact/letters.hpp"

namespace praxis::redact {

/// A text that holds what a rule finds.
struct Example {
  std::string text;
  std::string value;  ///< what must not remain
};

/// Writes random texts that an expression matches. Knows the parts of RE2 that the rules use.
class TextOfPattern {
 public:
  TextOfPattern(std::string_view pattern, std::mt19937& random) : pattern_(pattern), random_(random) {}

  Example write() {
    std::string text = alternatives();
    std::string value = group_ ? text.substr(group_->first, group_->second - group_->first) : text;
    return {std::move(text), std::move(value)};
  }

 private:
  std::size_t choose(std::size_t count) { return random_() % count; }
  bool take(std::string_view token) {
    if (!pattern_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  /// Reads all alternatives, keeps a random one. `written_` counts the bytes before the current part.
  std::string alternatives() {
    const std::size_t begin = written_;
    const auto group = group_;
    std::string kept = sequence();
    std::size_t count = 1;
    while (take("|")) {
      const auto before = group_;
      written_ = begin;
      group_ = group;
      std::string other = sequence();
      if (choose(++count) == 0) {
        kept = std::move(other);
      } else {
        group_ = before;
      }
    }
    written_ = begin + kept.size();
    return kept;
  }

  std::string sequence() {
    std::string out;
    while (at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      const std::size_t begin = at_;
      const std::size_t before = written_;
      std::string part = atom();
      const std::size_t count = repetitions();
      const std::size_t end = at_;
      if (count == 0) part.clear();
      for (std::size_t i = 1; i < count; ++i) {
        at_ = begin;
        part += atom();
      }
      at_ = end;
      written_ = before + part.size();
      out += part;
    }
    return out;
  }

  std::string atom() {
    const std::size_t begin = written_;
    if (take("(?:") || take("(?i:")) {
      std::string out = alternatives();
      ++at_;
      return out;
    }
    if (take("(")) {
      const bool is_first = !in_group_;
      in_group_ = true;
      std::string out = alternatives();
      if (is_first) group_ = {begin, begin + out.size()};
      ++at_;
      return out;
    }
    std::string out;
    if (take("[")) {
      out = one_of_class();
    } else if (take("\\")) {
      out = escaped(pattern_[at_++]);
    } else {
      out = pattern_[at_++] == '.' ? "x" : std::string(1, pattern_[at_ - 1]);
    }
    written_ = begin + out.size();
    return out;
  }

  std::string escaped(char c) {
    if (c == 'b' || c == 'z') return "";
    if (c == 's') return " ";
    if (c == 'S' || c == 'w') return "k";
    if (c == 'n') return "\n";
    return {c};
  }

  std::string one_of_class() {
    const bool negated = take("^");
    std::string letters;
    while (pattern_[at_] != ']') {
      std::string one = take("\\") ? escaped(pattern_[at_++]) : std::string(1, pattern_[at_++]);
      if (pattern_[at_] == '-' && pattern_[at_ + 1] != ']') {
        ++at_;
        for (char c = one[0]; c < pattern_[at_]; ++c) letters += c;
        one = pattern_[at_++];
      }
      letters += one;
    }
    ++at_;
    if (!negated) return {letters[choose(letters.size())]};
    std::string others;
    for (const char c : std::string_view("abcdefghjkmnpqrstuvwyz23456789ABCDEFGHJKMNPQRSTUVWYZ")) {
      if (!letters.contains(c)) others += c;
    }
    return {others[choose(others.size())]};
  }

  std::size_t repetitions() {
    std::size_t low = 1;
    std::size_t high = 1;
    if (take("?")) {
      low = 0;
    } else if (take("+")) {
      high = 2;
    } else if (take("{")) {
      low = number();
      high = low;
      if (take(",")) high = pattern_[at_] == '}' ? low + 4 : number();
      ++at_;
    } else {
      return 1;
    }
    take("?");
    if (low == 0 && choose(3) != 0) return 0;
    return low + choose(std::min<std::size_t>(high - low, 8) + 1);
  }

  std::size_t number() {
    std::size_t out = 0;
    while (is_digit(pattern_[at_])) out = out * 10 + static_cast<std::size_t>(pattern_[at_++] - '0');
    return out;
  }

  std::string_view pattern_;
  std::mt19937& random_;
  std::size_t at_ = 0;
  std::size_t written_ = 0;
  bool in_group_ = false;
  std::optional<std::pair<std::size_t, std::size_t>> group_;
};

/// Base58 of `bytes` and their checksum.
inline std::string base58check(std::string bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  crypto_hash_sha256(hash.data(), hash.data(), hash.size());
  bytes.append(hash.begin(), hash.begin() + 4);
  std::string out;
  const bool is_address = bytes[0] == '\0';
  while (!bytes.empty()) {
    unsigned rest = 0;
    for (char& c : bytes) {
      rest = rest * 256 + static_cast<unsigned char>(c);
      c = static_cast<char>(rest / 58);
      rest %= 58;
    }
    out.insert(0, 1, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[rest]);
    if (bytes[0] == '\0') bytes.erase(0, 1);
  }
  return is_address ? "1" + out : out;
}

/// A value with what no random text has, such as a decodable header.
inline std::string repaired_value(const Rule& rule, std::string value, std::mt19937& random) {
  const auto digits = [&](std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += static_cast<char>('0' + random() % 10);
    return out;
  };
  switch (rule.check) {
    case Check::kJwt: {
      std::string header = base64_encode(R"({"alg":"HS256","typ":"JWT"})");
      while (header.ends_with('=')) header.pop_back();
      return header + value.substr(std::min(value.find('.'), value.size()));
    }
    case Check::kBasicAuth:
      return base64_encode("someone:" + digits(7));
    case Check::kIban:
      for (;;) {
        const std::string iban = "DE" + digits(20);
        if (is_iban(iban)) return iban;
      }
    case Check::kIpv6:
      return "2606:4700:" + digits(4) + ":1" + digits(3) + "::" + digits(4);
    case Check::kBase58Check: {
      const bool is_key = rule.kind.contains("private");
      std::string bytes(1, is_key ? '\x80' : '\0');
      for (int i = 0; i < (is_key ? 32 : 20); ++i) bytes += static_cast<char>(1 + random() % 250);
      return base58check(bytes);
    }
    default:
      return value;
  }
}

/// Puts the value into the text that its rule asks for.
inline Example example_around(const Rule& rule, Example example, std::mt19937& random) {
  const std::string word(rule.words.substr(0, rule.words.find('|')));
  switch (rule.form) {
    case Form::kAfterWord:
      return {word + "_key = \"" + example.value + "\"", example.value};
    case Form::kRun:
      return {"x = \"" + example.value + "\"", example.value};
    case Form::kNumber:
      return {(word.empty() ? "It is " : word + ": ") + example.text + " here", example.text};
    default:
      break;
  }
  if (rule.check != Check::kPrivateKey) return {"see " + example.text + " here", example.value};
  std::string line;
  for (int i = 0; i < 48; ++i) line += static_cast<char>('A' + random() % 26);
  return {example.text + "\n" + line + "\n-----END " + std::string("PRIVATE KEY-----") + "\nafter", line};
}

/// Returns an example of `rule`, the same for each `seed`. Numbers with check digits have right ones. An
/// empty value: no random text satisfies the rule.
inline Example example_of(const Rule& rule, unsigned seed) {
  std::mt19937 random(seed);
  const std::string whole = full_pattern(rule);
  std::string pattern = whole;
  if (rule.form == Form::kAfterWord) {
    const std::size_t begin = whole.find("{1,10}(") + 6;
    pattern = whole.substr(begin, whole.rfind("(?:[^A-Za-z0-9]") - begin);
  }
  for (int attempt = 0; attempt < 40000; ++attempt) {
    Example example = TextOfPattern(pattern, random).write();
    const std::string value = repaired_value(rule, example.value, random);
    if (value != example.value)
      example.text.replace(example.text.rfind(example.value), example.value.size(), value);
    example.value = value;
    if (!is_alnum(value.back()) && value.back() != '=' && value.back() != '<' &&
        rule.check != Check::kPrivateKey)
      continue;
    if (rule.entropy > 0 && entropy_of(value) < static_cast<double>(rule.entropy)) continue;
    if (!passes(rule.check, value)) continue;
    return example_around(rule, std::move(example), random);
  }
  return {};
}

}  // namespace praxis::redact
