#include "domain/agent_message.hpp"

#include <algorithm>
#include <charconv>

namespace praxis {
namespace {

constexpr std::string_view kBegin = "[message from agent ", kHop = ", hop ", kEnd = "]\n";

/// The first line without brackets and `kBegin`; empty if the text has another form.
std::string_view heading_of(std::string_view text) {
  if (!text.starts_with(kBegin)) return {};
  const std::string_view rest = text.substr(kBegin.size());
  return rest.substr(0, std::min(rest.find(kEnd), rest.size()));
}

}  // namespace

std::string agent_message(std::string_view path, std::uint32_t hop, std::string_view text) {
  std::string message;
  message.append(kBegin).append(path).append(kHop).append(std::to_string(hop)).append(kEnd).append(text);
  return message;
}

std::uint32_t hop_of_message(std::string_view text) {
  const std::string_view heading = heading_of(text);
  if (heading.empty()) return 0;
  const std::size_t at = heading.rfind(kHop);
  std::uint32_t hop = 0;
  if (at == heading.npos) return 1;
  const std::string_view number = heading.substr(at + kHop.size());
  std::from_chars(number.data(), number.data() + number.size(), hop);
  return std::max(hop, 1U);
}

std::string_view sender_of_message(std::string_view text) {
  const std::string_view heading = heading_of(text);
  return heading.substr(0, std::min(heading.rfind(kHop), heading.size()));
}

}  // namespace praxis
