// The batch of tool calls between a model's answer and its results: proposed, started, settled or decided.
#include <algorithm>
#include <utility>

#include "core/apply_parts.hpp"
#include "core/backoff.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

/// The part of a text that the report of a turn keeps.
std::string reported(std::string_view text) {
  constexpr std::size_t kMost = std::size_t{16} * 1024;
  return std::string(utf8_head(text, kMost));
}

void report_action(TurnState& turn, const CallState& call, std::size_t position, Outcome outcome,
                   Millis duration, std::string_view result) {
  turn.report.actions.push_back({turn.step, call.call.id, call.call.name, outcome, call.attempt, duration,
                                 static_cast<std::uint32_t>(position), reported(call.call.arguments),
                                 reported(result)});
}

void report_settled(TurnState& turn, const CallState& call, Outcome outcome, Millis duration,
                    std::string_view result) {
  report_action(turn, call, turn.calls.position(call), outcome, duration, result);
}

ToolResultPart result_of_call(const CallState& call, ToolStatus status, std::string text) {
  return {call.call.id, call.call.name, status, std::move(text), {}};
}

/// Why a call cannot run until a human acts; `std::nullopt` if it can.
std::optional<ParkKind> barred_by(const records::EffectSettled& r) {
  if (r.outcome != Outcome::kError || !r.error) return std::nullopt;
  if (r.error->kind() == ErrorKind::kAuthorisation)
    return json_at(r.error->detail(), "question").is_null() ? ParkKind::kAuthorisation : ParkKind::kQuestion;
  if (r.error->kind() == ErrorKind::kMachine) return ParkKind::kMachine;
  return std::nullopt;
}

ToolResultPart failed_result(const CallState& call, const records::EffectSettled& r) {
  return result_of_call(call, ToolStatus::kError,
                        r.error ? r.error->message : std::string(to_string(r.outcome)));
}

/// The result of a call that the machine could not run, for the model: why not is for the operator alone.
ToolResultPart unrun_result(const CallState& call) {
  return result_of_call(call, ToolStatus::kError, "Not run: it was not possible at that time.");
}

void note_repetition(TurnState& turn, const Limits& limits) {
  Repetition& repetition = turn.repetition;
  if (limits.max_repeats == 0) {
    repetition = {};
    return;
  }
  Digest batch, errors;
  for (const CallState& call : turn.calls) {
    if (!call.within.empty()) continue;
    const std::string text = call.call.name + '\n' + call.call.arguments + '\n' + call.result->text;
    batch = digest_chain(batch, text);
    if (call.result->status == ToolStatus::kError) errors = digest_chain(errors, call.result->text);
  }
  repetition.batches.push_back(batch);
  if (errors.empty()) {
    repetition.errors.clear();
  } else {
    repetition.errors.push_back(errors);
  }
  const std::size_t window = std::size_t{2} * limits.max_repeats;  // a pair counts as two
  if (repetition.batches.size() > window) repetition.batches.erase(repetition.batches.begin());
  if (repetition.errors.size() > window) repetition.errors.erase(repetition.errors.begin());
  if (repetition.count() < 2) repetition.warned = false;
}

/// Drops the calls and steps of a handler that has returned: nothing needs them any more.
void drop_calls_within(State& state, const CallId& outer) {
  const std::vector<CallState> dropped = state.turn->calls.remove_within(outer);
  if (dropped.empty()) return;
  std::erase_if(state.parked, [&](const auto& parked) {
    return std::ranges::any_of(dropped,
                               [&](const CallState& call) { return call.call.id == parked.second.call; });
  });
}

/// Settles a call with its result, which goes to the handler that made the call; when it was the last open
/// call of the model or plan, the results go into the conversation in call order.
void finish_call(State& state, UnixMillis time, const CallState& call, ToolResultPart result, Json value) {
  TurnState& turn = *state.turn;
  turn.calls.update(call, [&](CallState& settled) {
    settled.phase = Phase::kSettled;
    settled.result = std::move(result);
    settled.value = std::move(value);
  });
  if (!call.within.empty()) return;
  drop_calls_within(state, CallId(call.call.id));
  if (!turn.calls.all_settled()) return;
  note_repetition(turn, state.agent->limits);
  Message message;
  message.role = Role::kTool;
  for (CallState& done : turn.calls.take()) {
    if (state.follows_plan()) {
      turn.results.push_back({done.call.id, done.call.name, done.result->status == ToolStatus::kOk,
                              done.result->text, std::move(done.value)});
    }
    message.parts.emplace_back(*std::move(done.result));
  }
  state.conversation.push(stamped(state, time, std::move(message)));
}

