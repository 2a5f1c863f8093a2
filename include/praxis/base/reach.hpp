// How far an effect on the outside had got when it ended without a result: decides whether it may have taken
// effect. The part that acts on the outside states it in its error; the journal records it there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

enum class Reach : std::uint8_t {
  kNotSent,   ///< nothing that could change the outside has left us: it has not taken effect
  kSent,      ///< it has left us, or a part of it, and no answer came: whether it took effect is unknown
  kAnswered,  ///< the other side has answered, and the error says what
};

/// Returns the stable lower-case name: `not_sent`, `sent`, `answered`.
std::string_view to_string(Reach reach);
/// The reach that an error states (`reach` in its detail).
std::optional<Reach> reach_of(const Error& error);
/// Returns `error` with the reach stated.
Error with_reach(Error error, Reach reach);

}  // namespace praxis
#pragma GCC visibility pop
