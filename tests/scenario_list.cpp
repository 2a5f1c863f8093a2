// The scenarios themselves: what the model says, and what else differs.
#include <utility>

#include "praxis/praxis.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

// ---- the table

Limits limits(std::uint32_t max_steps, std::uint32_t max_tool_calls, std::uint32_t max_messages = 50) {
  Limits limits;
  limits.max_steps = max_steps;
  limits.max_tool_calls = max_tool_calls;
  limits.max_messages = max_messages;
  return limits;
}

std::function<void(Agent&)> limited(Limits limits) {
  return [limits](Agent& agent) { agent.limits(limits); };
}

std::function<void(Agent&)> ruled(PolicyRules rules) {
  return [rules](Agent& agent) { agent.policy(rules); };
}

/// A script of `rounds` tool calls, then an answer.
std::string many_rounds(int rounds) {
  std::string script;
  for (int i = 0; i < rounds; ++i) {
    script += R"({"text": "round )" + std::to_string(i) +
              R"(", "tool_calls": [{"name": "add", "arguments": {"a": )" + std::to_string(i) +
              R"(, "b": 1}}]})" + "\n";
  }
  return script + R"({"text": "enough"})";
}

/// Calls of `note` with so many words that a few of them fill the window of `windowed`.
std::string long_notes(int from, int to) {
  std::string words, script;
  for (int i = 0; i < 400; ++i) words += "word ";
  for (int i = from; i < to; ++i) {
    script += R"({"tool_calls": [{"name": "note", "arguments": {"text": ")" + std::to_string(i) + " " +
              words + "\"}}]}\n";
  }
  return script;
}

constexpr const char* kSummary = R"({"text": "Many words were noted; nothing is open."})"
                                 "\n";
constexpr const char* kTooLong =
    R"({"error": {"status": 400, "code": "context_length_exceeded", "message": "too long"}})"
    "\n";

/// Limits an agent to requests of 4,000 tokens, which five long notes exceed.
void windowed(Agent& agent) {
  Limits limits;
  limits.max_context = 4'000;
  agent.limits(limits);
}

/// Requires answers that name a city.
void asked_for_a_city(Agent& agent) {
  agent.output_schema(JsonObject{{"type", "object"},
                                 {"properties", JsonObject{{"city", JsonObject{{"type", "string"}}}}},
                                 {"required", JsonArray{"city"}}});
}

constexpr const char* kNoteOnce = R"({"tool_calls": [{"name": "note", "arguments": {"text": "milk"}}]}
{"text": "done"})";

constexpr const char* kSameAgain = R"({"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]})";

using Add = std::function<void(Scenario)>;

void plain_scenarios(const Add& add) {
  add({.name = "plain", .script = R"({"text": "Grüß Gott, wörld"})"});
  add({.name = "reasoning", .script = R"({"reasoning": "The user says go.", "text": "So I go."})"});
  add({.name = "several_turns",
       .script = R"({"text": "one"}
{"text": "two"}
{"text": "three"})",
       .prompts = {"a", "b", "c"},
       .turns = 3});
  add({.name = "one_tool",
       .script = R"({"text": "Let me see.", "tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
{"text": "5"})"});
  add({.name = "several_steps", .script = R"({"tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
{"reasoning": "hm", "tool_calls": [{"name": "note", "arguments": {"text": "5"}}]}
{"text": "and now", "tool_calls": [{"name": "add", "arguments": {"a": 5, "b": 5}}]}
{"text": "10"})"});
  add({.name = "parallel",
       .script =
           R"({"tool_calls": [{"name": "ordered", "arguments": {"after": 2}}, {"name": "ordered", "arguments": {"after": 1}}, {"name": "ordered", "arguments": {"after": 0}}]}
{"text": "all three"})"});
}

void tools_and_failures_scenarios(const Add& add) {
  add({.name = "tool_error", .script = R"({"tool_calls": [{"name": "broken", "arguments": {}}]}
{"tool_calls": [{"name": "ad", "arguments": {}}]}
{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
{"text": "recovered"})"});
  add({.name = "tool_retries", .script = R"({"tool_calls": [{"name": "flaky", "arguments": {}}]}
{"text": "it worked"})"});
  add({.name = "fatal_tool_error",
       .script = R"({"tool_calls": [{"name": "broken", "arguments": {}}]}
{"text": "never said"})",
       .shape = [](Agent& agent) { agent.tool_failure(ToolFailureMode::kFail); },
       .ends = StopReason::kToolFailed});
  add({.name = "model_retries",
       .script = R"({"error": {"status": 503, "message": "busy", "retry_after_ms": 1}}
{"error": {"status": 429, "message": "slow down", "retry_after_ms": 1}}
{"text": "third time lucky"})"});
  add({.name = "model_fails",
       .script = R"({"error": {"status": 401, "message": "who are you"}}
{"text": "never said"})",
       .ends = StopReason::kModelFailed});
  add({.name = "malformed_call", .script = R"({"tool_calls": [{"name": "add", "arguments": "{\"a\": 1, "}]}
{"text": "never mind"})"});
}

void decisions_scenarios(const Add& add) {
  add({.name = "denied_by_policy",
       .script = kNoteOnce,
       .shape = ruled({.allow = {}, .deny = {"note"}, .ask = {}})});
  add({.name = "approval_allowed",
       .script = kNoteOnce,
       .approvals = {approve()},
       .shape = ruled({.allow = {}, .deny = {}, .ask = {"note"}})});
  add({.name = "approval_denied",
       .script = kNoteOnce,
       .approvals = {reject("not today")},
       .shape = ruled({.allow = {}, .deny = {}, .ask = {"note"}})});
  add({.name = "approval_edited",
       .script = kNoteOnce,
       .approvals = {edit(R"({"text": "beer"})")},
       .shape = ruled({.allow = {}, .deny = {}, .ask = {"note"}})});
  add({.name = "approval_in_batch",
       .script =
           R"({"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}, {"name": "note", "arguments": {"text": "x"}}]}
{"text": "both"})",
       .approvals = {approve()},
       .shape = ruled({.allow = {}, .deny = {}, .ask = {"note"}})});
  add({.name = "steering", .script = R"({"tool_calls": [{"name": "steer", "arguments": {"text": "be brief"}}]}
{"text": "brief"})"});
  add({.name = "enqueue",
       .script = R"({"tool_calls": [{"name": "enqueue", "arguments": {"text": "and then?"}}]}
{"text": "first"}
{"text": "second"})",
       .turns = 2});
  add({.name = "interrupt",
       .script = R"({"tool_calls": [{"name": "interrupt", "arguments": {}}]}
{"text": "never said"})",
       .ends = StopReason::kCancelled});
  add({.name = "sub_agent", .script = R"({"tool_calls": [{"name": "delegate", "arguments": {}}]}
{"text": "done below"})"});
}

