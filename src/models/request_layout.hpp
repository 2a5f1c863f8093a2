// Helpers for request writers of several protocols.
#pragma once

#include <string>
#include <string_view>

#include "praxis/models/model.hpp"

namespace praxis {

/// The JSON text of `fields`, overridden by the caller's `extra`, up to and including the opening bracket of
/// the array `list`. The array is the last member; `extra` cannot replace it.
std::string open_list(JsonObject fields, const Json& extra, std::string_view list);

/// Whether the conversation starts with its own developer instructions. In protocols whose instructions are a
/// message they replace the agent's.
bool opens_with_developer(const History& history);

}  // namespace praxis
