#include "praxis/core/next.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <vector>

#include "core/context.hpp"
#include "core/decisions.hpp"
#include "core/patience.hpp"
#include "core/structured.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

constexpr std::uint32_t kMaxMalformedCalls = 3;
constexpr std::uint32_t kMaxPauses = 10;

/// Ends the turn because of a failure of the model.
Finish model_failed(StopReason reason, std::string what) {
  return {reason, {}, make_error(ErrorCode::kModel, std::move(what))};
}

/// Whether the vendor refused strict tool schemas and the tools can be offered without them. In sessions that
/// began before version 4 of the records, this error was final.
bool is_too_strict(const State& state, const EffectState& failed) {
  return json_text(failed.error->detail(), "change") == "non_strict" && state.version >= 4 &&
         !state.non_strict && may_retry(state, failed);
}

Decision after_model_failure(const State& state, const EffectState& failed) {
  const Error error = why_given_up(state, failed);
  if (const auto delay = retry_delay(state, failed)) {
    return CallModel{failed.attempt + 1, *delay, {}, failed.consult};
  }
  if (is_too_strict(state, failed)) {
    return CallModel{failed.attempt + 1, Millis{0}, {}, failed.consult, true};
  }
  if (failed.consult) {
    Finish finish{StopReason::kModelFailed, {}, error};
    finish.error->message =
        "asking the model for \"" + failed.consult->purpose + "\" failed: " + error.message;
    return finish;
  }
  if (is_overflow(error)) return after_overflow(state, error);
  if (json_text(error.detail(), "change") == "note" && !state.turn->noted) {
    return runtime_note(
        "your last answer could not be used because its form was wrong. Answer again; write every tool call "
        "completely, with arguments that are valid JSON.",
        NoteReason::kUnusable);
  }
  return Finish{StopReason::kModelFailed, {}, error};
}

/// Whether a call needs a decision: it has no outcome, and cannot run unchanged.
bool needs_a_word(const State& state, const CallState& call) {
  if (call.phase == Phase::kBarred) return true;
  if (call.phase != Phase::kInDoubt) return false;
  const ToolSpec* tool = state.agent->find_tool(call.call.name);
  return tool == nullptr || !tool->definition.idempotent;
}

bool waits_to_start(const CallState& call) {
  return call.phase == Phase::kProposed || call.phase == Phase::kApproved;
}

/// The first call that needs a decision.
std::optional<std::size_t> first_without_a_word(const State& state) {
  const CallBatch& calls = state.turn->calls;
  std::size_t first = calls.size();
  for (const Phase phase : {Phase::kBarred, Phase::kInDoubt}) {
    const auto& stand = calls.in(phase);
    const auto found =
        std::ranges::find_if(stand, [&](std::uint32_t at) { return needs_a_word(state, calls[at]); });
    if (found != stand.end()) first = std::min<std::size_t>(first, *found);
  }
  return first == calls.size() ? std::nullopt : std::optional(first);
}

/// The first calls that can start, at most as many as there are places.
std::vector<std::size_t> first_to_start(const State& state) {
  const CallBatch& calls = state.turn->calls;
  const std::size_t most = state.agent->limits.max_parallel_tools;
  const std::size_t places = most == 0 ? calls.size() : most - std::min(most, calls.at_work());
  std::vector<std::size_t> ready;
  for (const Phase phase : {Phase::kProposed, Phase::kApproved, Phase::kInDoubt})
    std::ranges::copy(calls.in(phase) | std::views::take(places), std::back_inserter(ready));
  std::ranges::sort(ready);
  ready.resize(std::min(ready.size(), places));
  return ready;
}

/// Returns what the open batch needs; `std::nullopt` if every call is settled.
std::optional<Decision> next_of_batch(const State& state) {
  const TurnState& turn = *state.turn;
  if (turn.calls.empty()) return std::nullopt;
  const Limits& limits = state.agent->limits;
  if (const auto call = first_without_a_word(state)) return AskAboutCall{*call};
  if (exceeds_call_limit(state)) {
    if (turn.in_flight()) return Wait{};
    return limit_reached(StopReason::kMaxToolCalls,
                         "the limit of " + std::to_string(limits.max_tool_calls) + " tool calls is reached");
  }
  RunCalls ready{first_to_start(state)};
  if (ready.calls.empty()) return Wait{};
  return ready;
}

