#include "models/redact.hpp"

#include <string_view>

namespace praxis {

std::string redact(std::string text, const std::string& secret) {
  constexpr std::string_view kMask = "[key]";
  constexpr std::size_t kLeast = 6;
  if (secret.size() < kLeast) return text;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += kMask.size()) {
    text.replace(at, secret.size(), kMask);
  }
  return text;
}

}  // namespace praxis
