#include "praxis/base/reach.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json/value.hpp>

namespace praxis {
namespace {

constexpr std::array<std::string_view, 3> kNames{"not_sent", "sent", "answered"};
constexpr std::string_view kField = "reach";

}  // namespace

std::string_view to_string(Reach reach) { return kNames[static_cast<std::size_t>(reach)]; }

std::optional<Reach> reach_of(const Error& error) {
  const auto* facts = error.detail().if_object();
  const auto* stated = facts == nullptr ? nullptr : facts->if_contains(kField);
  const auto* text = stated == nullptr ? nullptr : stated->if_string();
  if (text == nullptr) return std::nullopt;
  const auto* const found = std::ranges::find(kNames, std::string_view(*text));
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Reach>(found - kNames.begin());
}

Error with_reach(Error error, Reach reach) {
  error.set(kField, to_string(reach));
  return error;
}

}  // namespace praxis
