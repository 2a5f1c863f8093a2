// Schedules in a file next to the journal, sealed if there is a key.
#pragma once

#include <memory>
#include <string>

#include "app/schedules.hpp"

namespace praxis {
struct SqliteFileForm;  // store/sqlite_file.hpp
}  // namespace praxis

namespace praxis::app {

/// What the file of schedules is.
const SqliteFileForm& schedules_form();

/// The file of the schedules of a journal.
inline std::string schedules_path(const std::string& journal) { return journal + ".schedules"; }

/// As `ScheduleStore::open`, of a workspace whose journal is a file.
Result<std::shared_ptr<ScheduleStore>> open_schedule_file(const Workspace& workspace, bool create);

}  // namespace praxis::app