std::optional<Decision> check_limits(const State& state) {
  const TurnState& turn = *state.turn;
  const Limits& limits = state.agent->limits;
  // Up to version 3 of the records, a repeated step counted again.
  const bool goes_on = turn.redo && state.version >= 4;
  if (limits.max_steps != 0 && turn.step >= limits.max_steps && !goes_on) {
    return limit_reached(StopReason::kMaxSteps,
                         "the limit of " + std::to_string(limits.max_steps) + " steps is reached");
  }
  const Usage usage = turn.report.usage + turn.report.usage_children;
  if (limits.max_tokens != 0 && usage.total() >= limits.max_tokens) {
    return limit_reached(
        StopReason::kTokenLimit,
        std::to_string(usage.total()) + " tokens used, the limit is " + std::to_string(limits.max_tokens));
  }
  if (limits.max_usd.value != 0 && usage.cost >= limits.max_usd) {
    return limit_reached(StopReason::kCostLimit, "the cost limit of the turn is reached");
  }
  return std::nullopt;
}

/// Warns a model that repeats itself once, then stops the turn.
std::optional<Decision> check_repetition(const State& state) {
  const std::uint32_t limit = state.agent->limits.max_repeats;
  if (limit == 0 || state.follows_plan()) return std::nullopt;
  const Repetition& repetition = state.turn->repetition;
  const std::uint32_t count = repetition.count();
  if (count >= std::max(2U, limit)) {
    return limit_reached(StopReason::kRepetition, "the model repeated the same calls or errors " +
                                                      std::to_string(count) +
                                                      " times without getting anywhere");
  }
  if (count >= std::max(2U, limit / 2) && !repetition.warned) {
    return runtime_note("your last calls and their results repeat (" + std::to_string(count) +
                            " times). Try something else or give your final answer.",
                        NoteReason::kRepetition);
  }
  return std::nullopt;
}

/// Decides after the model sent a tool call that could not be read.
Decision after_malformed_call(const TurnState& turn) {
  if (turn.malformed_calls >= kMaxMalformedCalls) {
    return model_failed(StopReason::kModelFailed, "the model kept sending tool calls that cannot be read");
  }
  return runtime_note(
      "a tool call was cut off or its arguments were no valid JSON, so it was not run. Send it again, "
      "complete, or answer without it.",
      NoteReason::kMalformedCall);
}

/// Decides after the model has answered without a tool call.
std::optional<Decision> after_answer(const State& state) {
  const TurnState& turn = *state.turn;
  if (!turn.answer) return std::nullopt;
  if (turn.answer->malformed_call) return after_malformed_call(turn);
  switch (turn.answer->finish) {
    case FinishReason::kPause:
      // The vendor expects another call with the answer so far.
      if (turn.pauses < kMaxPauses) return std::nullopt;
      return model_failed(StopReason::kModelFailed,
                          "the model paused " + std::to_string(kMaxPauses) + " times without an answer");
    case FinishReason::kLength:
      return limit_reached(StopReason::kOutputLimit, "the answer was cut off by the model's output limit");
    case FinishReason::kContentFilter:
    case FinishReason::kRefusal:
      return model_failed(StopReason::kRefused, "the model refused to answer");
    case FinishReason::kContextWindow:
      return limit_reached(StopReason::kContextLimit, "the model's context window is full");
    case FinishReason::kError:
      return model_failed(StopReason::kModelFailed, "the model ended its answer with an error");
    default:
      // Steering that arrived while the model was answering must still be handled.
      if (!state.steering.empty()) return std::nullopt;
      // For a plan, an answer is a result like any other.
      if (state.follows_plan()) return std::nullopt;
      if (auto decision = check_output(state)) return decision;
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
    const Role role = step.role == Role::kUser ? Role::kUser : Role::kAssistant;
    return Say{text_message(role, step.text), MessageSource::kPlan};
  }
  Decision operator()(const AskPerson& step) const { return Park{step.prompt}; }
  Decision operator()(const Consult& step) const { return CallModel{1, Millis{0}, {}, step.question}; }
  Decision operator()(const Sleep& step) const { return StartTimer{step.delay}; }
  Decision operator()(const Conclude& step) const { return Finish{step.reason, step.text, step.error}; }
};

Conclude plan_failed(std::string why) {
  return {StopReason::kPlanFailed, {}, make_error(ErrorCode::kInput, std::move(why))};
}

