// Starts, fails and settles the model call or timer of a turn.
#include <algorithm>
#include <utility>

#include "core/apply_parts.hpp"
#include "core/context.hpp"
#include "core/patience.hpp"
#include "core/request_track.hpp"
#include "core/structured.hpp"

namespace praxis {
namespace {

template <class Wanted>
bool holds(const Part& part) {
  return std::holds_alternative<Wanted>(part);
}

void fail_model(TurnState& turn, Error error) {
  turn.effect->phase = EffectState::Phase::kFailed;
  turn.effect->error = std::move(error);
  ++turn.report.retries.attempts;
  turn.report.retries.last_error = turn.effect->error;
}

std::string purpose_of(const EffectState& effect) {
  if (effect.consult) return effect.consult->purpose;
  return effect.summary ? "summary" : "";
}

/// The provider that a part of the answer names, else the only one that the agent has.
std::string provider_of(const AgentSpec& agent, const ModelResponse& response) {
  for (const Part& part : response.parts) {
    const VendorStatePtr vendor = std::visit(
        [](const auto& each) -> VendorStatePtr {
          if constexpr (requires { each.vendor; }) return each.vendor;
          return nullptr;
        },
        part);
    if (vendor) return vendor->vendor;
  }
  if (agent.model.find('|') != std::string::npos) return {};
  return agent.model.substr(0, agent.model.find(':'));
}

void report_model_call(State& state, const records::EffectSettled& r, const ModelResponse& response) {
  TurnState& turn = *state.turn;
  turn.report.model_calls.push_back({turn.step, response.model, response.finish, response.usage,
                                     turn.effect->attempt, r.duration, purpose_of(*turn.effect),
                                     provider_of(*state.agent, response), turn.effect->prompt});
  charge(state, response.usage);
  charge(state, response.failed_usage);
  turn.report.warnings.insert(turn.report.warnings.end(), response.warnings.begin(), response.warnings.end());
}

std::string text_of(const ModelResponse& response) {
  Message said;
  said.parts = response.parts;
  return said.text();
}

/// Discards a summary that was cut off or does not save anything.
void take_summary(State& state, const ModelResponse& response) {
  TurnState& turn = *state.turn;
  Summary summary{*turn.effect->summary, text_of(response)};
  const bool whole = response.finish == FinishReason::kStop || response.finish == FinishReason::kStopSequence;
  const bool helps = whole && !summary.text.empty() && is_shorter(state, summary.task, summary.text);
  turn.effect.reset();
  if (helps) {
    turn.summary = std::move(summary);
  } else if (is_requested(summary.task)) {
    state.compact = false;
  } else {
    turn.summary_failed = true;
  }
}

/// Gives the planner the model's answer, even if it does not have the requested form.
void take_consultation(State& state, const ModelResponse& response) {
  const Consultation asked = *std::exchange(state.turn->effect, std::nullopt)->consult;
  const bool whole = response.finish == FinishReason::kStop;
  StepResult result{CallId{}, asked.purpose, whole, text_of(response), nullptr};
  if (!asked.schema.is_null()) {
    auto value = structured_answer(asked.schema, result.text);
    result.ok = result.ok && value;
    if (value) result.value = *std::move(value);
  }
  note_plan_result(state, std::move(result));
}

void append_answer(State& state, UnixMillis time, const ModelResponse& response) {
  Message message;
  message.role = Role::kAssistant;
  message.parts = response.parts;
  message.usage = response.usage;
  state.turn->report.full_text += message.text();
  const std::size_t before = state.conversation.history().messages().size();
  const bool stands_for_all = std::ranges::any_of(message.parts, holds<CompactionPart>);
  state.conversation.push(stamped(state, time, std::move(message)));
  if (stands_for_all) history_shrank(state, before + 1, "compaction");
}

/// Whether an answer was cut off because the window was full, contains nothing to act on, and can be
/// requested again in a shorter conversation. Up to version 3 of the records such an answer ended the turn.
bool wants_room(const State& state, const ModelResponse& response) {
  const auto runs = [](const Part& part) {
    const auto* call = std::get_if<ToolCallPart>(&part);
    return call != nullptr && call->valid;
  };
  return state.version >= 4 && response.finish == FinishReason::kContextWindow &&
         std::ranges::none_of(response.parts, runs) && shorten_once(state);
}

void take_answer(State& state, UnixMillis time, const ModelResponse& response) {
  TurnState& turn = *state.turn;
  state.context_tokens = response.usage.total();
  if (state.sent && state.context_tokens > 0) state.sent->tokens = state.context_tokens;
  turn.redo = false;
  turn.overflow = Overflow::kNone;
  turn.pauses = response.finish == FinishReason::kPause ? turn.pauses + 1 : 0;
  turn.effect.reset();
  append_answer(state, time, response);
  propose_calls(state);
  // The normaliser accepts only calls that can be run and answered.
  const auto sent = std::ranges::count_if(response.parts, holds<ToolCallPart>);
  const bool malformed =
      response.finish == FinishReason::kMalformedToolCall || std::cmp_less(turn.calls.size(), sent);
  if (malformed) ++turn.malformed_calls;
  // An answer with calls is acted on by running them.
  if (malformed || turn.calls.empty()) turn.answer = Answer{response.finish, malformed};
  const bool is_result = turn.calls.empty() && !malformed && response.finish != FinishReason::kPause;
  if (is_result) note_plan_result(state, {CallId{}, "answer", true, text_of(response), nullptr});
}

void settle_model(State& state, UnixMillis time, const records::EffectSettled& r) {
  if (r.outcome != Outcome::kCancelled) ++state.model_calls;
  const auto* response = std::get_if<ModelResponse>(&r.result);
  if (response == nullptr) {
    charge(state, r.spent);
    const Error none{ErrorCode::kModel, "the model call ended without an answer", {}, {}, {}};
    state.turn->effect->waited += r.duration;
    return fail_model(*state.turn, r.error.value_or(none));
  }
  report_model_call(state, r, *response);
  if (state.turn->effect->summary) return take_summary(state, *response);
  if (state.turn->effect->consult) return take_consultation(state, *response);
  if (r.by != "hook") learn_correction(state, response->usage);
  if (wants_room(state, *response)) return fail_model(*state.turn, window_full());
  take_answer(state, time, *response);
}

}  // namespace

void leave_failed_effect(TurnState& turn) {
  if (!turn.effect || turn.effect->phase != EffectState::Phase::kFailed) return;
  if (turn.effect->summary) {
    turn.summary_failed = turn.summary_failed || !is_requested(*turn.effect->summary);
  } else {
    turn.redo = true;
    if (is_overflow(*turn.effect->error)) turn.overflow = Overflow::kRefused;
  }
  turn.effect.reset();
}

Status start_effect(State& state, UnixMillis time, const records::EffectIntended& r) {
  TurnState& turn = *state.turn;
  if (turn.in_flight() || !turn.calls.empty()) {
    return against_rules("an effect is intended while another is in progress");
  }
  Millis waited{0};
  std::uint32_t outages = 0;
  if (r.attempt > 1) {
    const bool failed = turn.effect && turn.effect->phase == EffectState::Phase::kFailed;
    const bool is_outage = failed && waits_out(state, *turn.effect);
    if (failed && !is_outage) ++turn.model_retries;
    if (turn.effect) {
      waited = turn.effect->waited;
      outages = turn.effect->outages + (is_outage ? 1 : 0);
      // Another process began it: only the wall clock knows how long ago.
      if (r.kind == EffectKind::kTimer) waited += std::max(time - turn.effect->began, Millis{0});
    }
  } else {
    leave_failed_effect(turn);
    if (r.step > turn.step) turn.step_began = time;
    turn.step = std::max(turn.step, r.step);
  }
  if (r.non_strict) state.non_strict = true;
  if (r.kind == EffectKind::kModel && !r.summary && !r.consult) {
    note_request(state, r);
    state.compact = false;  // there was nothing to summarise, or it failed
  }
  turn.effect = EffectState{r.effect,  r.kind,    EffectState::Phase::kRunning,
                            r.attempt, r.delay,   std::nullopt,
                            r.summary, r.consult, r.request.history,
                            waited,    outages,   time};
  return {};
}

Status settle_effect(State& state, UnixMillis time, const records::EffectSettled& r) {
  TurnState& turn = *state.turn;
  if (!turn.effect || turn.effect->effect != r.effect || turn.effect->phase == EffectState::Phase::kFailed) {
    return against_rules("effect " + r.effect.str() + " settles, but does not run");
  }
  if (turn.effect->kind != EffectKind::kTimer) {
    settle_model(state, time, r);
    return {};
  }
  turn.effect.reset();
  note_plan_result(state, {CallId{}, "sleep", true, {}, nullptr});
  return {};
}

}  // namespace praxis
