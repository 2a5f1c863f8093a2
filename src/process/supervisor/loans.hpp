// Root's files for a user who is not root: each lent folder appears, to the processes of one sandbox, as if
// it belonged to that user. What the user writes there belongs to the folder's owner. The files are not
// touched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Gives this process a mount table of its own with the loans in it. The source that could not be lent, with
/// errno; empty when all are.
std::string lend(const std::vector<Loan>& loans, std::uint32_t user);

}  // namespace praxis::supervisor
