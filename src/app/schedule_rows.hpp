// The rows of schedules, as a plain and as a sealed file have them. `sealer` null: plain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/schedule_file.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis::app {

/// All of a schedule as one text.
std::string packed_schedule(const Schedule& schedule);
std::optional<Schedule> unpacked_schedule(std::string_view text);

struct StoredSchedule {
  std::int64_t number = 0;  ///< in the order in which they were added
  Schedule schedule;
  std::string sealed;  ///< as a sealed file has it; empty: plain
};

/// In the order in which they were added. Error `corrupt`: a value does not open.
Result<std::vector<StoredSchedule>> read_schedules(Database& database, const Sealer* sealer);
/// Adds a row, within the caller's transaction, and adds it to `sum`.
Status insert_schedule(Database& database, const Schedule& schedule, SealSum& sum);
/// Writes a row that is there, likewise.
Status update_schedule(Database& database, const Sealer* sealer, const StoredSchedule& row, SealSum& sum);

}  // namespace praxis::app
