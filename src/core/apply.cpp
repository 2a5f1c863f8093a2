// One function per record: how the state changes when that fact is known. No decisions are made here.
#include <algorithm>
#include <utility>

#include "core/context.hpp"
#include "core/request_track.hpp"
#include "core/structured.hpp"
#include "praxis/core/next.hpp"
#include "praxis/core/state.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

std::string settings_text(const AgentSpec& agent) {
  return agent.model + '\n' + agent.instructions + '\n' + to_canonical_json(to_json(agent.options));
}

std::string tools_text(const AgentSpec& agent) {
  std::string text;
  for (const ToolSpec& tool : agent.tools) append_json(text, to_json(tool.definition));
  return text;
}

template <class Wanted>
bool holds(const Part& part) {
  return std::holds_alternative<Wanted>(part);
}

class Applier {
 public:
  Applier(State& state, UnixMillis time) : state_(state), time_(time) {}

  Status operator()(const SessionCreated& r) {
    if (state_.agent) return wrong("a session is created twice");
    state_.id = r.session;
    state_.parent = r.parent;
    state_.depth = r.depth;
    state_.seed = r.seed;
    set_agent(r.agent);
    return {};
  }

  Status operator()(const TurnStarted& r) {
    if (state_.turn) return wrong("a turn starts while another is in progress");
    state_.conversation.close_open_calls("no result was recorded");
    state_.turn.emplace();
    state_.turn->id = r.turn;
    state_.turn->output_schema = r.output_schema;
    state_.turn->report.id = state_.id.str() + "/" + r.turn.str();
    state_.turn->report.started_at = time_;
    state_.marks.push_back({r.turn, state_.conversation.history().messages().size()});
    ++state_.next_turn;
    return {};
  }

  Status operator()(const MessageAppended& r) {
    if (state_.turn && !state_.turn->calls.empty())
      return wrong("a message is appended between calls and their results");
    if (state_.turn && r.source == MessageSource::kSteer && !state_.steering.empty()) {
      state_.steering.erase(state_.steering.begin());
    }
    if (r.source == MessageSource::kQueue && !state_.queue.empty()) state_.queue.pop_front();
    auto message = std::make_shared<Message>(*r.message);
    stamp(*message);
    const bool proposes_calls = message->role == Role::kAssistant;
    state_.conversation.push(std::move(message));
    if (!state_.turn) return {};
    TurnState& turn = *state_.turn;
    const bool by_user = r.source == MessageSource::kUser || r.source == MessageSource::kQueue;
    if (by_user && turn.prompt.empty()) turn.prompt = r.message->text();
    if (r.source == MessageSource::kRuntime) note_said(turn);
    turn.answer.reset();
    if (proposes_calls) propose_calls();
    if (r.source == MessageSource::kPlan) {
      ++turn.step;
      if (turn.calls.empty()) note_plan_result("message", r.message->text());
    }
    return {};
  }

  Status operator()(const EffectIntended& r) {
    if (!state_.turn) return wrong("an effect is intended outside a turn");
    TurnState& turn = *state_.turn;
    const bool again = r.attempt > 1;
    if (!again) ++state_.next_effect;
    if (r.kind == EffectKind::kTool) {
      CallState* call = state_.find_call(r.call);
      if (call == nullptr) return wrong("a tool call is intended that nobody proposed");
      if (call->phase == Phase::kRunning || call->phase == Phase::kSettled) {
        return wrong("call " + r.call.str() + " is intended while it runs or after it settled");
      }
      if (!again) ++turn.tool_calls;
      call->phase = Phase::kRunning;
      call->effect = r.effect;
      call->attempt = r.attempt;
      return {};
    }
    if (turn.in_flight() || !turn.calls.empty())
      return wrong("an effect is intended while another is in progress");
    if (again && turn.effect && turn.effect->phase == EffectState::Phase::kFailed) ++turn.model_retries;
    if (!again) leave_failed_effect();
    if (r.kind == EffectKind::kModel && !r.summary) note_request(state_, r);
    if (!again) turn.step = std::max(turn.step, r.step);
    turn.effect = EffectState{r.effect,     r.kind,   EffectState::Phase::kRunning, r.attempt, r.delay,
                              std::nullopt, r.summary};
    return {};
  }

