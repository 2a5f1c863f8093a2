#include "app/schedule_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "praxis/base/dates.hpp"
#include "store/sealed_text.hpp"

namespace praxis::app {
namespace {

constexpr std::array<std::string_view, 3> kMissedNames{"skip", "once", "all"};

SealPlace schedule_place(std::int64_t number, const std::string& id) {
  return SealPlace("schedules.prompt").add(number).add(id);
}

Schedule plain_schedule(const Query& row) {
  return {.id = row.text(1),
          .times = row.text(2),
          .zone = row.text(3),
          .agent = row.text(4),
          .prompt = row.text(5),
          .missed = static_cast<Missed>(std::clamp<std::int64_t>(row.integer(6), 0, 2)),
          .paused = row.integer(7) != 0,
          .done = {row.integer(8)}};
}

Status reseal_schedules(Database& database, const Sealer* from, const Sealer& to) {
  const auto rows = read_schedules(database, from);
  if (!rows) return fail(rows.error());
  SealSum unused(database);  // the caller computes it of all values
  for (const StoredSchedule& row : *rows) {
    if (auto done = update_schedule(database, &to, row, unused); !done) return done;
  }
  return {};
}

}  // namespace

Json to_json(const Schedule& schedule) {
  return JsonObject{
      {"id", schedule.id},         {"times", schedule.times},
      {"zone", schedule.zone},     {"agent", schedule.agent},
      {"prompt", schedule.prompt}, {"missed", kMissedNames.at(static_cast<std::size_t>(schedule.missed))},
      {"paused", schedule.paused}, {"done", to_iso8601(schedule.done)}};
}

std::string packed_schedule(const Schedule& schedule) {
  JsonObject fields = to_json(schedule).get_object();
  fields["done"] = schedule.done.value;
  return to_json_text(fields);
}

std::optional<Schedule> unpacked_schedule(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return std::nullopt;
  const auto missed = std::ranges::find(kMissedNames, json_string(*json, "missed"));
  if (missed == kMissedNames.end()) return std::nullopt;
  return Schedule{.id = json_string(*json, "id"),
                  .times = json_string(*json, "times"),
                  .zone = json_string(*json, "zone"),
                  .agent = json_string(*json, "agent"),
                  .prompt = json_string(*json, "prompt"),
                  .missed = static_cast<Missed>(missed - kMissedNames.begin()),
                  .paused = json_bool(*json, "paused"),
                  .done = {json_int(*json, "done")}};
}

const SqliteFileForm& schedules_form() {
  static constexpr SqliteFileForm kForm{
      "schedules",
      0x50525853,  // "PRXS"
      1,
      "CREATE TABLE schedules (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, times TEXT NOT NULL, "
      "zone TEXT NOT NULL, agent TEXT NOT NULL, prompt TEXT NOT NULL, missed INTEGER NOT NULL, paused "
      "INTEGER NOT NULL, done INTEGER NOT NULL);",
      2,
      "SELECT substr(prompt, 1, 25) FROM schedules",
      reseal_schedules};
  return kForm;
}

Result<std::vector<StoredSchedule>> read_schedules(Database& database, const Sealer* sealer) {
  std::vector<StoredSchedule> all;
  Query query(database,
              "SELECT number, id, times, zone, agent, prompt, missed, paused, done FROM schedules ORDER BY "
              "number");
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return all;
    if (sealer == nullptr) {
      all.push_back({query.integer(0), plain_schedule(query), ""});
      continue;
    }
    const auto packed = sealer->open(query.bytes(5), schedule_place(query.integer(0), query.text(1)));
    auto schedule = packed ? unpacked_schedule(*packed) : std::nullopt;
    if (!schedule) return altered_value(database);
    all.push_back({query.integer(0), *std::move(schedule), query.text(5)});
  }
}

Status insert_schedule(Database& database, const Schedule& schedule, SealSum& sum) {
  auto added = database.run(
      "INSERT INTO schedules (id, times, zone, agent, prompt, missed, paused, done) VALUES (?1, '', '', '', "
      "'', 0, 0, 0)",
      schedule.id);
  if (!added) return added;
  return update_schedule(database, database.sealer(),
                         {sqlite3_last_insert_rowid(database.handle()), schedule, ""}, sum);
}

Status update_schedule(Database& database, const Sealer* sealer, const StoredSchedule& row, SealSum& sum) {
  const Schedule& all = row.schedule;
  // A sealed file has all of it in the column of the prompt; the other columns are empty.
  const std::string packed = sealer == nullptr ? all.prompt : packed_schedule(all);
  const SealedText prompt(sealer, std::string_view(packed), schedule_place(row.number, all.id));
  sum.change(prompt.sealed());
  const Schedule shown = sealer == nullptr ? all : Schedule{};
  return database.run(
      "UPDATE schedules SET times = ?2, zone = ?3, agent = ?4, prompt = ?5, missed = ?6, paused = ?7, done = "
      "?8 WHERE number = ?1",
      row.number, shown.times, shown.zone, shown.agent, prompt.value(),
      static_cast<std::int64_t>(shown.missed), static_cast<std::int64_t>(shown.paused), shown.done.value);
}

}  // namespace praxis::app
