// Errors with a hint on what to try instead, in `detail.hint`.
#pragma once

#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// Error `kInput`: an error in the user's arguments or settings, with a hint on what to try.
Error usage_error(std::string message, std::string hint = {});
/// Adds a hint to the error's detail.
Error with_hint(Error error, std::string_view hint);

}  // namespace praxis::app
