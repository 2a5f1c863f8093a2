// A journal that forwards every call to another one; tests derive from it to change single calls.
#pragma once

#include "journal/forwarding_journal.hpp"

namespace praxis::testing {

using praxis::ForwardingJournal;

}  // namespace praxis::testing
