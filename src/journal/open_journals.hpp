// Counts the journals that this process has open for writing, so that its end can wait for the last of them:
// a thread that finishes the work of a runtime may hold its journal a moment longer than the main thread.
#pragma once

#include <memory>

namespace praxis {

/// Counts as one open journal while a copy of it exists. Thread-safe.
using OpenJournal = std::shared_ptr<void>;
OpenJournal count_open_journal();

}  // namespace praxis
