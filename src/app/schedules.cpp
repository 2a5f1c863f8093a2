#include "app/schedules.hpp"

#include <algorithm>
#include <utility>

#include "app/cron_times.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/schedule_rows.hpp"
#include "base/time_zone.hpp"
#include "praxis/base/dates.hpp"
#include "store/sqlite_seal.hpp"
#include "store/write_transaction.hpp"

namespace praxis::app {
Result<UnixMillis> next_time(const Schedule& schedule, UnixMillis after) {
  const auto times = CronTimes::parse(schedule.times);
  if (!times) return fail(times.error());
  const auto zone = TimeZone::find(schedule.zone);
  if (!zone) return fail(zone.error());
  if (const auto next = times->next(after, **zone)) return *next;
  return fail(usage_error("the times " + in_quotes(schedule.times) + " never come",
                          "write a day that the month has"));
}

Result<DueTimes> due_times(const Schedule& schedule, UnixMillis now) {
  DueTimes due{{}, schedule.done};
  if (schedule.paused) return due;
  const auto times = CronTimes::parse(schedule.times);
  if (!times) return fail(times.error());
  const auto zone = TimeZone::find(schedule.zone);
  if (!zone) return fail(zone.error());
  due.times = times->between(schedule.done, now, **zone, schedule.missed == Missed::kAll ? kMostMissed : 1);
  if (due.times.empty()) return due;
  due.decided = due.times.back();
  if (schedule.missed == Missed::kSkip && now - due.decided > kLate) due.times.clear();
  return due;
}

// ---- the file

Result<std::shared_ptr<ScheduleStore>> ScheduleStore::open(const Workspace& workspace, bool create) {
  if (!workspace.in_file())
    return fail(
        usage_error("schedules are kept next to a journal that is a file", "give one with --journal FILE"));
  auto database =
      open_sqlite_file(path_for(workspace.journal), schedules_form(), create, seal_secret(workspace));
  if (!database) return fail(database.error());
  return std::make_shared<ScheduleStore>(*std::move(database));
}

ScheduleStore::ScheduleStore(Database database)
    : database_(std::make_unique<Database>(std::move(database))) {}
ScheduleStore::~ScheduleStore() = default;

Status ScheduleStore::add(const Schedule& schedule) {
  const std::lock_guard lock(mutex_);
  return in_write_transaction(*database_, [&] {
    SealSum sum(*database_);
    auto added = insert_schedule(*database_, schedule, sum);
    return added ? sum.store() : added;
  });
}

Result<std::vector<Schedule>> ScheduleStore::list() {
  const std::lock_guard lock(mutex_);
  auto rows = read_schedules(*database_, database_->sealer());
  if (!rows) return fail(std::move(rows.error()));
  std::vector<Schedule> all;
  for (StoredSchedule& row : *rows) all.push_back(std::move(row.schedule));
  return all;
}

Result<Schedule> ScheduleStore::find(std::string_view text) {
  constexpr std::size_t kShortest = 4;
  const auto all = list();
  if (!all) return fail(all.error());
  std::vector<Schedule> found;
  for (const Schedule& each : *all) {
    if (each.id == text) return each;
    if (text.size() >= kShortest && (each.id.starts_with(text) || each.id.ends_with(text)))
      found.push_back(each);
  }
  if (found.size() == 1) return found.front();
  return fail(usage_error((found.empty() ? "no schedule " : "several schedules have ") + in_quotes(text),
                          "praxis schedule list shows them"));
}

Status ScheduleStore::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return in_write_transaction(*database_, [&]() -> Status {
    const auto rows = read_schedules(*database_, database_->sealer());
    if (!rows) return fail(rows.error());
    SealSum sum(*database_);
    for (const StoredSchedule& row : *rows) {
      if (row.schedule.id == id) sum.change(row.sealed);
    }
    auto gone = database_->run("DELETE FROM schedules WHERE id = ?1", id);
    return gone ? sum.store() : gone;
  });
}

/// Changes the schedule with this id if there is one and `change` says that it has changed it.
Status ScheduleStore::change(const std::string& id, const std::function<bool(Schedule&)>& change) {
  const std::lock_guard lock(mutex_);
  return in_write_transaction(*database_, [&]() -> Status {
    auto rows = read_schedules(*database_, database_->sealer());
    if (!rows) return fail(rows.error());
    SealSum sum(*database_);
    for (StoredSchedule& row : *rows) {
      if (row.schedule.id != id || !change(row.schedule)) continue;
      sum.change(row.sealed);
      if (auto done = update_schedule(*database_, database_->sealer(), row, sum); !done) return done;
    }
    return sum.store();
  });
}

Status ScheduleStore::pause(const std::string& id, bool paused, UnixMillis now) {
  return change(id, [&](Schedule& schedule) {
    if (schedule.paused == paused) return false;
    schedule.paused = paused;
    if (!paused) schedule.done = std::max(schedule.done, now);
    return true;
  });
}

Status ScheduleStore::note(const std::string& id, UnixMillis time) {
  return change(id, [&](Schedule& schedule) {
    if (time <= schedule.done) return false;
    schedule.done = time;
    return true;
  });
}

// ---- carrying them out

void Scheduler::pass() {
  const auto all = store_->list();
  if (!all) return warn_once("the schedules cannot be read: " + all.error().message);
  for (const Schedule& schedule : *all) carry_out(schedule);
}

void Scheduler::carry_out(const Schedule& schedule) {
  const auto due = due_times(schedule, environment_->now());
  if (!due)
    return warn_once("the schedule " + schedule.id + " cannot be carried out: " + due.error().message);
  if (due->decided == schedule.done) return;
  const auto note = [&](UnixMillis time) {
    if (auto noted = store_->note(schedule.id, time); !noted)
      warn_once("the schedule " + schedule.id + " cannot be noted: " + noted.error().message);
  };
  for (const UnixMillis time : due->times) {
    const Status started = start_(schedule, time);
    if (!started)
      warn_once("the schedule " + schedule.id + " could not start its run: " + started.error().message);
    if (!started && started.error().code != ErrorCode::kInput) return;  // again at the next pass
    note(time);
  }
  note(due->decided);
}

void Scheduler::warn_once(const std::string& text) {
  constexpr std::size_t kMostWarned = 1000;
  if (warned_.size() < kMostWarned && warned_.insert(text).second && warn_) warn_(text);
}

}  // namespace praxis::app
