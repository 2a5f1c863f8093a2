#include "mcp/oauth_text.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>

#include "base/base64url.hpp"
#include "json/uri_reference.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostFields = 64;

std::string form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced);
}

std::vector<std::string> scope_words(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : std::views::split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word.begin(), word.end());
  }
  return words;
}

}  // namespace

std::string form_of(const FormFields& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (value.empty()) continue;
    out += (out.empty() ? "" : "&") + percent_encode(name) + '=' + percent_encode(value);
  }
  return out;
}

Result<std::map<std::string, std::string>> read_form(std::string_view text) {
  std::map<std::string, std::string> fields;
  for (const auto part : std::views::split(text, '&')) {
    const std::string_view field(part.begin(), part.end());
    if (field.empty()) continue;
    const std::size_t end = std::min(field.find('='), field.size());
    const std::string_view value = field.substr(std::min(end + 1, field.size()));
    if (!fields.emplace(form_decoded(field.substr(0, end)), form_decoded(value)).second)
      return fail(ErrorCode::kInput, "a field is there twice");
    if (fields.size() > kMostFields) return fail(ErrorCode::kInput, "there are too many fields");
  }
  return fields;
}

std::string oauth_random(Environment& environment) {
  std::string bytes;
  for (int word = 0; word < 4; ++word) {
    const std::uint64_t bits = environment.random();
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  return base64url_encode(bytes);
}

std::string pkce_challenge(std::string_view verifier) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size());
  return base64url_encode({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

std::string joined_scopes(std::string_view first, std::string_view second) {
  std::vector<std::string> all;
  for (const std::string_view scopes : {first, second}) {
    for (std::string& word : scope_words(scopes)) {
      if (std::ranges::find(all, word) == all.end()) all.push_back(std::move(word));
    }
  }
  std::string text;
  for (const std::string& word : all) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool has_scopes(std::string_view granted, std::string_view asked) {
  const auto words = scope_words(granted);
  return std::ranges::all_of(scope_words(asked), [&](const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  });
}

}  // namespace praxis
