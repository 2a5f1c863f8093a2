#include "app/schedule_table.hpp"

#include <mutex>
#include <utility>

#include "app/schedule_rows.hpp"
#include "journal/postgres_connection.hpp"

namespace praxis::app {
namespace {

constexpr const char* kSchedulesSubject = "schedules";

/// All statements can be repeated, so one that loses its connection is tried once more.
class ScheduleTable final : public ScheduleStore {
 public:
  ScheduleTable(std::string address, PostgresConnection connection)
      : address_(std::move(address)), connection_(std::move(connection)) {}

  Status add(const Schedule& schedule) override {
    return status_of(
        run("INSERT INTO praxis_schedules (id, schedule, paused, done) VALUES ($1::bytea, $2::bytea, $3, $4) "
            "ON CONFLICT (id) DO NOTHING",
            {schedule.id, packed_schedule(schedule), std::int64_t{schedule.paused ? 1 : 0},
             schedule.done.value}));
  }

  Result<std::vector<Schedule>> list() override {
    const auto rows = run("SELECT schedule, paused, done FROM praxis_schedules ORDER BY number", {});
    if (!rows) return fail(rows.error());
    std::vector<Schedule> all;
    for (int row = 0; row < rows->size(); ++row) {
      auto schedule = unpacked_schedule(rows->bytes(row, 0));
      if (!schedule)
        return fail(make_error(ErrorCode::kJournal, ErrorKind::kCorrupt,
                               "a schedule in " + address_ + " is damaged, or of a newer Praxis"));
      schedule->paused = rows->integer(row, 1) != 0;
      schedule->done = {rows->integer(row, 2)};
      all.push_back(*std::move(schedule));
    }
    return all;
  }

  Status remove(const std::string& id) override {
    return status_of(run("DELETE FROM praxis_schedules WHERE id = $1::bytea", {id}));
  }

  Status pause(const std::string& id, bool paused, UnixMillis now) override {
    return paused ? status_of(run("UPDATE praxis_schedules SET paused = 1 WHERE id = $1::bytea", {id}))
                  : status_of(run("UPDATE praxis_schedules SET paused = 0, done = greatest(done, $2) "
                                  "WHERE id = $1::bytea AND paused = 1",
                                  {id, now.value}));
  }

  Status note(const std::string& id, UnixMillis time) override {
    return status_of(
        run("UPDATE praxis_schedules SET done = greatest(done, $2) WHERE id = $1::bytea", {id, time.value}));
  }

 private:
  Result<PostgresRows> run(std::string_view sql, std::initializer_list<PostgresValue> values) {
    const std::lock_guard lock(mutex_);
    for (bool is_first = true;; is_first = false) {
      if (connection_.is_lost()) {
        auto again = PostgresConnection::open(address_, false, kSchedulesSubject);
        if (!again) return fail(std::move(again.error()));
        connection_ = *std::move(again);
      }
      auto rows = connection_.run(sql, values);
      if (rows || !is_first || !connection_.is_lost()) return rows;
    }
  }

  const std::string address_;
  std::mutex mutex_;
  PostgresConnection connection_;
};

/// Makes the table unless it is there. Two processes may do so at once.
Status make_schedule_table(PostgresConnection& connection) {
  return connection.execute(
      "BEGIN; SELECT pg_advisory_xact_lock(5788042); "
      "CREATE TABLE IF NOT EXISTS praxis_schedules (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
      "id bytea NOT NULL UNIQUE, schedule bytea NOT NULL, paused bigint NOT NULL, done bigint NOT NULL); "
      "COMMIT");
}

}  // namespace

Result<std::shared_ptr<ScheduleStore>> open_schedule_table(const std::string& address, bool create) {
  auto connection = PostgresConnection::open(address, false, kSchedulesSubject);
  if (!connection) return fail(std::move(connection.error()));
  const auto there = connection->holds("SELECT to_regclass('praxis_schedules') IS NOT NULL", {});
  if (!there) return fail(there.error());
  if (!*there && !create)
    return fail(
        make_error(ErrorCode::kJournal, ErrorKind::kNotFound, "there are no schedules in " + address));
  if (!*there) {
    if (auto made = make_schedule_table(*connection); !made) return fail(std::move(made.error()));
  }
  return std::make_shared<ScheduleTable>(address, *std::move(connection));
}

}  // namespace praxis::app