/// Returns the step if the session can carry it out, else the end of the turn. Gives ids to calls that have
/// none.
PlanStep checked(const State& state, PlanStep step) {
  const bool asks_model = std::holds_alternative<AskModel>(step) || std::holds_alternative<Consult>(step);
  if (asks_model && state.agent->model.empty())
    return plan_failed("the plan asks a model, and agent \"" + state.agent->id + "\" has none");
  auto* batch = std::get_if<UseTools>(&step);
  if (batch == nullptr) return step;
  if (batch->calls.empty()) return plan_failed("a step of the plan uses tools, but names no call");
  std::size_t number = state.turn->results.size();
  for (ToolCallPart& call : batch->calls) {
    ++number;
    if (call.id.empty()) call.id = CallId{state.turn->id.str() + "-call" + std::to_string(number)};
  }
  return step;
}

/// `std::nullopt` if the summary failed for good: the turn continues without it.
std::optional<Decision> next_of_summary(const State& state, const EffectState& effect) {
  if (effect.phase == EffectState::Phase::kInDoubt) return Summarise{*effect.summary, effect.attempt + 1};
  if (const auto delay = retry_delay(state, effect)) {
    return Summarise{*effect.summary, effect.attempt + 1, *delay};
  }
  return std::nullopt;
}

std::optional<Decision> next_of_effect(const State& state) {
  const TurnState& turn = *state.turn;
  if (!turn.effect) return std::nullopt;
  const EffectState& effect = *turn.effect;
  if (effect.phase == EffectState::Phase::kRunning) return Wait{};
  if (effect.summary) return next_of_summary(state, effect);
  if (effect.phase == EffectState::Phase::kFailed) return after_model_failure(state, effect);
  if (effect.kind == EffectKind::kTimer) return StartTimer{effect.delay, effect.attempt + 1};
  return CallModel{effect.attempt + 1, Millis{0}, {}, effect.consult};
}

/// Returns the end of a turn that a command or the clock asked to stop.
Finish stopped(const State& state) {
  const StopReason reason = *state.turn->stop;
  if (reason == StopReason::kCancelled) {
    const char* what = state.deleted ? "deleted by a person" : "cancelled";
    return {reason, {}, make_error(ErrorCode::kCancelled, what)};
  }
  if (reason == StopReason::kTimeLimit) {
    return limit_reached(reason, "the time limit of " + std::to_string(state.agent->limits.timeout.count()) +
                                     " ms is reached");
  }
  return limit_reached(reason, "a budget that this session shares with those above it is spent");
}

}  // namespace

bool exceeds_call_limit(const State& state) {
  const std::uint32_t most = state.agent->limits.max_tool_calls;
  if (most == 0) return false;
  return state.turn->tool_calls + state.turn->calls.unstarted() > most;
}

bool lacks_a_place(const State& state, const CallState& call) {
  const std::size_t places = state.agent->limits.max_parallel_tools;
  if (places == 0 || !(waits_to_start(call) || call.phase == Phase::kInDoubt)) return false;
  return state.turn->calls.at_work() >= places;
}

bool never_starts(const State& state, const CallState& call) {
  if (call.phase == Phase::kRunning || call.phase == Phase::kSettled) return false;
  if (state.turn->stop || state.turn->fatal) return true;
  return call.phase != Phase::kParked && exceeds_call_limit(state);
}

Decision next(const State& state, const Planner& planner) {
  if (!state.turn) {
    if (state.queue.empty() || state.paused || state.deleted) return Idle{};
    return BeginTurn{state.queue.front().text};
  }
  const TurnState& turn = *state.turn;
  if (turn.stop) return turn.in_flight() ? Decision{Wait{}} : stopped(state);
  if (state.paused) return Wait{};
  if (auto decision = next_of_effect(state)) return *std::move(decision);
  if (turn.summary)
    return Compact{turn.summary->task.keep_from, turn.summary->task.cause, turn.summary->text};
  if (turn.fatal)
    return turn.in_flight() ? Decision{Wait{}} : Finish{StopReason::kToolFailed, {}, turn.fatal};
  if (auto decision = next_of_batch(state)) return *std::move(decision);
  if (!state.parked.empty()) return Wait{};
  if (auto decision = after_answer(state)) return *std::move(decision);
  if (!state.steering.empty()) {
    return Say{text_message(Role::kUser, state.steering.front().text), MessageSource::kSteer};
  }
  if (auto decision = check_limits(state)) return *std::move(decision);
  if (auto decision = check_repetition(state)) return *std::move(decision);
  if (auto decision = fit_window(state)) return *std::move(decision);
  return std::visit(StepDecision{}, checked(state, planner.plan(PlannerState(state))));
}

}  // namespace praxis
