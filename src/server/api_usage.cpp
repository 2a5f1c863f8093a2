// Usage and cost of model calls.
#include <chrono>
#include <utility>

#include "app/envelope.hpp"
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

JsonObject amounts_json(const app::UsageRow& row) {
  return JsonObject{{"calls", row.calls},
                    {"usage", to_json(row.usage)},
                    {"cost_usd", row.has_unknown_price ? Json(nullptr) : app::cost_or_null(row.usage)}};
}

}  // namespace

Result<HttpAnswer> show_usage(Service& service, const Call& call) {
  const UnixMillis today = start_of_day(service.runtime->environment().now());
  const auto until = day_in(call, "until", today);
  if (!until) return fail(until.error());
  const auto from = day_in(call, "from", *until + -kOneDay * (kDaysShown - 1));
  if (!from) return fail(from.error());
  if (*from > *until) return fail(field_error("from", "must not be after \"until\""));
  if (*until - *from >= kOneDay * kMostDays)
    return fail(field_error("from", "must be at most 365 days before \"until\""));
  app::UsageQuestion question{.from = *from,
                              .until = *until + kOneDay,
                              .agent = call.parameter("agent"),
                              .model = call.parameter("model")};
  if (!call.principal.sees_all) {
    question.counts = [runs = service.runs, principal = call.principal](const SessionId& session) {
      return runs->may_see(principal, runs->lineages().root_of(session));
    };
  }
  const auto report = service.usage.report(*service.journal, question);
  if (!report) return fail(report.error());
  JsonArray rows;
  for (const app::UsageRow& row : report->rows) {
    JsonObject json{{"day", row.day}, {"agent", row.agent}, {"model", row.model}};
    for (auto& [key, value] : amounts_json(row)) json[key] = std::move(value);
    rows.push_back(std::move(json));
  }
  return json_answer(JsonObject{{"from", day_of(*from)},
                                {"until", day_of(*until)},
                                {"complete", true},
                                {"rows", std::move(rows)},
                                {"total", amounts_json(report->total)}});
}

}  // namespace praxis::server
