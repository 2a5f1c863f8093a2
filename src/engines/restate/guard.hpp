// Checks an answer before it leaves. Restate trusts what it gets: some malformed answers stop a partition, or
// the whole server, for good (docs/scale-out.md). The guard reads the bytes again, knows nothing of how they
// were made, and allows only what is known to be safe. Pure function.
#pragma once

#include <string_view>

#include "engines/restate/invocation.hpp"

namespace praxis::restate {

/// The most bytes that the engine takes as one message by default (`message-size-limit`), with room for its
/// own.
inline constexpr std::size_t kMostFrameBytes = 31 * 1024 * 1024;

/// Error `kInternal`: what is wrong with the first frame that must not leave.
Status check_answer(const Invocation& invocation, std::string_view answer);

}  // namespace praxis::restate
