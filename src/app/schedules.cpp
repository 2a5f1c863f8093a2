#include "app/schedules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/cron_times.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "base/time_zone.hpp"
#include "praxis/base/dates.hpp"
#include "store/sqlite.hpp"
#include "store/sqlite_file.hpp"

namespace praxis::app {
namespace {

constexpr std::array<std::string_view, 3> kMissedNames{"skip", "once", "all"};

constexpr SqliteFileForm kSchedulesForm{
    "schedules", 0x50525853,  // "PRXS"
    1,
    "CREATE TABLE schedules (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, times TEXT NOT NULL, zone "
    "TEXT NOT NULL, agent TEXT NOT NULL, prompt TEXT NOT NULL, missed INTEGER NOT NULL, paused INTEGER NOT "
    "NULL, done INTEGER NOT NULL);"};

}  // namespace

Json to_json(const Schedule& schedule) {
  return JsonObject{
      {"id", schedule.id},         {"times", schedule.times},
      {"zone", schedule.zone},     {"agent", schedule.agent},
      {"prompt", schedule.prompt}, {"missed", kMissedNames.at(static_cast<std::size_t>(schedule.missed))},
      {"paused", schedule.paused}, {"done", to_iso8601(schedule.done)}};
}

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
  auto database = open_sqlite_file(path_for(workspace.journal), kSchedulesForm, create);
  if (!database) return fail(database.error());
  return std::make_shared<ScheduleStore>(*std::move(database));
}

ScheduleStore::ScheduleStore(Database database)
    : database_(std::make_unique<Database>(std::move(database))) {}
ScheduleStore::~ScheduleStore() = default;

Status ScheduleStore::add(const Schedule& schedule) {
  const std::lock_guard lock(mutex_);
  return database_->run(
      "INSERT INTO schedules (id, times, zone, agent, prompt, missed, paused, done) VALUES (?1, ?2, ?3, ?4, "
      "?5, ?6, ?7, ?8)",
      schedule.id, schedule.times, schedule.zone, schedule.agent, schedule.prompt,
      static_cast<std::int64_t>(schedule.missed), static_cast<std::int64_t>(schedule.paused),
      schedule.done.value);
}

Result<std::vector<Schedule>> ScheduleStore::list() {
  const std::lock_guard lock(mutex_);
  std::vector<Schedule> all;
  Query query(*database_,
              "SELECT id, times, zone, agent, prompt, missed, paused, done FROM schedules ORDER BY number");
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return all;
    all.push_back({.id = query.text(0),
                   .times = query.text(1),
                   .zone = query.text(2),
                   .agent = query.text(3),
                   .prompt = query.text(4),
                   .missed = static_cast<Missed>(std::clamp<std::int64_t>(query.integer(5), 0, 2)),
                   .paused = query.integer(6) != 0,
                   .done = {query.integer(7)}});
  }
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
  return database_->run("DELETE FROM schedules WHERE id = ?1", id);
}

Status ScheduleStore::pause(const std::string& id, bool paused, UnixMillis now) {
  const std::lock_guard lock(mutex_);
  if (paused) return database_->run("UPDATE schedules SET paused = 1 WHERE id = ?1", id);
  return database_->run("UPDATE schedules SET paused = 0, done = max(done, ?2) WHERE id = ?1 AND paused = 1",
                        id, now.value);
}

Status ScheduleStore::note(const std::string& id, UnixMillis time) {
  const std::lock_guard lock(mutex_);
  return database_->run("UPDATE schedules SET done = max(done, ?2) WHERE id = ?1", id, time.value);
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
