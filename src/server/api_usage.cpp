// Usage and cost of model calls, and how agents, models and tools did.
#include <algorithm>
#include <chrono>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "app/envelope.hpp"
#include "app/run_stats.hpp"
#include "app/usage_report.hpp"
#include "praxis/base/dates.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

constexpr Millis kOneDay = std::chrono::days(1);
constexpr std::int64_t kDaysShown = 30, kMostDays = 366;

UnixMillis start_of_day(UnixMillis time) { return {time.value - time.value % kOneDay.count()}; }

std::string day_of(UnixMillis time) {
  return to_iso8601(time).substr(0, std::string_view("2026-01-31").size());
}

Result<UnixMillis> day_in(const Call& call, const std::string& key, UnixMillis fallback) {
  const std::string text = call.parameter(key);
  if (text.empty()) return fallback;
  const auto day = day_named(text);
  if (!day) return fail(field_error(key, "must be a day such as 2026-01-31, not \"" + text + "\""));
  return *day;
}

/// The days of the question, and whether a session counts for who asks.
struct UsageTimes {
  UnixMillis from, until;  ///< beginnings of the first and of the last day
  std::function<bool(const SessionId& session)> counts;
};

Result<UsageTimes> times_in(Service& service, const Call& call) {
  const UnixMillis today = start_of_day(service.runtime->environment().now());
  const auto until = day_in(call, "until", today);
  if (!until) return fail(until.error());
  const auto from = day_in(call, "from", *until + -kOneDay * (kDaysShown - 1));
  if (!from) return fail(from.error());
  if (*from > *until) return fail(field_error("from", "must not be after \"until\""));
  if (*until - *from >= kOneDay * kMostDays)
    return fail(field_error("from", "must be at most 365 days before \"until\""));
  UsageTimes times{*from, *until, nullptr};
  if (!call.principal.sees_all) {
    times.counts = [runs = service.runs, principal = call.principal](const SessionId& session) {
      return runs->may_see(principal, runs->lineages().root_of(session));
    };
  }
  return times;
}

/// The tables that the parameter `by` names, apart by commas.
Result<std::vector<app::StatsBy>> tables_in(const Call& call) {
  std::vector<app::StatsBy> tables;
  std::string names = call.parameter("by");
  if (names.empty()) names = "all";
  for (const auto part : std::views::split(std::string_view(names), ',')) {
    const std::string_view name(part.begin(), part.end());
    const auto by = app::stats_by_named(name);
    if (!by)
      return fail(field_error("by", "takes all, agent, model, tool, day and tenant, apart by commas, not \"" +
                                        std::string(name) + '"'));
    if (std::ranges::find(tables, *by) != tables.end())
      return fail(field_error("by", "has \"" + std::string(name) + "\" twice"));
    tables.push_back(*by);
  }
  return tables;
}

JsonObject amounts_json(const app::UsageRow& row) {
  return JsonObject{{"calls", row.calls},
                    {"usage", to_json(row.usage)},
                    {"cost_usd", row.has_unknown_price ? Json(nullptr) : app::cost_or_null(row.usage)}};
}

}  // namespace

Result<HttpAnswer> show_usage(Service& service, const Call& call) {
  const auto times = times_in(service, call);
  if (!times) return fail(times.error());
  const app::UsageQuestion question{.from = times->from,
                                    .until = times->until + kOneDay,
                                    .agent = call.parameter("agent"),
                                    .model = call.parameter("model"),
                                    .counts = times->counts};
  const auto report = service.usage.report(*service.journal, question);
  if (!report) return fail(report.error());
  JsonArray rows;
  for (const app::UsageRow& row : report->rows) {
    JsonObject json{{"day", row.day}, {"agent", row.agent}, {"model", row.model}};
    for (auto& [key, value] : amounts_json(row)) json[key] = std::move(value);
    rows.push_back(std::move(json));
  }
  return json_answer(JsonObject{{"from", day_of(times->from)},
                                {"until", day_of(times->until)},
                                {"complete", true},
                                {"rows", std::move(rows)},
                                {"total", amounts_json(report->total)}});
}

Result<HttpAnswer> show_stats(Service& service, const Call& call) {
  auto times = times_in(service, call);
  if (!times) return fail(times.error());
  auto tables = tables_in(call);
  if (!tables) return fail(tables.error());
  const app::StatsQuestion question{*std::move(tables), times->from, times->until + kOneDay,
                                    std::move(times->counts)};
  const auto report = app::run_stats(*service.journal, question, service.redactions);
  if (!report) return fail(report.error());
  JsonArray shown;
  for (const app::StatsTable& table : report->tables) {
    JsonArray rows;
    for (const app::StatsRow& row : table.rows) rows.push_back(app::stats_json(row));
    shown.push_back(JsonObject{{"by", app::name_of(table.by)}, {"rows", std::move(rows)}});
  }
  return json_answer(JsonObject{{"from", day_of(times->from)},
                                {"until", day_of(times->until)},
                                {"complete", report->is_complete},
                                {"tables", std::move(shown)}});
}

}  // namespace praxis::server
