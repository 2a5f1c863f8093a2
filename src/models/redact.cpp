#include "models/redact.hpp"

#include <algorithm>
#include <string_view>

namespace praxis {
namespace {

constexpr std::string_view kMask = "[key]";
constexpr std::size_t kLeast = 6;  // shorter secrets are not redacted

/// The position at which `text` ends with the beginning of `secret`, because it was cut there; npos if it
/// does not.
std::size_t find_cut(std::string_view text, std::string_view secret) {
  const std::size_t most = std::min(text.size(), secret.size() - 1);
  for (std::size_t size = most; size >= kLeast; --size) {
    if (text.ends_with(secret.substr(0, size))) return text.size() - size;
  }
  return text.npos;
}

}  // namespace

std::string redact(std::string text, const std::string& secret) {
  constexpr std::string_view kCut = "...";  // how shortened texts end
  if (secret.size() < kLeast) return text;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += kMask.size()) {
    text.replace(at, secret.size(), kMask);
  }
  const std::size_t end = text.size() - (text.ends_with(kCut) ? kCut.size() : 0);
  if (const std::size_t at = find_cut(std::string_view(text).substr(0, end), secret); at != text.npos)
    text.replace(at, end - at, kMask);
  return text;
}

}  // namespace praxis
