// The list of runs, and taking runs out of it.
#include <algorithm>
#include <utility>

#include "app/run_list.hpp"
#include "app/run_nodes.hpp"
#include "app/values.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kRunsShown = 20, kMostRunsShown = 100;

/// As the command line lists it, without what this process holds: the server holds what runs.
JsonObject row_json(const app::ListedRun& run) {
  JsonObject row = app::program_json(run);
  row.stable_erase("held");
  return row;
}

Result<std::optional<MicroUsd>> cost_in(const Call& call, const std::string& key) {
  const std::string text = call.parameter(key);
  if (text.empty()) return std::optional<MicroUsd>();
  const auto cost = app::parse_usd(text);
  if (!cost) return fail(field_error(key, cost.error().message));
  return std::optional(*cost);
}

/// Error `kInput` names the parameter.
Result<app::RunFilter> run_filter_of(const Call& call) {
  app::RunFilter filter{};
  filter.text = call.parameter("q");
  filter.agent = call.parameter("agent");
  filter.model = call.parameter("model");
  filter.status = call.parameter("status");
  filter.tag = call.parameter("tag");
  if (!filter.status.empty() && filter.status != kQueuedStatus) {
    if (auto known = app::parse_status(filter.status); !known)
      return fail(field_error("status", known.error().message));
  }
  const auto from = call.time("from", DayPart::kStart), until = call.time("until", DayPart::kEnd);
  for (const auto* time : {&from, &until}) {
    if (!*time) return fail(time->error());
  }
  const auto min_cost = cost_in(call, "min_cost"), max_cost = cost_in(call, "max_cost");
  for (const auto* cost : {&min_cost, &max_cost}) {
    if (!*cost) return fail(cost->error());
  }
  filter.from = *from;
  filter.until = *until;
  filter.min_cost = *min_cost;
  filter.max_cost = *max_cost;
  return filter;
}

/// The run as the list shows it; nothing if it does not fit, or was removed meanwhile.
std::optional<app::ListedRun> fitting_run(Service& service, const SessionRow& row,
                                          const app::RunFilter& filter) {
  const auto nodes = service.trees->of(row.id);
  if (!nodes) return std::nullopt;
  app::ListedRun run = app::listed_run(row, *nodes);
  if (service.runs->is_queued(row.id)) run.row.status = kQueuedStatus;
  if (!app::fits_listed(run, filter)) return std::nullopt;
  return run;
}

}  // namespace

Result<HttpAnswer> list_runs(Service& service, const Call& call) {
  const auto limit = call.number("limit", kRunsShown, kMostRunsShown);
  if (!limit) return fail(limit.error());
  const auto filter = run_filter_of(call);
  if (!filter) return fail(filter.error());
  const std::string before = call.parameter("before");
  const std::string order = call.parameter("order");
  if (!order.empty() && order != "asc" && order != "desc")
    return fail(field_error("order", "must be asc or desc, not \"" + order + '"'));
  auto rows = service.journal->sessions();
  if (!rows) return fail(rows.error());
  if (order == "asc") std::ranges::reverse(*rows);
  JsonArray runs;
  std::string next;
  bool begun = before.empty();
  for (const SessionRow& row : *rows) {
    if (!std::exchange(begun, begun || row.id.str() == before)) continue;
    if (!row.parent.empty() || row.entries == 0 || !app::may_fit(row, *filter)) continue;
    if (!service.runs->may_see(call.principal, row.id)) continue;
    const auto run = fitting_run(service, row, *filter);
    if (!run) continue;
    if (runs.size() == *limit) {
      next = std::string(runs.back().as_object().at("id").as_string());
      break;
    }
    runs.push_back(row_json(*run));
  }
  return json_answer(
      JsonObject{{"runs", std::move(runs)}, {"next", next.empty() ? Json(nullptr) : Json(next)}});
}

Result<HttpAnswer> delete_run(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto sessions = service.runs->remove(*id);
  if (!sessions) return fail(sessions.error());
  return json_answer(JsonObject{{"id", id->str()}, {"sessions", *sessions}});
}

}  // namespace praxis::server
