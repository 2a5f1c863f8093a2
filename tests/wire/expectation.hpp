// Compares our reading of a recorded response with the expected one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::wire {

/// A field of one expectation that our reading deliberately does not match.
struct KnownDifference {
  std::string_view case_name;  ///< provider folder and case
  std::string_view field;
  std::string_view reason;
};

/// Whether an expectation is ambiguous: some recordings hold several responses in a row.
bool is_ambiguous(const Json& expectation);

/// Returns the fields in which `line` (of `line_of`) differs from the expectation, as `field: ours ...,
/// expected ...`. The wording of errors is not compared.
std::vector<std::string> mismatches(const Json& line, const Json& expectation, std::string_view case_name,
                                    const std::vector<KnownDifference>& known);

}  // namespace praxis::wire