  Status operator()(const EffectSettled& r) {
    if (!state_.turn) return wrong("an effect settles outside a turn");
    TurnState& turn = *state_.turn;
    turn.report.duration += r.duration;
    if (CallState* call = state_.find_call(r.effect)) {
      if (call->phase != Phase::kRunning && call->phase != Phase::kInDoubt) {
        return wrong("effect " + r.effect.str() + " settles, but does not run");
      }
      return settle_call(*call, r);
    }
    if (!turn.effect || turn.effect->effect != r.effect ||
        turn.effect->phase == EffectState::Phase::kFailed) {
      return wrong("effect " + r.effect.str() + " settles, but does not run");
    }
    if (turn.effect->kind == EffectKind::kTimer) {
      turn.effect.reset();
      note_plan_result("sleep", {});
      return {};
    }
    return turn.effect->summary ? settle_summary(r) : settle_model(r);
  }

  Status operator()(const Parked& r) {
    if (!state_.turn) return wrong("a step is parked outside a turn");
    if (r.step.kind != ParkKind::kQuestion) {
      CallState* call = state_.find_call(r.step.call);
      const auto may_wait = [&] {
        if (r.step.kind == ParkKind::kInDoubt) return call->phase == Phase::kInDoubt;
        // A hook may edit a call and still leave it to a person.
        return call->phase == Phase::kProposed || (call->phase == Phase::kApproved && call->attempt == 0);
      };
      if (call == nullptr || !may_wait())
        return wrong("call " + r.step.call.str() + " is parked, but cannot wait");
      call->phase = Phase::kParked;
    }
    state_.parked[r.step.id] = r.step;
    ++state_.next_park;
    return {};
  }

  Status operator()(const Decided& r) {
    if (!state_.turn) return wrong("a decision is made outside a turn");
    ParkKind kind = ParkKind::kApproval;
    if (!r.park.empty()) {
      const auto parked = state_.parked.find(r.park);
      if (parked == state_.parked.end() || parked->second.call != r.call) {
        return wrong("a decision names " + r.park.str() + ", which is not parked for it");
      }
      kind = parked->second.kind;
      state_.parked.erase(parked);
    }
    if (kind == ParkKind::kQuestion) return answer_question(r);
    CallState* call = state_.find_call(r.call);
    const Phase waits = r.park.empty() ? Phase::kProposed : Phase::kParked;
    if (call == nullptr || call->phase != waits)
      return wrong("call " + r.call.str() + " is decided, but does not wait");
    return decide_call(*call, r, kind);
  }

  Status operator()(const Intervened& r) {
    switch (r.kind) {
      case Intervention::kSteer:
        state_.steering.push_back(r.text);
        break;
      case Intervention::kEnqueue:
        state_.queue.push_back(r.text);
        break;
      case Intervention::kInterrupt:
        if (state_.turn) state_.turn->stop = StopReason::kCancelled;
        break;
      case Intervention::kDeadline:
        if (state_.turn && !state_.turn->stop) state_.turn->stop = StopReason::kTimeLimit;
        break;
      case Intervention::kPause:
        state_.paused = true;
        break;
      case Intervention::kResume:
        state_.paused = false;
        break;
      case Intervention::kAnnotate:
        state_.comment = r.text;
        break;
      case Intervention::kSetAgent:
        if (!r.agent) return wrong("set_agent brings no agent");
        set_agent(r.agent);
        break;
      case Intervention::kRewind:
        return rewind(TurnId{r.text});
    }
    return {};
  }

  Status operator()(const Compacted& r) {
    if (state_.turn) {
      leave_failed_effect();
      state_.turn->summary.reset();
      if (state_.turn->overflow == Overflow::kRefused) state_.turn->overflow = Overflow::kShort;
    }
    const std::size_t before = state_.conversation.history().messages().size();
    if (r.summary.empty()) {
      state_.conversation.cut(r.keep_from);
    } else {
      auto message = std::make_shared<Message>(summary_message(r.summary));
      stamp(*message);
      state_.conversation.summarise(r.keep_from, std::move(message), verbatim_tokens(state_));
    }
    history_shrank(state_, before, r.summary.empty() ? "cut" : "compaction");
    return {};
  }

  Status operator()(const StatusChanged& r) {
    if (r.cause == "recovered" && state_.turn) {
      TurnState& turn = *state_.turn;
      if (turn.effect && turn.effect->phase == EffectState::Phase::kRunning) {
        turn.effect->phase = EffectState::Phase::kInDoubt;
      }
      for (CallState& call : turn.calls) {
        if (call.phase == Phase::kRunning) call.phase = Phase::kInDoubt;
      }
    }
    if (!state_.turn) state_.rest_status = r.status;
    return {};
  }

