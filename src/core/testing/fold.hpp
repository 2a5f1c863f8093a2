// For tests: a session driven by hand. `run` makes decisions and applies their records as the driver would;
// the test acts as the outside world and settles intended effects.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "praxis/core/next.hpp"

namespace praxis {

/// Whether a decision is of the type `Wanted`.
template <class Wanted>
bool is(const Decision& decision) {
  return std::holds_alternative<Wanted>(decision);
}

inline ToolSpec test_tool(std::string name, bool idempotent = false, std::uint32_t retries = 0) {
  ToolSpec tool;
  tool.definition.name = std::move(name);
  tool.definition.parameters = JsonObject{{"type", "object"}};
  tool.definition.idempotent = idempotent;
  tool.retries = retries;
  return tool;
}

inline ModelResponse says(std::string text, FinishReason finish = FinishReason::kStop) {
  ModelResponse response;
  if (!text.empty()) response.parts.emplace_back(TextPart{std::move(text), nullptr});
  response.finish = finish;
  response.model = "test:model";
  response.usage.input = 10;
  response.usage.output = 5;
  response.usage.cost = {100};
  return response;
}

inline ToolCallPart tool_call(std::string id, std::string name, std::string arguments = "{}") {
  return {CallId{std::move(id)}, std::move(name), std::move(arguments), true, nullptr};
}

inline ModelResponse calls(std::vector<ToolCallPart> calls) {
  ModelResponse response = says({}, FinishReason::kToolCalls);
  for (ToolCallPart& call : calls) response.parts.emplace_back(std::move(call));
  return response;
}

class Fold {
 public:
  Fold(AgentSpec agent, const Planner& planner, std::uint32_t version = kRecordVersion) : planner_(planner) {
    records::SessionCreated created;
    created.version = version;
    created.session = SessionId{"s1"};
    created.seed = 7;
    created.agent = std::make_shared<const AgentSpec>(std::move(agent));
    apply(std::move(created));
  }

  const State& state() const { return state_; }
  const TurnState& turn() const { return *state_.turn; }
  const std::vector<Record>& log() const { return log_; }
  const std::vector<MessagePtr>& messages() const { return state_.conversation.history().messages(); }

  void apply(RecordBody body) {
    Record record{UnixMillis{1'000 + static_cast<std::int64_t>(log_.size())}, std::move(body)};
    if (auto applied = apply_to(state_, record); !applied) throw std::logic_error(applied.error().message);
    log_.push_back(std::move(record));
  }
  bool refuses(RecordBody body) const {
    return !praxis::apply(state_, Record{UnixMillis{0}, std::move(body)});
  }

  /// Begins a user's turn and runs it up to its first effect.
  Decision begin(std::string text) {
    apply(records::TurnStarted{TurnId{"t" + std::to_string(state_.next_turn)}});
    apply(records::MessageAppended{
        std::make_shared<const Message>(text_message(Role::kUser, std::move(text)))});
    return run();
  }

  /// Decides and applies until the session waits; returns the last decision.
  Decision run() {
    for (int i = 0; i < 10'000; ++i) {
      Decision decision = next(state_, planner_);
      if (is<Idle>(decision) || is<Wait>(decision)) return decision;
      for (RecordBody& record : derive(state_, decision)) apply(std::move(record));
    }
    throw std::logic_error("the loop does not stop");
  }

  Decision answer(ModelResponse response) {
    records::EffectSettled settled;
    settled.effect = turn().effect->effect;
    settled.result = std::move(response);
    settled.duration = Millis{20};
    apply(std::move(settled));
    return run();
  }
  Decision fail_model(Error error) {
    records::EffectSettled settled;
    settled.effect = turn().effect->effect;
    settled.outcome = Outcome::kError;
    settled.error = std::move(error);
    apply(std::move(settled));
    return run();
  }
  Decision fire_timer() {
    apply(records::EffectSettled{turn().effect->effect, Outcome::kOk, Millis{1}, {}, {}, {}});
    return run();
  }

  const CallState& call(const std::string& id) const {
    for (const CallState& call : turn().calls) {
      if (call.call.id.str() == id) return call;
    }
    throw std::logic_error("no call " + id);
  }
  Decision give(const std::string& id, std::string text, Json value = nullptr) {
    records::EffectSettled settled;
    settled.effect = call(id).effect;
    settled.duration = Millis{5};
    settled.result = ToolOutcome{
        {CallId{id}, call(id).call.name, ToolStatus::kOk, std::move(text), {}}, std::move(value), nullptr};
    apply(std::move(settled));
    return run();
  }
  Decision fail_call(const std::string& id, std::string why, bool retriable = false) {
    records::EffectSettled settled;
    settled.effect = call(id).effect;
    settled.outcome = Outcome::kError;
    settled.error = make_error(ErrorCode::kTool, std::move(why), retriable);
    apply(std::move(settled));
    return run();
  }
  Decision command(CommandVerb verb, std::string text = {}) {
    apply(records::Intervened{verb, std::move(text), nullptr});
    return run();
  }
  /// Simulates a new process that takes over.
  Decision recover() {
    apply(records::StatusChanged{state_.status(), "recovered"});
    return run();
  }
  /// Decides the step that was parked first.
  Decision decide(ApprovalVerb verb, std::string text = {}) {
    const ParkedStep& step = state_.parked.begin()->second;
    apply(records::Decided{step.id, step.call, verb, std::move(text), person_by_library()});
    return run();
  }

  AgentResult result() const { return result_of(state_); }

 private:
  State state_;
  const Planner& planner_;
  std::vector<Record> log_;
};

}  // namespace praxis
