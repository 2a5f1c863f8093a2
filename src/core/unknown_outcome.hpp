// The text for a call that may or may not have taken effect.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// Returns what the model gets as the result of such a call. `why`: a clause without a full stop.
std::string unknown_outcome(std::string_view why);

}  // namespace praxis
