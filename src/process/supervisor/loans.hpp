// Gives an unprivileged user access to root's files: ID-mapped mounts, in which each lent folder appears, to
// the processes of one sandbox, to belong to that user. Files that the user creates there belong to the
// folder's owner. The files themselves do not change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Moves this process to a mount name space of its own and mounts the loans there. Returns the source that
/// could not be lent, with errno set; empty if all are.
std::string lend(const std::vector<Loan>& loans, std::uint32_t user);

}  // namespace praxis::supervisor