void retry_call(State& state, const ToolSpec& tool, const CallState& call, const records::EffectSettled& r) {
  TurnState& turn = *state.turn;
  turn.calls.update(call, [&](CallState& failed) {
    failed.phase = Phase::kApproved;
    failed.delay = backoff(tool.retry_delay, state.id, failed.effect, failed.attempt);
    failed.result = failed_result(failed, r);
  });
  ++turn.report.retries.attempts;
  turn.report.retries.last_error = r.error;
}

void bar_call(TurnState& turn, const CallState& call, const records::EffectSettled& r, ParkKind kind) {
  turn.calls.update(call, [&](CallState& barred) {
    barred.phase = Phase::kBarred;
    barred.barred = kind;
    const char* const member = kind == ParkKind::kQuestion ? "question" : "authorisation";
    barred.question = json_at(r.error->detail(), member);
    barred.result = failed_result(barred, r);
  });
}

void report_memory_changes(AgentResult& report, const Json& changes) {
  if (!changes.is_array()) return;
  if (!report.memory_deltas.is_array()) report.memory_deltas = JsonArray{};
  for (const Json& change : changes.get_array()) report.memory_deltas.get_array().push_back(change);
}

std::string denial(const records::Decided& r, ParkKind kind) {
  if (kind == ParkKind::kQuestion) return "No answer: the person was asked and declined, or did not answer.";
  if (kind == ParkKind::kInDoubt)
    return "Outcome unknown: the process stopped while this call ran; it was not repeated.";
  if (kind == ParkKind::kMachine) return "Not run: it was not possible, and a person decided against it.";
  if (r.author.principal == "expiry") return "Not allowed: nobody decided in time.";
  // The model does not need the names of users at surfaces that know them.
  const bool at_surface = r.author.surface == Surface::kCli || r.author.surface == Surface::kServer;
  return "Not allowed by " + (at_surface ? "person" : r.author.principal) + ".";
}

/// The handler that asked runs again and is told, also that there is no answer.
void answer_call(TurnState& turn, const CallState& call, const records::Decided& r) {
  const bool expired = r.author.principal == "expiry";
  const bool given = r.verb == ApprovalVerb::kAnswer;
  const auto kind = given     ? CallAnswer::Kind::kGiven
                    : expired ? CallAnswer::Kind::kExpired
                              : CallAnswer::Kind::kDeclined;
  turn.calls.update(call, [&](CallState& answered) {
    answered.answers.push_back({kind, r.text, json_at(answered.question, "state")});
    answered.question = nullptr;
    answered.phase = Phase::kApproved;
  });
}

/// What asked for the approval, and gave a state with it, finds that state among the answers.
void note_authorised(CallState& call) {
  if (const Json& state = json_at(call.question, "state"); !state.is_null())
    call.answers.push_back({CallAnswer::Kind::kGiven, "", state});
  call.question = nullptr;
}

/// Remembers the arguments that a person saw and allowed, for the rules about where values come from.
void note_approved(State& state, const CallState& call, const records::Decided& r) {
  constexpr std::size_t kMostCalls = 64, kMostBytes = std::size_t{16} * 1024;
  const Surface by = r.author.surface;
  const bool by_person =
      by == Surface::kLibrary || by == Surface::kCli || by == Surface::kServer || by == Surface::kHandler;
  if (!by_person || r.park.empty() || call.call.arguments.size() > kMostBytes) return;
  if (state.approved.size() == kMostCalls) state.approved.erase(state.approved.begin());
  state.approved.push_back(call.call.arguments);
}

void deny_call(State& state, UnixMillis time, const CallState& call, const records::Decided& r,
               ParkKind kind) {
  const bool in_doubt = kind == ParkKind::kInDoubt;
  const std::string what = denial(r, kind);
  const std::string reason = r.text.empty() ? what : what + " " + r.text;
  if (kind != ParkKind::kQuestion) state.turn->report.denials.push_back(call.call.name + ": " + reason);
  if (in_doubt) report_settled(*state.turn, call, Outcome::kUnknown, Millis{0}, reason);
  finish_call(state, time, call, result_of_call(call, ToolStatus::kError, reason), nullptr);
}

}  // namespace

void propose_calls(State& state) {
  if (!state.turn->calls.empty()) state.turn->calls = {};  // a new batch makes seven empty sets
  for (const ToolCallPart& call : state.conversation.open_calls()) {
    CallState proposed;
    proposed.call = call;
    state.turn->calls.add(std::move(proposed));
  }
}

