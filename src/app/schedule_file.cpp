#include "app/schedule_file.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "app/schedule_rows.hpp"
#include "store/sqlite_seal.hpp"
#include "store/write_transaction.hpp"

namespace praxis::app {
namespace {

class ScheduleFile final : public ScheduleStore {
 public:
  explicit ScheduleFile(Database database) : database_(std::move(database)) {}

  Status add(const Schedule& schedule) override {
    const std::lock_guard lock(mutex_);
    return in_write_transaction(database_, [&] {
      SealSum sum(database_);
      auto added = insert_schedule(database_, schedule, sum);
      return added ? sum.store() : added;
    });
  }

  Result<std::vector<Schedule>> list() override {
    const std::lock_guard lock(mutex_);
    auto rows = read_schedules(database_, database_.sealer());
    if (!rows) return fail(std::move(rows.error()));
    std::vector<Schedule> all;
    for (StoredSchedule& row : *rows) all.push_back(std::move(row.schedule));
    return all;
  }

  Status remove(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    return in_write_transaction(database_, [&]() -> Status {
      const auto rows = read_schedules(database_, database_.sealer());
      if (!rows) return fail(rows.error());
      SealSum sum(database_);
      for (const StoredSchedule& row : *rows) {
        if (row.schedule.id == id) sum.change(row.sealed);
      }
      auto gone = database_.run("DELETE FROM schedules WHERE id = ?1", id);
      return gone ? sum.store() : gone;
    });
  }

  Status pause(const std::string& id, bool paused, UnixMillis now) override {
    return change(id, [&](Schedule& schedule) {
      if (schedule.paused == paused) return false;
      schedule.paused = paused;
      if (!paused) schedule.done = std::max(schedule.done, now);
      return true;
    });
  }

  Status note(const std::string& id, UnixMillis time) override {
    return change(id, [&](Schedule& schedule) {
      if (time <= schedule.done) return false;
      schedule.done = time;
      return true;
    });
  }

 private:
  /// Changes the schedule with this id if there is one and `change` says that it has changed it.
  Status change(const std::string& id, const std::function<bool(Schedule&)>& change) {
    const std::lock_guard lock(mutex_);
    return in_write_transaction(database_, [&]() -> Status {
      auto rows = read_schedules(database_, database_.sealer());
      if (!rows) return fail(rows.error());
      SealSum sum(database_);
      for (StoredSchedule& row : *rows) {
        if (row.schedule.id != id || !change(row.schedule)) continue;
        sum.change(row.sealed);
        if (auto done = update_schedule(database_, database_.sealer(), row, sum); !done) return done;
      }
      return sum.store();
    });
  }

  std::mutex mutex_;
  Database database_;
};

}  // namespace

Result<std::shared_ptr<ScheduleStore>> open_schedule_file(const Workspace& workspace, bool create) {
  auto database =
      open_sqlite_file(schedules_path(workspace.journal), schedules_form(), create, seal_secret(workspace));
  if (!database) return fail(database.error());
  return std::make_shared<ScheduleFile>(*std::move(database));
}

}  // namespace praxis::app