void results_and_output_scenarios(const Add& add) {
  add({.name = "window", .script = many_rounds(12), .shape = limited(limits(100, 0, 8))});
  add({.name = "huge_result", .script = R"({"tool_calls": [{"name": "big", "arguments": {"bytes": 100000}}]}
{"text": "big indeed"})"});
  add({.name = "structured",
       .script = R"({"text": "```json\n{\"city\": \"Rome\"}\n```"})",
       .shape = asked_for_a_city});
  add({.name = "structured_repaired",
       .script = R"({"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
{"text": "Rome"}
{"text": "{\"city\": \"Rome\"}"})",
       .shape = asked_for_a_city});
  add({.name = "structured_never",
       .script = R"({"text": "Rome"}
{"text": "{\"city\": 5}"}
{"text": "{}"}
{"text": "never said"})",
       .shape = asked_for_a_city,
       .ends = StopReason::kInvalidOutput});
  add({.name = "paused", .script = R"({"text": "I am searching. ", "finish": "pause"}
{"text": "Found."})"});
}

void windows_and_limits_scenarios(const Add& add) {
  add({.name = "compaction",
       .script = long_notes(0, 4) + kSummary + long_notes(4, 5) + R"({"text": "all noted"})",
       .shape = windowed});
  add({.name = "compaction_fails",
       .script = long_notes(0, 4) + R"({"error": {"status": 401, "message": "no"}}
{"text": "all noted"})",
       .shape = windowed});
  add({.name = "compaction_after_overflow",
       .script = long_notes(0, 3) + kTooLong + kSummary + R"({"text": "it fits now"})"});
  add({.name = "window_full", .script = long_notes(0, 3) + R"({"text": "it fi", "finish": "context_window"}
)" + kSummary + R"({"text": "it fits now"})"});
  add({.name = "too_strict",
       .script = R"({"error": {"status": 400, "message": "the tools' schemas are too complex"}}
{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
{"text": "2"})"});
  add({.name = "irreducible", .script = kTooLong, .ends = StopReason::kContextLimit});
  add({.name = "max_steps",
       .script = many_rounds(5),
       .shape = limited(limits(3, 0)),
       .ends = StopReason::kMaxSteps});
  add({.name = "max_tool_calls",
       .script = many_rounds(5),
       .shape = limited(limits(100, 3)),
       .ends = StopReason::kMaxToolCalls});
  std::string circles;
  for (int i = 0; i < 8; ++i) circles += std::string(kSameAgain) + "\n";
  add({.name = "repetition", .script = circles, .ends = StopReason::kRepetition});
}

void plans_scenarios(const Add& add) {
  add({.name = "plan", .plan = R"([
    {"id": "put", "tool": "kv", "input": {"op": "put", "key": "who", "value": "${prompt}"}},
    {"id": "sum", "tools": [{"tool": "ordered", "input": {"after": 2}}, {"tool": "ordered", "input": {"after": 1}}]},
    {"id": "get", "tool": "kv", "input": {"op": "get", "key": "who"}},
    {"id": "say", "message": "I know ${steps.get.text}"},
    {"id": "bad", "tool": "broken", "on_error": "continue"},
    {"id": "end", "finish": "${steps.get.text}, ${steps.bad.ok}"}])"});
  add({.name = "plan_question",
       .plan = R"([
    {"id": "who", "ask": "Who is there?"},
    {"id": "note", "tool": "note", "input": {"text": "${steps.who.text}"}},
    {"id": "end", "finish": "${steps.note.text}"}])",
       .approvals = {answer("a friend")}});
  add({.name = "plan_timer", .plan = R"([
    {"id": "sum", "tool": "add", "input": {"a": 20, "b": 22}},
    {"id": "nap", "sleep_ms": 2},
    {"id": "end", "finish": "${steps.sum.text} of ${steps.sum.value.sum}"}])"});
  add({.name = "plan_fails",
       .plan = R"([{"id": "bad", "tool": "broken"}, {"id": "end", "finish": "never said"}])",
       .ends = StopReason::kPlanFailed});
}

}  // namespace

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  const Add add = [&all](Scenario scenario) { all.push_back(std::move(scenario)); };
  plain_scenarios(add);
  tools_and_failures_scenarios(add);
  decisions_scenarios(add);
  results_and_output_scenarios(add);
  windows_and_limits_scenarios(add);
  plans_scenarios(add);
  return all;
}

}  // namespace praxis::testing
