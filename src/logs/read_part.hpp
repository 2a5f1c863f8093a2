// A part of a session's log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "praxis/logs/logs.hpp"

namespace praxis {

/// `read_records`, but at most `limit` records (0: all).
Result<std::vector<StoredRecord>> read_some_records(Journal& journal, const SessionId& session,
                                                    std::uint64_t from, std::size_t limit);

}  // namespace praxis
