// What a correct reading of a recorded answer looks like, and how ours compares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::wire {

/// A field of one expectation that ours does not meet, on purpose.
struct KnownDifference {
  std::string_view case_name;  ///< provider folder and case
  std::string_view field;
  std::string_view reason;
};

/// Whether an expectation can be met: some recordings hold several answers glued together.
bool is_ambiguous(const Json& expectation);

/// The fields in which `line` (of `line_of`) is not what the expectation says, `field: ours ..., expected
/// ...`. The wording of errors does not count.
std::vector<std::string> mismatches(const Json& line, const Json& expectation, std::string_view case_name,
                                    const std::vector<KnownDifference>& known);

}  // namespace praxis::wire
