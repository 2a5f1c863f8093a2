// Schedules in the PostgreSQL database of the journal.
#pragma once

#include <memory>
#include <string>

#include "app/schedules.hpp"

namespace praxis::app {

/// As `ScheduleStore::open`, in the database at `address`. The error of a server that cannot be reached is
/// retriable.
Result<std::shared_ptr<ScheduleStore>> open_schedule_table(const std::string& address, bool create);

}  // namespace praxis::app
