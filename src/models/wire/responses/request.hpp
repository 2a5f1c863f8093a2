// The settings of a Responses request: everything before its input items.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/responses/dialect.hpp"

namespace praxis::responses {

/// Up to the opening bracket of the input. `options.stop` is left out: the protocol has no such parameter.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

}  // namespace praxis::responses
