#include "app/mcp_task_run.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "app/mcp_agent_tools.hpp"
#include "praxis/core/state.hpp"

namespace praxis::app {
namespace {

constexpr const char* kDecision = "decision";
constexpr const char* kReason = "reason";
constexpr const char* kAnswer = "answer";
constexpr std::array<std::string_view, 4> kPlainTypes{"string", "number", "integer", "boolean"};

std::string step_name(const SessionId& run, const ParkedStep& step) {
  return qualified_id(step.session.empty() ? run : step.session, step.id).str();
}

bool takes_approval(const ParkedStep& step) {
  const auto allowed = allowed_approvals(step.kind);
  return std::ranges::find(allowed, ApprovalVerb::kApprove) != allowed.end();
}

/// The field for an answer: forms of this protocol have plain values only.
Json answer_field(const Json& schema) {
  const bool is_plain = std::ranges::find(kPlainTypes, json_text(schema, "type")) != kPlainTypes.end();
  return is_plain ? schema : Json(JsonObject{{"type", "string"}});
}

Json form_for(const ParkedStep& step) {
  JsonObject fields;
  std::string text = step.prompt;
  if (takes_approval(step)) {
    fields[kDecision] = JsonObject{{"type", "string"}, {"enum", JsonArray{"allow", "deny"}}};
    fields[kReason] = JsonObject{{"type", "string"}, {"description", "Why not; the agent reads it"}};
    if (!step.tool.empty()) text += "\n" + step.tool + ' ' + step.arguments;
  } else {
    fields[kAnswer] = answer_field(step.schema);
  }
  const JsonArray required{takes_approval(step) ? kDecision : kAnswer};
  return JsonObject{{"method", "elicitation/create"},
                    {"params", JsonObject{{"mode", "form"},
                                          {"message", std::move(text)},
                                          {"requestedSchema", JsonObject{{"type", "object"},
                                                                         {"properties", std::move(fields)},
                                                                         {"required", required}}}}}};
}

/// Nothing: the user left the step open, or what came is no decision.
std::optional<McpDecision> decision_in(const ParkedStep& step, const Json& response) {
  const std::string action = json_string(response, "action");
  const Json& content = json_at(response, "content");
  if (action == "decline") return McpDecision{{}, reject("the user of the client declined")};
  if (action != "accept") return std::nullopt;
  if (takes_approval(step)) {
    const std::string word = json_string(content, kDecision);
    if (word != "allow" && word != "deny") return std::nullopt;
    return McpDecision{{}, word == "allow" ? approve() : reject(json_string(content, kReason))};
  }
  const Json& given = json_at(content, kAnswer);
  if (given.is_null()) return std::nullopt;
  return McpDecision{{}, answer(given.is_string() ? std::string(given.get_string()) : to_json_text(given))};
}

}  // namespace

ServedTask mcp_task_of(const StoredSession& stored, const std::vector<ParkedStep>& pending) {
  using Status = ServedTask::Status;
  ServedTask task;
  task.id = stored.id.str();
  if (!stored.records.empty()) {
    task.created = stored.records.front().record.time;
    task.updated = stored.records.back().record.time;
  }
  if (!pending.empty()) {
    task.status = Status::kInputRequired;
    task.message = "The run waits for a human.";
    for (const ParkedStep& step : pending) task.asks[step_name(stored.id, step)] = form_for(step);
    return task;
  }
  if (stored.state.turn || stored.state.marks.empty()) return task;
  AgentResult result = result_of(stored.state);
  result.session = stored.id;
  const bool is_cancelled = result.reason == StopReason::kCancelled;
  task.status = is_cancelled ? Status::kCancelled : Status::kCompleted;
  if (!is_cancelled) task.result = mcp_result_of(result);
  return task;
}

std::vector<McpDecision> mcp_decisions(const SessionId& run, const std::vector<ParkedStep>& pending,
                                       const JsonObject& answers) {
  std::vector<McpDecision> decisions;
  for (const ParkedStep& step : pending) {
    const std::string name = step_name(run, step);
    const Json* const response = answers.if_contains(name);
    auto decision = response != nullptr ? decision_in(step, *response) : std::nullopt;
    if (!decision) continue;
    decision->step = name;
    decisions.push_back(*std::move(decision));
  }
  return decisions;
}

}  // namespace praxis::app
