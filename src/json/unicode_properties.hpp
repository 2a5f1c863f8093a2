// Names of Unicode properties in patterns: JSON Schema has those of ECMAScript, RE2 only short ones.
#pragma once

#include <string>

namespace praxis {

/// Returns the pattern with the names of general categories and scripts as RE2 writes them:
/// `\p{Letter}` and `\p{General_Category=Letter}` become `\p{L}`, `\p{Script=Greek}` becomes `\p{Greek}`.
/// Other properties stay as they are, for RE2 to refuse.
std::string with_short_properties(const std::string& pattern);

}  // namespace praxis
