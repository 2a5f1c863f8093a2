// Decides which JSON Schemas a server can enforce in strict mode.
#pragma once

#include "praxis/json/json.hpp"

namespace praxis {

/// Whether strict mode can enforce `schema`: every object lists all its properties as required and permits no
/// others, and no keyword occurs that strict servers reject.
bool is_strict_schema(const Json& schema);

}  // namespace praxis
