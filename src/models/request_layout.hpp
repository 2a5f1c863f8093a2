// What the requests of several protocols have in common.
#pragma once

#include <string>
#include <string_view>

#include "praxis/models/model.hpp"

namespace praxis {

/// The JSON text of `fields`, with a caller's own settings over them, up to and with the opening bracket of
/// the list named `list`, which comes last and which `extra` cannot replace.
std::string open_list(JsonObject fields, const Json& extra, std::string_view list);

/// Whether a conversation brings its own instructions, which then stand in for the agent's.
bool opens_with_developer(const History& history);

}  // namespace praxis
