// Identifiers are strong types: a call id cannot be passed where a session id is meant.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

#pragma GCC visibility push(default)
namespace praxis {

template <class Tag>
struct Id {
  std::string value;

  Id() = default;
  explicit Id(std::string v) : value(std::move(v)) {}
  auto operator<=>(const Id&) const = default;
  bool empty() const { return value.empty(); }
  const std::string& str() const { return value; }
};

using SessionId = Id<struct SessionTag>;  ///< globally unique, from the `Environment`
using TurnId = Id<struct TurnTag>;        ///< unique within its session: t1, t2, ...
using EffectId = Id<struct EffectTag>;    ///< unique within its session: e1, e2, ...
using MessageId = Id<struct MessageTag>;  ///< unique within its session: m1, m2, ...
using CallId = Id<struct CallTag>;        ///< a tool call's id, chosen by the model or planner
using ParkId = Id<struct ParkTag>;        ///< unique within its session: p1, p2, ...

}  // namespace praxis

template <class Tag>
struct std::hash<praxis::Id<Tag>> {
  std::size_t operator()(const praxis::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.value);
  }
};
#pragma GCC visibility pop