  Status operator()(const TurnSettled& r) {
    if (!state_.turn || state_.turn->id != r.turn) return wrong("a turn settles that is not in progress");
    if (state_.turn->in_flight()) return wrong("a turn settles while an effect runs");
    abandon_calls(r.reason);
    AgentResult report = std::move(state_.turn->report);
    report.success = r.reason == StopReason::kFinished;
    report.reason = r.reason;
    report.error = r.error;
    report.steps = state_.turn->step;
    report.finished_at = time_;
    report.text = r.text.empty() ? last_assistant_text() : r.text;
    if (const Json& schema = state_.output_schema(); report.success && !schema.is_null()) {
      report.structured = structured_answer(schema, report.text).value_or(nullptr);
    }
    state_.rest_status =
        report.success || report.aborted() ? SessionStatus::kCompleted : SessionStatus::kError;
    state_.turn.reset();
    state_.parked.clear();
    state_.steering.clear();
    state_.last = std::move(report);
    return {};
  }

 private:
  static std::unexpected<Error> wrong(std::string what) {
    return fail(ErrorCode::kJournal, "the log does not follow its own rules: " + std::move(what));
  }

  void set_agent(AgentSpecPtr agent) {
    state_.agent = std::move(agent);
    state_.described.settings = digest_of(settings_text(*state_.agent));
    state_.described.tools = digest_of(tools_text(*state_.agent));
    state_.overhead_tokens = overhead_of(*state_.agent);
  }

  void stamp(Message& message) {
    message.id = MessageId{"m" + std::to_string(state_.next_message++)};
    message.created = time_;
  }

  void propose_calls() {
    state_.turn->calls.clear();
    for (const ToolCallPart& call : state_.conversation.open_calls()) {
      CallState proposed;
      proposed.call = call;
      state_.turn->calls.push_back(std::move(proposed));
    }
  }

  /// A step of a plan without tool calls is done: plans find their place by counting results.
  void note_plan_result(std::string_view what, std::string text) {
    if (!state_.follows_plan()) return;
    state_.turn->results.push_back({CallId{}, std::string(what), true, std::move(text), nullptr});
  }

  std::string last_assistant_text() const {
    const auto& messages = state_.conversation.history().messages();
    if (messages.empty() || messages.back()->role != Role::kAssistant) return {};
    return messages.back()->text();
  }

  /// What the runtime says is about an answer that could not be used or did not fit, a call that has to be
  /// made in another form, or repetition.
  void note_said(TurnState& turn) {
    if (turn.effect) {
      turn.noted = true;
      leave_failed_effect();
    } else if (!turn.answer) {
      turn.repetition.warned = true;
    } else if (!turn.answer->malformed_call) {
      ++turn.corrections;
    }
  }

  /// A failed effect is not tried again as it is.
  void leave_failed_effect() {
    TurnState& turn = *state_.turn;
    if (!turn.effect || turn.effect->phase != EffectState::Phase::kFailed) return;
    if (turn.effect->summary) {
      turn.summary_failed = true;
    } else {
      turn.redo = true;
      if (is_overflow(*turn.effect->error)) turn.overflow = Overflow::kRefused;
    }
    turn.effect.reset();
  }

  Status fail_model(const EffectSettled& r) {
    TurnState& turn = *state_.turn;
    turn.effect->phase = EffectState::Phase::kFailed;
    turn.effect->error =
        r.error.value_or(Error{ErrorCode::kModel, "the model call ended without an answer", {}, {}, {}});
    ++turn.report.retries.attempts;
    turn.report.retries.last_error = turn.effect->error;
    return {};
  }

  void note_model_call(const EffectSettled& r, const ModelResponse& response) {
    TurnState& turn = *state_.turn;
    turn.report.model_calls.push_back({turn.step, response.model, response.finish, response.usage,
                                       turn.effect->attempt, r.duration,
                                       turn.effect->summary ? "summary" : ""});
    turn.report.usage += response.usage;
    turn.report.warnings.insert(turn.report.warnings.end(), response.warnings.begin(),
                                response.warnings.end());
    state_.usage += response.usage;
  }

  /// A summary that was cut off or does not save anything counts as none.
  Status settle_summary(const EffectSettled& r) {
    TurnState& turn = *state_.turn;
    const auto* response = std::get_if<ModelResponse>(&r.result);
    if (r.outcome != Outcome::kCancelled) ++state_.model_calls;
    if (response == nullptr) return fail_model(r);
    note_model_call(r, *response);
    Message said;
    said.parts = response->parts;
    Summary summary{*turn.effect->summary, said.text()};
    const bool whole =
        response->finish == FinishReason::kStop || response->finish == FinishReason::kStopSequence;
    const bool helps = whole && !summary.text.empty() && is_shorter(state_, summary.task, summary.text);
    turn.effect.reset();
    if (helps) {
      turn.summary = std::move(summary);
    } else {
      turn.summary_failed = true;
    }
    return {};
  }

