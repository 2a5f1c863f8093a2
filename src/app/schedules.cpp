#include "app/schedules.hpp"

#include <algorithm>
#include <utility>

#include "app/cron_times.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/schedule_file.hpp"
#include "app/schedule_table.hpp"
#include "base/time_zone.hpp"
#include "praxis/base/dates.hpp"

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

// ---- where they are kept

Result<std::shared_ptr<ScheduleStore>> ScheduleStore::open(const Workspace& workspace, bool create) {
  if (!workspace.keeps_runs())
    return fail(usage_error("a journal in memory has no schedules",
                            "give a file or a PostgreSQL database with --journal"));
  return workspace.in_file() ? open_schedule_file(workspace, create)
                             : open_schedule_table(workspace.journal, create);
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
