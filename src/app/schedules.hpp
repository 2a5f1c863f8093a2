// Schedules: agents that are run at times of day. They are kept in a file next to the journal, or in its
// PostgreSQL database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// What happens to times that have passed while no process carried out the schedule.
enum class Missed : std::uint8_t {
  kSkip,  ///< nothing
  kOnce,  ///< one run for all of them
  kAll,   ///< one run for each, at most `kMostMissed`, the newest
};
inline constexpr std::size_t kMostMissed = 100;
/// A time counts as missed when it is further back than this.
inline constexpr Millis kLate{60'000};

struct Schedule {
  std::string id;
  std::string times;  ///< for `CronTimes::parse`
  std::string zone;   ///< for `TimeZone::find`
  std::string agent;  ///< by name
  std::string prompt;
  Missed missed = Missed::kOnce;
  bool paused = false;
  UnixMillis done = {};  ///< times up to and with this one have been decided on
};
Json to_json(const Schedule& schedule);

/// The next time after `after`. Error `kInput`: the times or the zone are not valid, or never come.
Result<UnixMillis> next_time(const Schedule& schedule, UnixMillis after);

/// The times of a schedule to start runs for, oldest first.
struct DueTimes {
  std::vector<UnixMillis> times;
  UnixMillis decided;  ///< what was due up to and with this time is in `times` or skipped
};
/// What is due at `now`. A paused schedule has nothing due. Error as of `next_time`.
Result<DueTimes> due_times(const Schedule& schedule, UnixMillis now);

/// The schedules of a journal. Thread-safe; several processes, also on several machines, may use them.
/// Errors `kJournal`.
class ScheduleStore {
 public:
  /// Opens them where the journal is. Errors `kInput`: the journal is in memory; kind `not_found`: no
  /// schedule was added yet, and `create` is false.
  static Result<std::shared_ptr<ScheduleStore>> open(const Workspace& workspace, bool create);
  virtual ~ScheduleStore() = default;

  /// Adds a schedule, with an id that no other has.
  virtual Status add(const Schedule& schedule) = 0;
  /// In the order in which they were added.
  virtual Result<std::vector<Schedule>> list() = 0;
  /// The schedule that `text`, a whole id or a unique beginning or end of at least four characters, names.
  /// Error `kInput`.
  Result<Schedule> find(std::string_view text);
  virtual Status remove(const std::string& id) = 0;
  /// A schedule that continues does not make up for the times that passed while it was paused: `now` is where
  /// it continues from.
  virtual Status pause(const std::string& id, bool paused, UnixMillis now) = 0;
  /// Notes that times up to and with `time` have been decided on. Never takes back what was noted.
  virtual Status note(const std::string& id, UnixMillis time) = 0;
};

/// Starts the runs of the schedules. Used by one thread at a time.
class Scheduler {
 public:
  /// Starts the run of a schedule for one of its times and returns when it is durable. Called again for the
  /// same time after a crash, or by another process at the same time; it must start the run once only. Errors
  /// `kInput` give this time up; after others it is called again at the next pass.
  using Start = std::function<Status(const Schedule& schedule, UnixMillis time)>;
  Scheduler(std::shared_ptr<ScheduleStore> store, std::shared_ptr<Environment> environment, Start start,
            std::function<void(const std::string&)> warn)
      : store_(std::move(store)),
        environment_(std::move(environment)),
        start_(std::move(start)),
        warn_(std::move(warn)) {}

  /// Starts what is due. Problems go to `warn`, each text once.
  void pass();

 private:
  void carry_out(const Schedule& schedule);
  void warn_once(const std::string& text);

  std::shared_ptr<ScheduleStore> store_;
  std::shared_ptr<Environment> environment_;
  Start start_;
  std::function<void(const std::string&)> warn_;
  std::set<std::string> warned_;
};

}  // namespace praxis::app
