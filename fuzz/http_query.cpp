// Arbitrary targets of requests, taken apart by path and query: what handlers get is valid UTF-8 without
// control characters in the path, the same once more, and each parameter that is read as a number or time
// stays within its bounds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "praxis/base/utf8.hpp"
#include "server/call.hpp"
#include "server/routes.hpp"

namespace {

using namespace praxis;
using server::Call;

std::optional<Call> read(const std::string& target) {
  ReceivedRequest request;
  request.method = "GET";
  request.target = target;
  auto call = server::parse_call(std::move(request));
  if (!call) return std::nullopt;
  return *std::move(call);
}

void check(const std::string& text, bool may_have_lines) {
  const auto is_wrong = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0 || byte == 0x7f || (byte < 0x20 && !may_have_lines);
  };
  if (!is_valid_utf8(text) || std::ranges::any_of(text, is_wrong)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMost = 1000;
  const std::string target(reinterpret_cast<const char*>(data), size);
  auto call = read(target);
  const auto again = read(target);
  if (call.has_value() != again.has_value()) std::abort();
  if (!call) return 0;
  if (call->path != again->path || call->query != again->query) std::abort();
  for (const std::string& segment : call->path) check(segment, false);
  for (const auto& [name, value] : call->query) {
    check(name, true);
    check(value, true);
    if (const auto number = call->number(name, 0, kMost); number && *number > kMost) std::abort();
    static_cast<void>(call->time(name, server::DayPart::kStart));
  }
  std::string allowed;
  const server::Route* const route = server::find_route(*call, allowed);
  if (route != nullptr && route->path.contains('{') == call->names.empty()) std::abort();
  return 0;
}