  Status settle_model(const EffectSettled& r) {
    TurnState& turn = *state_.turn;
    const auto* response = std::get_if<ModelResponse>(&r.result);
    if (r.outcome != Outcome::kCancelled) ++state_.model_calls;
    if (response == nullptr) return fail_model(r);
    note_model_call(r, *response);
    if (r.by.empty()) learn_correction(state_, response->usage);
    state_.context_tokens = response->usage.total();
    if (state_.sent && state_.context_tokens > 0) state_.sent->tokens = state_.context_tokens;
    turn.redo = false;
    turn.overflow = Overflow::kNone;
    turn.pauses = response->finish == FinishReason::kPause ? turn.pauses + 1 : 0;
    turn.effect.reset();

    auto message = std::make_shared<Message>();
    message->role = Role::kAssistant;
    message->parts = response->parts;
    message->usage = response->usage;
    turn.report.full_text += message->text();
    stamp(*message);
    const std::size_t before = state_.conversation.history().messages().size();
    const bool stands_for_all = std::ranges::any_of(message->parts, holds<CompactionPart>);
    state_.conversation.push(std::move(message));
    if (stands_for_all) history_shrank(state_, before + 1, "compaction");
    propose_calls();
    // The normaliser takes only calls that can be run and answered.
    const auto sent = std::ranges::count_if(response->parts, holds<ToolCallPart>);
    const bool malformed =
        response->finish == FinishReason::kMalformedToolCall || std::cmp_less(turn.calls.size(), sent);
    if (malformed) ++turn.malformed_calls;
    // An answer with calls is acted on by running them.
    if (malformed || turn.calls.empty()) turn.answer = Answer{response->finish, malformed};
    return {};
  }

  Status settle_call(CallState& call, const EffectSettled& r) {
    TurnState& turn = *state_.turn;
    const ToolSpec* tool = state_.agent->find_tool(call.call.name);
    turn.report.tool_latency += r.duration;
    const bool retry = r.outcome == Outcome::kError && r.error && r.error->retriable && tool != nullptr &&
                       call.attempt <= tool->retries && !turn.stop;
    if (retry) {
      call.phase = Phase::kApproved;
      call.result = failed_result(call, r);
      ++turn.report.retries.attempts;
      turn.report.retries.last_error = r.error;
      return {};
    }
    const auto* outcome = std::get_if<ToolOutcome>(&r.result);
    ToolOutcome settled =
        outcome != nullptr ? *outcome : ToolOutcome{failed_result(call, r), nullptr, nullptr};
    if (settled.memory.is_array()) {
      if (!turn.report.memory_deltas.is_array()) turn.report.memory_deltas = JsonArray{};
      for (Json& change : settled.memory.get_array()) turn.report.memory_deltas.get_array().push_back(change);
    }
    note_action(call, r.outcome, r.duration);
    const bool fatal = tool != nullptr && tool->fatal_errors;
    if (r.outcome == Outcome::kError && (fatal || state_.agent->tool_failure == ToolFailureMode::kFail)) {
      turn.fatal = r.error;
    }
    finish_call(call, std::move(settled.result), std::move(settled.value));
    return {};
  }

  void note_action(const CallState& call, Outcome outcome, Millis duration) {
    TurnState& turn = *state_.turn;
    turn.report.actions.push_back({turn.step, call.call.id, call.call.name, outcome, call.attempt, duration});
  }

  static ToolResultPart failed_result(const CallState& call, const EffectSettled& r) {
    std::string text = r.error ? r.error->message : std::string(to_string(r.outcome));
    return {call.call.id, call.call.name, ToolStatus::kError, std::move(text), {}};
  }

  /// A call has its result; when it was the last of the batch, the results go into the conversation in call
  /// order.
  void finish_call(CallState& call, ToolResultPart result, Json value) {
    TurnState& turn = *state_.turn;
    call.phase = Phase::kSettled;
    call.result = std::move(result);
    call.value = std::move(value);
    if (!std::ranges::all_of(turn.calls, [](const CallState& c) { return c.phase == Phase::kSettled; })) {
      return;
    }
    note_repetition();
    auto message = std::make_shared<Message>();
    message->role = Role::kTool;
    for (CallState& settled : turn.calls) {
      if (state_.follows_plan()) {
        turn.results.push_back({settled.call.id, settled.call.name, settled.result->status == ToolStatus::kOk,
                                settled.result->text, std::move(settled.value)});
      }
      message->parts.emplace_back(*std::move(settled.result));
    }
    stamp(*message);
    turn.calls.clear();
    state_.conversation.push(std::move(message));
  }

