// The lines of a case: its answers as we read them, and its requests as we would have made them.
#pragma once

#include <vector>

#include "wire/reading.hpp"
#include "wire/recording.hpp"

namespace praxis::wire {

/// One line an exchange: `line_of` with `case` (`name`), and for exchanges after the first (or all of them)
/// `rebuilt` (our request, made from our reading of the answers before and the recorded results and words),
/// `recorded`, `differences` and `additions`; `rebuilt` is null and `note` says why where no request of ours
/// corresponds.
std::vector<Json> lines_of(const Case& recorded, const std::string& name, const Catalog& catalog,
                           bool all_requests);

}  // namespace praxis::wire
