// What a Chat Completions answer says it took, in the spellings of every server.
#pragma once

#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"

namespace praxis::chat {

/// `usage` is the object of that name. Counts that it lacks are zero.
Usage read_usage(const Json& usage);

}  // namespace praxis::chat
