// Appends to a journal from code that may block.
#pragma once

#include "praxis/journal/journal.hpp"

namespace praxis {

/// Calls `Journal::append` and returns when the entries are durable, or the error.
Status append_and_wait(Journal& journal, Append append);

}  // namespace praxis
