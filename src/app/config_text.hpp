// Settings as they are shown to users.
#pragma once

#include <string>
#include <string_view>

#include "praxis/app/config.hpp"

namespace praxis::app {

/// The value of a setting, or `(not shown)` for a secret and for what may be one in an address.
std::string shown_value(std::string_view key, const Setting& setting);
/// Hides what may be a key in an address: user information, query and fragment.
std::string without_keys(std::string value);

}  // namespace praxis::app
