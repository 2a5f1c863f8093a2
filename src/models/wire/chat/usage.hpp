// Reads the token usage of a Chat Completions answer, in the spellings of all servers.
#pragma once

#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {

/// `usage` is the object of that name. Absent counts are zero.
Usage read_usage(const Json& usage);

}  // namespace praxis::wire::chat
