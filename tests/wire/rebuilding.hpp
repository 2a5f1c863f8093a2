// The output lines of a case: its responses as we read them, and its requests as we would have written them.
#pragma once

#include <vector>

#include "wire/reading.hpp"
#include "wire/recording.hpp"

namespace praxis::wire {

/// Returns one line per exchange: `line_of` with `case` (`name`), and for exchanges after the first (or all
/// of them) `rebuilt` (our request, made from our reading of the earlier responses and the recorded results
/// and texts), `recorded`, `differences` and `additions`. If no request of ours corresponds, `rebuilt` is
/// null and `note` says why.
std::vector<Json> lines_of(const Case& recorded, const std::string& name, const Catalog& catalog,
                           bool all_requests);

}  // namespace praxis::wire
