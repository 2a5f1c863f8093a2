#include "praxis/core/next.hpp"

#include <algorithm>
#include <optional>

namespace praxis {
namespace {

using Phase = CallState::Phase;

constexpr std::uint32_t kMaxMalformedCalls = 3;
constexpr Millis kFirstBackoff{500};
constexpr Millis kLongestBackoff{30'000};
constexpr Millis kLongestRetryAfter{60'000};  // a vendor that asks for more patience is a failure, not a nap

Error limit_error(std::string what) { return {ErrorCode::kLimit, std::move(what), false, nullptr, nullptr}; }

/// How long to wait before attempt `next_attempt`; nothing when the vendor asks for more than we wait.
std::optional<Millis> backoff(const State& state, const EffectState& failed) {
  const Json& asked = json_at(failed.error->detail, "retry_after_ms");
  if (asked.is_int64()) {
    const Millis delay{asked.get_int64()};
    return delay > kLongestRetryAfter ? std::nullopt : std::optional(std::max(delay, Millis{0}));
  }
  const Millis full = std::min(kFirstBackoff * (1 << std::min(failed.attempt - 1, 6U)), kLongestBackoff);
  // Jitter spreads the retries of many sessions; it is drawn from the ids so that a replay draws the same.
  const Digest draw = digest_of(state.id.str() + failed.effect.str() + std::to_string(failed.attempt));
  return full / 2 + full / 2 * draw.bytes[0] / 255;
}

Decision after_model_failure(const State& state, const EffectState& failed) {
  const Error& error = *failed.error;
  const bool may_retry = error.retriable && failed.attempt < state.agent->limits.max_model_attempts;
  if (may_retry) {
    if (const auto delay = backoff(state, failed)) return CallModel{failed.attempt + 1, *delay, {}};
  }
  const bool overflow = json_string(error.detail, "kind") == "context_overflow";
  return Finish{overflow ? StopReason::kContextLimit : StopReason::kModelFailed, {}, error};
}

/// What the open batch needs; nothing when every call is settled.
std::optional<Decision> next_of_batch(const State& state) {
  const TurnState& turn = *state.turn;
  if (turn.calls.empty()) return std::nullopt;
  const Limits& limits = state.agent->limits;
  std::size_t running = 0;
  RunCalls ready;
  std::uint32_t new_calls = 0;
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    const CallState& call = turn.calls[i];
    if (call.phase == Phase::kRunning) ++running;
    if (call.phase == Phase::kProposed || call.phase == Phase::kApproved) {
      ready.calls.push_back(i);
      new_calls += call.attempt == 0 ? 1 : 0;
    }
    if (call.phase == Phase::kInDoubt) {
      const ToolSpec* tool = state.agent->find_tool(call.call.name);
      if (tool == nullptr || !tool->definition.idempotent) return ResolveDoubt{i};
      ready.calls.push_back(i);
    }
  }
  if (limits.max_tool_calls != 0 && turn.tool_calls + new_calls > limits.max_tool_calls) {
    if (running > 0) return Wait{};
    return Finish{
        StopReason::kMaxToolCalls,
        {},
        limit_error("the limit of " + std::to_string(limits.max_tool_calls) + " tool calls is reached")};
  }
  const std::size_t allowed = limits.max_parallel_tools == 0 ? ready.calls.size() : limits.max_parallel_tools;
  ready.calls.resize(std::min(ready.calls.size(), allowed > running ? allowed - running : 0));
  if (ready.calls.empty()) return Wait{};
  return ready;
}

std::optional<Decision> check_limits(const State& state) {
  const TurnState& turn = *state.turn;
  const Limits& limits = state.agent->limits;
  if (limits.max_steps != 0 && turn.step >= limits.max_steps) {
    return Finish{StopReason::kMaxSteps,
                  {},
                  limit_error("the limit of " + std::to_string(limits.max_steps) + " steps is reached")};
  }
  if (limits.max_tokens != 0 && turn.report.usage.total() >= limits.max_tokens) {
    return Finish{StopReason::kTokenLimit,
                  {},
                  limit_error(std::to_string(turn.report.usage.total()) + " tokens used, the limit is " +
                              std::to_string(limits.max_tokens))};
  }
  if (limits.max_cost.value != 0 && turn.report.usage.cost >= limits.max_cost) {
    return Finish{StopReason::kCostLimit, {}, limit_error("the cost limit of the turn is reached")};
  }
  return std::nullopt;
}

/// A model that repeats itself is told once, then stopped.
std::optional<Decision> check_repetition(const State& state) {
  const std::uint32_t limit = state.agent->limits.max_repeats;
  if (limit == 0 || state.follows_plan()) return std::nullopt;
  const Repetition& repetition = state.turn->repetition;
  const std::uint32_t count = repetition.count();
  if (count >= std::max(2U, limit)) {
    return Finish{StopReason::kRepetition,
                  {},
                  limit_error("the model repeated the same calls or errors " + std::to_string(count) +
                              " times without getting anywhere")};
  }
  if (count >= std::max(2U, limit / 2) && !repetition.warned) {
    return Say{text_message(Role::kUser, "Note from the runtime: your last calls and their results repeat (" +
                                             std::to_string(count) +
                                             " times). Try something else or give your final answer."),
               MessageSource::kRuntime};
  }
  return std::nullopt;
}

std::optional<Decision> check_window(const State& state) {
  const Limits& limits = state.agent->limits;
  const History& history = state.conversation.history();
  const HistoryLimits window{limits.max_messages, limits.max_context};
  if (const std::size_t cut = choose_cut(history, window)) {
    const bool tokens = limits.max_context != 0 && history.estimated_tokens() > limits.max_context;
    return Compact{cut, tokens ? "max_context" : "max_messages"};
  }
  if (limits.max_context != 0 && history.estimated_tokens() > limits.max_context) {
    return Finish{StopReason::kContextLimit,
                  {},
                  limit_error("the conversation needs about " + std::to_string(history.estimated_tokens()) +
                              " tokens, the limit is " + std::to_string(limits.max_context) +
                              ", and nothing more can be left out")};
  }
  return std::nullopt;
}

/// The model has answered without asking for tools.
std::optional<Decision> after_answer(const State& state) {
  const TurnState& turn = *state.turn;
  if (!turn.answer) return std::nullopt;
  if (turn.answer->malformed_call) {
    if (turn.malformed_calls >= kMaxMalformedCalls) {
      return Finish{
          StopReason::kModelFailed,
          {},
          Error{ErrorCode::kModel, "the model kept sending tool calls that cannot be read", false, {}, {}}};
    }
    return Say{
        text_message(Role::kUser,
                     "Note from the runtime: a tool call was cut off or its arguments were no valid JSON, "
                     "so it was not run. Send it again, complete, or answer without it."),
        MessageSource::kRuntime};
  }
  switch (turn.answer->finish) {
    case FinishReason::kPause:
      return std::nullopt;
    case FinishReason::kLength:
      return Finish{
          StopReason::kOutputLimit, {}, limit_error("the answer was cut off by the model's output limit")};
    case FinishReason::kContentFilter:
    case FinishReason::kRefusal:
      return Finish{StopReason::kRefused,
                    {},
                    Error{ErrorCode::kModel, "the model refused to answer", false, nullptr, nullptr}};
    case FinishReason::kContextWindow:
      return Finish{StopReason::kContextLimit, {}, limit_error("the model's context window is full")};
    case FinishReason::kError:
      return Finish{
          StopReason::kModelFailed,
          {},
          Error{ErrorCode::kModel, "the model ended its answer with an error", false, nullptr, nullptr}};
    default:
      // What a person said while the model was answering still has to be heard.
      if (!state.steering.empty()) return std::nullopt;
      return Finish{StopReason::kFinished, {}, std::nullopt};
  }
}

struct StepDecision {
  Decision operator()(const AskModel&) const { return CallModel{}; }
  Decision operator()(const UseTools& step) const {
    Message message;
    message.role = Role::kAssistant;
    if (!step.text.empty()) message.parts.emplace_back(TextPart{step.text, nullptr});
    for (const ToolCallPart& call : step.calls) message.parts.emplace_back(call);
    return Say{std::move(message), MessageSource::kPlan};
  }
  Decision operator()(const AddMessage& step) const {
    return Say{text_message(Role::kAssistant, step.text), MessageSource::kPlan};
  }
  Decision operator()(const AskPerson& step) const { return Park{step.prompt}; }
  Decision operator()(const Sleep& step) const { return StartTimer{step.delay}; }
  Decision operator()(const Conclude& step) const { return Finish{step.reason, step.text, step.error}; }
};

std::optional<Decision> next_of_effect(const State& state) {
  const TurnState& turn = *state.turn;
  if (!turn.effect) return std::nullopt;
  const EffectState& effect = *turn.effect;
  if (effect.phase == EffectState::Phase::kRunning) return Wait{};
  if (effect.phase == EffectState::Phase::kFailed) return after_model_failure(state, effect);
  if (effect.kind == EffectKind::kTimer) return StartTimer{effect.delay, effect.attempt + 1};
  return CallModel{effect.attempt + 1, Millis{0}, {}};
}

}  // namespace

Decision next(const State& state, const Planner& planner) {
  if (!state.turn) {
    if (state.queue.empty() || state.paused) return Idle{};
    return BeginTurn{state.queue.front()};
  }
  const TurnState& turn = *state.turn;
  if (turn.stop) {
    if (turn.in_flight()) return Wait{};
    if (*turn.stop == StopReason::kTimeLimit) {
      return Finish{*turn.stop,
                    {},
                    limit_error("the time limit of " + std::to_string(state.agent->limits.max_time.count()) +
                                " ms is reached")};
    }
    return Finish{*turn.stop, {}, Error{ErrorCode::kCancelled, "cancelled", false, nullptr, nullptr}};
  }
  if (state.paused) return Wait{};
  if (auto decision = next_of_effect(state)) return *std::move(decision);
  if (turn.fatal)
    return turn.in_flight() ? Decision{Wait{}} : Finish{StopReason::kToolFailed, {}, turn.fatal};
  if (auto decision = next_of_batch(state)) return *std::move(decision);
  if (!state.parked.empty()) return Wait{};
  if (auto decision = after_answer(state)) return *std::move(decision);
  if (!state.steering.empty()) {
    return Say{text_message(Role::kUser, state.steering.front()), MessageSource::kSteer};
  }
  if (auto decision = check_limits(state)) return *std::move(decision);
  if (auto decision = check_repetition(state)) return *std::move(decision);
  if (auto decision = check_window(state)) return *std::move(decision);
  return std::visit(StepDecision{}, planner.plan(state));
}

}  // namespace praxis
