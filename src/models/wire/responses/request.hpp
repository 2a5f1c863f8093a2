// Writes the head of a Responses request: everything before its input items.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/responses/dialect.hpp"

namespace praxis::wire::responses {

/// Everything up to the opening bracket of `input`. Omits `options.stop`, because the protocol has no such
/// parameter.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

}  // namespace praxis::wire::responses