Status start_call(State& state, UnixMillis time, const records::EffectIntended& r) {
  const CallState* call = state.find_call(r.call);
  if (call == nullptr) return against_rules("a tool call is intended that was not proposed");
  if (call->phase == Phase::kRunning || call->phase == Phase::kSettled) {
    return against_rules("call " + r.call.str() + " is intended while it runs or after it settled");
  }
  if (r.attempt <= 1) {
    ++state.turn->tool_calls;
    note_started(state, time, *call);
  }
  state.turn->calls.update(*call, [&](CallState& started) {
    started.phase = Phase::kRunning;
    started.effect = r.effect;
    started.attempt = r.attempt;
    started.delay = Millis{0};
    if (started.barred == ParkKind::kMachine) started.result.reset();  // that attempt ran nothing
  });
  return {};
}

Status settle_call(State& state, UnixMillis time, const CallState& call, const records::EffectSettled& r) {
  if (call.phase != Phase::kRunning && call.phase != Phase::kInDoubt) {
    return against_rules("effect " + r.effect.str() + " settles, but does not run");
  }
  TurnState& turn = *state.turn;
  const ToolSpec* tool = state.agent->find_tool(call.call.name);
  turn.report.tool_latency += r.duration;
  const bool failed = r.outcome == Outcome::kError;
  if (const auto barred = barred_by(r); barred && !turn.stop) {
    bar_call(turn, call, r, *barred);
    return {};
  }
  const bool retriable = failed && r.error && r.error->retriable;
  if (retriable && tool != nullptr && call.attempt <= tool->retries && !turn.stop) {
    retry_call(state, *tool, call, r);
    return {};
  }
  const auto* outcome = std::get_if<ToolOutcome>(&r.result);
  ToolOutcome settled = outcome != nullptr ? *outcome : ToolOutcome{failed_result(call, r), nullptr, nullptr};
  if (barred_by(r) == ParkKind::kMachine) settled.result = unrun_result(call);
  settled.result.id = call.call.id;
  settled.result.name = call.call.name;
  report_memory_changes(turn.report, settled.memory);
  state.memory.apply(settled.memory, call.call.arguments, state.marks.size());
  report_settled(turn, call, r.outcome, r.duration, settled.result.text);
  const bool fatal =
      (tool != nullptr && tool->fatal_errors) || state.agent->tool_failure == ToolFailureMode::kFail;
  // A call that got no answer in time has failed, though its outcome is unknown; one that was stopped has
  // not.
  const bool unanswered = r.outcome == Outcome::kUnknown && r.error && r.error->code != ErrorCode::kCancelled;
  if ((failed || unanswered) && fatal && call.within.empty()) turn.fatal = r.error;
  finish_call(state, time, call, std::move(settled.result), std::move(settled.value));
  return {};
}

void decide_call(State& state, UnixMillis time, const CallState& call, const records::Decided& r,
                 ParkKind kind) {
  if (kind == ParkKind::kQuestion && call.attempt > 0) return answer_call(*state.turn, call, r);
  const bool in_doubt = kind == ParkKind::kInDoubt;
  switch (r.verb) {
    case ApprovalVerb::kEdit:
    case ApprovalVerb::kApprove:
      state.turn->calls.update(call, [&](CallState& approved) {
        if (r.verb == ApprovalVerb::kEdit) approved.call.arguments = r.text;
        if (kind == ParkKind::kAuthorisation) note_authorised(approved);
        approved.phase = Phase::kApproved;
      });
      if (kind == ParkKind::kApproval) note_approved(state, call, r);
      return;
    case ApprovalVerb::kReject:
      return deny_call(state, time, call, r, kind);
    case ApprovalVerb::kAnswer:
      if (in_doubt) report_settled(*state.turn, call, Outcome::kOk, Millis{0}, r.text);
      return finish_call(state, time, call, result_of_call(call, ToolStatus::kOk, r.text), nullptr);
  }
  std::unreachable();
}

void abandon_calls(State& state, UnixMillis time, StopReason reason) {
  const std::string when = "the turn ended first (" + std::string(to_string(reason)) + ")";
  Message message;
  message.role = Role::kTool;
  std::size_t position = 0;
  for (CallState& call : state.turn->calls.take()) {
    if (call.phase != Phase::kSettled && call.attempt > 0) {
      if (call.result && call.barred == ParkKind::kMachine) call.result = unrun_result(call);
      const Outcome outcome = call.result ? Outcome::kError : Outcome::kUnknown;
      if (!call.result) {
        call.result =
            result_of_call(call, ToolStatus::kError, "Outcome unknown: the call had started, but " + when);
      }
      report_action(*state.turn, call, position, outcome, Millis{0}, call.result->text);
    }
    ++position;
    if (call.result && call.within.empty()) message.parts.emplace_back(*std::move(call.result));
  }
  if (!message.parts.empty()) state.conversation.push(stamped(state, time, std::move(message)));
  state.conversation.close_open_calls("not run: " + when);
}

}  // namespace praxis
