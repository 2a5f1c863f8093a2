// Two runs side by side.
#include <utility>

#include "app/envelope.hpp"
#include "app/shown_run.hpp"
#include "logs/compare.hpp"
#include "policy/event_texts.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

/// How a run stands: members of `praxis run --json`.
JsonObject standing_of(const app::StoredSession& stored, const redact::Redaction& shown) {
  AgentResult result = result_of(stored.state);
  redact_result(result, shown);
  JsonObject fields = app::run_fields(result);
  JsonObject standing{{"id", stored.id.str()},
                      {"agent", stored.state.agent->id},
                      {"model", stored.state.agent->model},
                      {"status", to_string(stored.state.status())}};
  for (const char* key : {"termination", "result", "structured"}) {
    if (const Json* value = fields.if_contains(key)) standing[key] = *value;
  }
  const Usage usage = stored.state.subtree_usage();
  standing["turns"] = stored.state.next_turn - 1;
  standing["tool_calls"] = stored.state.subtree_calls();
  standing["records"] = stored.records.size();
  standing["tokens"] = usage.total();
  standing["cost_usd"] = app::cost_or_null(usage);
  return standing;
}

Result<app::StoredSession> stored_as(Service& service, const Call& call, const char* name) {
  const auto id = service.runs->find(call.name(name), call.principal);
  if (!id) return fail(id.error());
  return service.runs->stored(*id);
}

}  // namespace

Result<HttpAnswer> compare_runs(Service& service, const Call& call) {
  const auto first = stored_as(service, call, "id"), second = stored_as(service, call, "other");
  if (!first) return fail(first.error());
  if (!second) return fail(second.error());
  auto compared = compare_sessions(first->records, second->records);
  if (!compared) return fail(compared.error());
  const redact::Redaction of_first = filters_of_shown(service, first->id),
                          of_second = filters_of_shown(service, second->id);
  app::redact_difference(compared->difference, of_first, of_second);
  Json difference = nullptr;
  if (const auto& found = compared->difference) {
    difference = JsonObject{
        {"seq", found->seq}, {"field", found->field}, {"first", found->expected}, {"second", found->found}};
  }
  return json_answer(JsonObject{{"first", standing_of(*first, of_first)},
                                {"second", standing_of(*second, of_second)},
                                {"common_records", compared->common},
                                {"difference", std::move(difference)}});
}

}  // namespace praxis::server
