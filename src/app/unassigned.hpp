// Which code points have no character: a terminal may show anything for them, or nothing.
#pragma once

namespace praxis::app {

/// Whether the code point had no character in Unicode 14. Later characters count as unassigned too: the fonts
/// of most terminals do not have them.
bool is_unassigned(char32_t c);

}  // namespace praxis::app
