// Writing to a journal from code that can wait.
#pragma once

#include "praxis/journal/journal.hpp"

namespace praxis {

/// `Journal::append` that returns when the entries are durable, or with the reason why they are not.
Status append_and_wait(Journal& journal, Append append);

}  // namespace praxis
