// Brings a journal to what the engine holds.
#pragma once

#include <string_view>

#include "praxis/journal/journal.hpp"

namespace praxis::restate {

/// Stores the entries of a batch that the journal lacks and compares those that it has; returns whether it
/// stored any. Takes the leases of their sessions from everyone. Blocks. Errors of `decode_batch` and of the
/// journal; `corrupt`: the journal has other entries, or lacks earlier ones.
Result<bool> recover_batch(Journal& journal, std::string_view batch);

}  // namespace praxis::restate
