#include "driver/call_review.hpp"

#include <algorithm>
#include <utility>

#include "policy/conditions.hpp"
#include "policy/flow.hpp"

namespace praxis::driver {

Review judge_call(const Rules& rules, const ToolDefinition* tool, const ToolCallPart& call) {
  Review review;
  if (tool != nullptr) review.permission = judge(rules, *tool, call);
  return review;
}

void judge_origins(Review& review, const Rules& rules, const State& state, const CallState& call) {
  const auto is_on = [](const PolicyRules& each) { return each.flow.mode != FlowMode::kOff; };
  if (std::ranges::none_of(rules, is_on) || std::holds_alternative<Deny>(review.permission)) return;
  const ToolSpec* const tool = state.agent->find_tool(call.call.name);
  if (tool == nullptr) return;  // the call itself fails
  ToolCallPart seen = call.call;
  if (review.arguments) seen.arguments = *review.arguments;
  const flow::Verdict verdict = flow::judge(rules, state, tool->definition, seen, call.within);
  if (std::holds_alternative<Allow>(verdict.permission)) return;
  review.permission = flow::narrowed(std::move(review.permission), verdict);
  review.author = by_policy();
}

void judge_conditions(Review& review, const Rules& rules, const State& state, const CallState& call) {
  if (std::ranges::none_of(rules, [](const PolicyRules& each) { return any_conditions(each); })) return;
  const ToolSpec* const tool = state.agent->find_tool(call.call.name);
  if (tool == nullptr) return;  // the call itself fails
  ToolCallPart seen = call.call;
  if (review.arguments) seen.arguments = *review.arguments;
  Permission now = judge_at(rules, tool->definition, seen, &state);
  if (strictness(now) <= strictness(review.permission)) return;
  review.permission = std::move(now);
  review.author = by_policy();
}

void judge_content(Review& review, const filters::FilterSetPtr& filters, const Rules& rules,
                   const State& state, const CallState& call) {
  const ToolSpec* const tool = state.agent->find_tool(call.call.name);
  if (!filters || tool == nullptr || std::holds_alternative<Deny>(review.permission)) return;
  ToolCallPart seen = call.call;
  if (review.arguments) seen.arguments = *review.arguments;
  filters::CallVerdict verdict = filters::judge(*filters, seen);
  const auto tighten = [&](Permission permission, const Author& author) {
    if (strictness(permission) <= strictness(review.permission)) return;
    if (std::holds_alternative<Deny>(permission)) review.author = author;
    review.permission = std::move(permission);
  };
  if (verdict.arguments) {
    review.arguments = seen.arguments = *std::move(verdict.arguments);
    review.author = filters::author_of(verdict.redacted_by);
    tighten(judge_at(rules, tool->definition, seen, &state), by_policy());
  }
  tighten(std::move(verdict.permission), verdict.author);
}

const std::shared_ptr<const Rules>& CallReview::rules(const AgentSpecPtr& agent) {
  if (rules_ && rules_of_ == agent) return rules_;
  Rules rules;
  if (const auto* bounds = agent->bounds.if_array()) {
    for (const Json& above : *bounds) rules.push_back(policy_rules_from_json(above));
  }
  rules.push_back(policy_rules_from_json(agent->policy));
  rules_of_ = agent;
  if (rules_ && *rules_ == rules) return rules_;
  filters_ = filters::filters_of(*agent);
  rules_ = std::make_shared<const Rules>(std::move(rules));
  ++version_;
  reviews_.clear();
  return rules_;
}

const filters::FilterSetPtr& CallReview::filters(const AgentSpecPtr& agent) {
  rules(agent);
  return filters_;
}

void CallReview::begin_step(std::uint32_t step) {
  if (std::exchange(step_, step) != step) reviews_.clear();
}

Review* CallReview::find(const CallId& call) {
  const auto found = reviews_.find(call);
  return found == reviews_.end() ? nullptr : &found->second;
}

void CallReview::add(std::uint64_t version, std::map<CallId, Review> reviews) {
  if (version == version_) reviews_.merge(std::move(reviews));
}

void CallReview::suspend() {
  rules_of_.reset();
  if (!reviews_.empty()) return;
  rules_.reset();
  filters_.reset();
}

}  // namespace praxis::driver
