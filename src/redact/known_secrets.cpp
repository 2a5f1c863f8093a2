#include "redact/known_secrets.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr std::size_t kLeast = 6;            // shorter secrets are not redacted
constexpr std::size_t kLeastInAnswers = 12;  // shorter ones, such as "ollama", may be words of an answer

std::string percent_encoded(std::string_view text, std::string_view digits) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
  std::string out;
  for (const char c : text) {
    if (kPlain.contains(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

/// The characters of base64 that depend on `secret` alone when `offset` bytes precede it in their group.
std::string inner_base64(const std::string& secret, std::size_t offset) {
  constexpr std::array<std::size_t, 3> kForeign{0, 2, 3};  // characters that the bytes before take part in
  const std::size_t whole = (offset + secret.size()) * 8 / 6;
  return base64_encode(std::string(offset, '\0') + secret).substr(0, whole).substr(kForeign[offset]);
}

std::string with_url_alphabet(std::string text) {
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

/// Escaped as in JSON, also by writers that escape the slash.
std::string json_escaped(std::string_view text, bool slash) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || (slash && c == '/')) out += '\\';
    out += c;
  }
  return out;
}

constexpr std::string_view kUpper = "0123456789ABCDEF", kLower = "0123456789abcdef";

std::string hexadecimal(std::string_view text, std::string_view digits) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += {digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

/// Escaped as in JSON by writers that write everything but letters, digits and `plain` by number.
std::string json_numbers(std::string_view text, std::string_view plain, std::string_view digits) {
  std::string out;
  for (const char c : text) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_word || plain.contains(c)) {
      out += c;
    } else {
      out.append("\\u00").append(hexadecimal({&c, 1}, digits));
    }
  }
  return out;
}

/// As text of HTML; `quote` and `slash` are written so.
std::string html_escaped(std::string_view text, std::string_view quote, std::string_view slash) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += quote;
        break;
      case '/':
        out += slash;
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::string> forms_of(const std::string& secret) {
  std::vector<std::string> forms{secret,
                                 percent_encoded(secret, kUpper),
                                 percent_encoded(secret, kLower),
                                 percent_encoded(percent_encoded(secret, kUpper), kUpper),
                                 percent_encoded(percent_encoded(secret, kLower), kLower),
                                 json_escaped(secret, false),
                                 json_escaped(secret, true),
                                 json_numbers(secret, "-._~/+=", kLower),
                                 json_numbers(secret, "-._~", kLower),
                                 json_numbers(secret, "-._~", kUpper),
                                 html_escaped(secret, "&quot;", "/"),
                                 html_escaped(secret, "&#34;", "/"),
                                 html_escaped(secret, "&quot;", "&#x2F;"),
                                 hexadecimal(secret, kLower),
                                 hexadecimal(secret, kUpper)};
  for (const std::size_t offset : {0UL, 1UL, 2UL}) {
    std::string inner = inner_base64(secret, offset);
    if (inner.size() < kLeast) continue;
    forms.push_back(with_url_alphabet(inner));
    forms.push_back(json_escaped(inner, true));
    forms.push_back(percent_encoded(inner, kUpper));
    forms.push_back(std::move(inner));
  }
  return forms;
}

/// The position at which `text` ends with the beginning of `form`, of at least `least` bytes; npos if it
/// does not.
std::size_t find_cut(std::string_view text, std::string_view form, std::size_t least) {
  std::size_t at = text.size() - std::min(text.size(), form.size() - 1);
  for (; (at = text.find(form.front(), at)) != text.npos && text.size() - at >= least; ++at) {
    if (form.starts_with(text.substr(at))) return at;
  }
  return text.npos;
}

}  // namespace

Redactor::Redactor(const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.size() < kLeast) continue;
    std::ranges::move(forms_of(secret), std::back_inserter(forms_));
  }
  std::ranges::sort(forms_, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  forms_.erase(std::ranges::unique(forms_).begin(), forms_.end());
}

std::vector<SecretPlace> Redactor::find(std::string_view text) const {
  std::vector<SecretPlace> places;
  for (const std::string& form : forms_) {
    for (std::size_t at = 0; (at = text.find(form, at)) != text.npos; at += form.size())
      places.push_back({at, at + form.size()});
  }
  std::ranges::sort(places, {}, &SecretPlace::begin);
  std::vector<SecretPlace> merged;
  for (const SecretPlace& place : places) {
    if (merged.empty() || place.begin >= merged.back().end) {
      merged.push_back(place);
    } else {
      merged.back().end = std::max(merged.back().end, place.end);
    }
  }
  return merged;
}

std::string Redactor::without_secrets(std::string text) const {
  const std::vector<SecretPlace> places = find(text);
  if (places.empty()) return text;
  std::string out;
  std::size_t at = 0;
  for (const SecretPlace& place : places) {
    out.append(text, at, place.begin - at) += kSecretMask;
    at = place.end;
  }
  return out.append(text, at);
}

std::string Redactor::without_cut_secrets(std::string text) const {
  constexpr std::string_view kCut = "...";  // how shortened texts end
  text = without_secrets(std::move(text));
  const std::size_t end = text.size() - (text.ends_with(kCut) ? kCut.size() : 0);
  std::size_t cut = end;
  for (const std::string& form : forms_)
    cut = std::min(cut, find_cut(std::string_view(text).substr(0, end), form, kLeast));
  if (cut < end) text.replace(cut, end - cut, kSecretMask);
  return text;
}

Json Redactor::without_cut_secrets(const Json& json) const {
  if (const auto* text = json.if_string()) return Json(without_cut_secrets(std::string(*text)));
  if (const JsonArray* array = json.if_array()) {
    JsonArray out;
    for (const Json& one : *array) out.push_back(without_cut_secrets(one));
    return out;
  }
  if (const JsonObject* object = json.if_object()) {
    JsonObject out;
    for (const auto& [key, one] : *object) out.emplace(key, without_cut_secrets(one));
    return out;
  }
  return json;
}

std::size_t Redactor::unfinished(std::string_view text) const {
  std::size_t cut = text.size();
  for (const std::string& form : forms_) cut = std::min(cut, find_cut(text, form, 1));
  return text.size() - cut;
}

std::vector<std::string> unmistakable(const std::vector<std::string>& secrets) {
  std::vector<std::string> out;
  std::ranges::copy_if(secrets, std::back_inserter(out),
                       [](const std::string& secret) { return secret.size() >= kLeastInAnswers; });
  return out;
}

}  // namespace praxis