  /// The turn ends between calls and results: what is known of each call goes into the conversation.
  void abandon_calls(StopReason reason) {
    const std::string when = "the turn ended first (" + std::string(to_string(reason)) + ")";
    auto message = std::make_shared<Message>();
    message->role = Role::kTool;
    for (CallState& call : state_.turn->calls) {
      if (call.phase != Phase::kSettled && call.attempt > 0) {
        note_action(call, call.result ? Outcome::kError : Outcome::kUnknown, Millis{0});
        if (!call.result) {
          call.result = {call.call.id,
                         call.call.name,
                         ToolStatus::kError,
                         "Outcome unknown: the call had started, but " + when,
                         {}};
        }
      }
      if (call.result) message->parts.emplace_back(*std::move(call.result));
    }
    if (!message->parts.empty()) {
      stamp(*message);
      state_.conversation.push(std::move(message));
    }
    state_.conversation.close_open_calls("not run: " + when);
  }

  void note_repetition() {
    Repetition& repetition = state_.turn->repetition;
    Digest batch, errors;
    for (const CallState& call : state_.turn->calls) {
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
    const std::size_t window = std::size_t{2} * state_.agent->limits.max_repeats;  // a pair takes two
    if (repetition.batches.size() > window) repetition.batches.pop_front();
    if (repetition.errors.size() > window) repetition.errors.pop_front();
    if (repetition.count() < 2) repetition.warned = false;
  }

  /// A person answered a question of the planner: the answer is its result and the user's next words.
  Status answer_question(const Decided& r) {
    if (state_.follows_plan()) {
      state_.turn->results.push_back({CallId{}, "ask", r.verb != Verb::kDeny, r.text, nullptr});
    }
    if (r.text.empty()) return {};
    auto message = std::make_shared<Message>(text_message(Role::kUser, r.text));
    stamp(*message);
    state_.conversation.push(std::move(message));
    return {};
  }

  Status decide_call(CallState& call, const Decided& r, ParkKind kind) {
    switch (r.verb) {
      case Verb::kEdit:
        call.call.arguments = r.text;
        [[fallthrough]];
      case Verb::kAllow:
        call.phase = Phase::kApproved;
        return {};
      case Verb::kDeny: {
        const std::string what =
            kind == ParkKind::kInDoubt
                ? "Outcome unknown: the process stopped while this call ran; it was not repeated."
                : "Not allowed by " + r.by + ".";
        const std::string reason = r.text.empty() ? what : what + " " + r.text;
        state_.turn->report.denials.push_back(call.call.name + ": " + reason);
        if (kind == ParkKind::kInDoubt) note_action(call, Outcome::kUnknown, Millis{0});
        finish_call(call, {call.call.id, call.call.name, ToolStatus::kError, reason, {}}, nullptr);
        return {};
      }
      case Verb::kAnswer:
        if (kind == ParkKind::kInDoubt) note_action(call, Outcome::kOk, Millis{0});
        finish_call(call, {call.call.id, call.call.name, ToolStatus::kOk, r.text, {}}, nullptr);
        return {};
    }
    std::unreachable();
  }

  Status rewind(const TurnId& turn) {
    if (state_.turn) return wrong("a rewind during a turn");
    const auto mark = std::ranges::find(state_.marks, turn, &TurnMark::turn);
    if (mark == state_.marks.end()) return wrong("a rewind to " + turn.str() + ", which is not there");
    state_.conversation.keep_first(mark->messages);
    state_.marks.erase(mark, state_.marks.end());
    state_.context_tokens = 0;
    state_.history_break = "rewind";
    return {};
  }

  State& state_;
  UnixMillis time_;
};

}  // namespace

Result<State> apply(State state, const Record& record) {
  if (!state.agent && !std::holds_alternative<SessionCreated>(record.body)) {
    return fail(ErrorCode::kJournal, "the log does not begin with session_created");
  }
  ++state.seq;
  auto applied = std::visit(Applier{state, record.time}, record.body);
  if (!applied) {
    return fail(ErrorCode::kJournal, "session " + state.id.str() + ", record " + std::to_string(state.seq) +
                                         ": " + applied.error().message);
  }
  return state;
}

}  // namespace praxis
