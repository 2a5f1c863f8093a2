// The journal of a process whose running turns are at an engine.
#pragma once

#include <memory>

#include "engines/restate/engine_log.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::restate {

/// Returns a journal with the logs, rows and inboxes of `store`, whose appends are durable at the engine
/// before they are in `store`. Its destructor stops `log`. Thread-safe.
std::shared_ptr<Journal> restate_journal(std::shared_ptr<Journal> store, std::shared_ptr<EngineLog> log);

}  // namespace praxis::restate
