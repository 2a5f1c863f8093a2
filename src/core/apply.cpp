// One function per record: how the state changes when that fact becomes known. Makes no decisions.
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "core/apply_parts.hpp"
#include "core/context.hpp"
#include "core/filtered_message.hpp"
#include "core/request_track.hpp"
#include "core/structured.hpp"
#include "core/waiting.hpp"
#include "praxis/core/state.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

class Applier {
 public:
  Applier(State& state, UnixMillis time) : state_(state), time_(time) {}

  Status operator()(const records::SessionCreated& r) {
    if (state_.agent) return against_rules("a session is created twice");
    state_.id = r.session;
    state_.version = r.version;
    state_.parent = r.parent;
    state_.depth = r.depth;
    state_.path = r.path.empty() ? r.agent->id : r.path;
    state_.forked_at = r.forked_at;
    state_.seed = r.seed;
    state_.trace = r.trace;
    set_agent(r.agent, r.prepared.get());
    return {};
  }

  Status operator()(const records::TurnStarted& r) {
    if (state_.turn) return against_rules("a turn starts while another is in progress");
    state_.conversation.close_open_calls("no result was recorded");
    state_.turn.emplace();
    state_.turn->id = r.turn;
    if (state_.team) state_.team->pending.clear();
    state_.turn->output_schema = r.output_schema;
    state_.turn->report.id = state_.id.str() + "/" + r.turn.str();
    state_.turn->report.started_at = time_;
    state_.marks.push_back({r.turn, state_.conversation.history().messages().size()});
    ++state_.next_turn;
    return {};
  }

  Status operator()(const records::MessageAppended& r) {
    if (state_.turn && !state_.turn->calls.empty())
      return against_rules("a message is appended between calls and their results");
    if (state_.turn && r.source == MessageSource::kSteer && !state_.steering.empty()) {
      take_first(state_, state_.steering);
      note_modified(*state_.turn);
    }
    if (r.source == MessageSource::kQueue && !state_.queue.empty()) take_first(state_, state_.queue);
    state_.conversation.push(stamped_as_given(state_, time_, *r.message));
    if (!state_.turn) return {};
    TurnState& turn = *state_.turn;
    const bool by_user = r.source == MessageSource::kUser || r.source == MessageSource::kQueue;
    if (by_user && turn.prompt.empty()) turn.prompt = r.message->text();
    if (r.source == MessageSource::kRuntime)
      note_said(turn, r.reason == NoteReason::kNone ? likely_reason(turn) : r.reason);
    // The model has to see the message before its answer counts.
    if (r.source != MessageSource::kPlan || r.message->role == Role::kUser) turn.answer.reset();
    if (r.message->role == Role::kAssistant) propose_calls(state_);
    if (r.source == MessageSource::kPlan) {
      ++turn.step;
      turn.step_began = time_;
      if (turn.calls.empty()) {
        note_plan_result(state_, {CallId{}, "message", true, r.message->text(), nullptr});
      }
    }
    return {};
  }

  Status operator()(const records::SpeakerSet& r) {
    const bool lasts = !state_.team || r.cause == "set" || r.cause == "handoff";
    const bool pending = r.cause == "chain" || r.cause == "handoff";
    std::string speaker = lasts ? r.agent : state_.team->speaker;
    state_.team =
        TeamState{std::move(speaker), r.agent, r.next, r.strategy, pending ? r.cause : std::string()};
    return {};
  }

  Status operator()(const records::CallProposed& r) {
    const CallState* within = state_.find_call(r.within);
    if (within == nullptr || within->phase != Phase::kRunning)
      return against_rules("a call is proposed within " + r.within.str() + ", which does not run");
    if (state_.find_call(r.call.id) != nullptr)
      return against_rules("call " + r.call.id.str() + " is proposed twice");
    CallState proposed;
    proposed.call = r.call;
    proposed.within = r.within;
    proposed.key = r.key;
    state_.turn->calls.add(std::move(proposed));
    return {};
  }

  Status operator()(const records::ChildSpawned& r) {
    const CallState* call = state_.find_call(r.call);
    if (call == nullptr || call->phase != Phase::kRunning)
      return against_rules("a sub-agent is made by call " + r.call.str() + ", which does not run");
    // A fork creates sub-agents of its own: it must not address those of its original.
    const bool own = state_.seq > state_.forked_at;
    state_.children.push_back({r.child, r.call, own ? r.key : std::string()});
    return {};
  }

  Status operator()(const records::ChildSettled& r) {
    const auto child = std::ranges::find(state_.children, r.child, &ChildState::id);
    if (child == state_.children.end())
      return against_rules("sub-agent " + r.child.str() + " settles, but is not there");
    child->usage = r.usage;
    child->tool_calls = r.tool_calls;
    child->settled = true;
    note_started_below(state_, time_, r);
    state_.turn->report.usage_children = usage_of_children();
    return {};
  }

  Status operator()(const records::EffectIntended& r) {
    if (!state_.turn) return against_rules("an effect is intended outside a turn");
    if (r.attempt <= 1) ++state_.next_effect;
    return r.kind == EffectKind::kTool ? start_call(state_, time_, r) : start_effect(state_, time_, r);
  }

  Status operator()(const records::EffectSettled& r) {
    if (!state_.turn) return against_rules("an effect settles outside a turn");
    state_.turn->report.duration += r.active.value_or(r.duration);
    if (const CallState* call = state_.find_call(r.effect)) return settle_call(state_, time_, *call, r);
    return settle_effect(state_, time_, r);
  }

  Status operator()(const records::Parked& r) {
    if (!state_.turn) return against_rules("a step is parked outside a turn");
    if (!r.step.call.empty()) {
      const CallState* call = state_.find_call(r.step.call);
      const auto may_wait = [&] {
        if (r.step.kind == ParkKind::kInDoubt) return call->phase == Phase::kInDoubt;
        const bool asks = r.step.kind == ParkKind::kQuestion && call->phase == Phase::kBarred;
        if (asks || r.step.kind == ParkKind::kAuthorisation || r.step.kind == ParkKind::kMachine)
          return call->phase == Phase::kBarred && call->barred == r.step.kind;
        // A hook may edit a call and still leave the decision to an approver.
        return call->phase == Phase::kProposed || (call->phase == Phase::kApproved && call->attempt == 0);
      };
      if (call == nullptr || !may_wait())
        return against_rules("call " + r.step.call.str() + " is parked, but cannot wait");
      set_phase(*call, Phase::kParked);
    }
    ParkedStep& step = state_.parked[r.step.id] = r.step;
    step.session = state_.id;
    step.path = state_.path;
    if (const Millis wait = state_.agent->limits.max_wait; wait.count() != 0)
      step.expires = UnixMillis{time_.value + wait.count()};
    ++state_.next_park;
    return {};
  }

  Status operator()(const records::Decided& r) {
    if (is_about_message(r)) return {};
    if (!state_.turn) return against_rules("a decision is made outside a turn");
    ParkKind kind = ParkKind::kApproval;
    if (!r.park.empty()) {
      const auto parked = state_.parked.find(r.park);
      if (parked == state_.parked.end() || parked->second.call != r.call) {
        return against_rules("a decision names " + r.park.str() + ", which is not parked for it");
      }
      kind = parked->second.kind;
      state_.parked.erase(parked);
    }
    if (r.call.empty()) {
      answer_question(r);
      return {};
    }
    const CallState* call = state_.find_call(r.call);
    const Phase waits = r.park.empty() ? Phase::kProposed : Phase::kParked;
    if (call == nullptr || call->phase != waits)
      return against_rules("call " + r.call.str() + " is decided, but does not wait");
    decide_call(state_, time_, *call, r, kind);
    return {};
  }

  Status operator()(const records::Intervened& r) {
    switch (r.verb) {
      case CommandVerb::kSteer:
        state_.steering.push_back({state_.seq, r.verb, r.text});
        break;
      case CommandVerb::kEnqueue:
        state_.queue.push_back({state_.seq, r.verb, r.text});
        break;
      case CommandVerb::kWithdraw:
      case CommandVerb::kMove:
        if (const auto changed =
                change_waiting(state_.steering, state_.queue, state_.delivered, r.verb, r.text);
            !changed)
          return against_rules(changed.error().message);
        if (state_.turn) note_modified(*state_.turn);
        break;
      case CommandVerb::kCompact:
        state_.compact = true;
        break;
      case CommandVerb::kInterrupt:
        if (state_.turn) state_.turn->stop = StopReason::kCancelled;
        break;
      case CommandVerb::kDeadline:
        if (state_.turn && !state_.turn->stop) state_.turn->stop = StopReason::kTimeLimit;
        break;
      case CommandVerb::kPause:
      case CommandVerb::kUnpause:
        state_.paused = r.verb == CommandVerb::kPause;
        break;
      case CommandVerb::kAnnotate:
        state_.comment = r.text;
        break;
      case CommandVerb::kSetAgent:
        if (!r.agent) return against_rules("set_agent brings no agent");
        if (state_.version >= 3 && !same_rules(*state_.agent, *r.agent)) judge_anew();
        set_agent(r.agent);
        break;
      case CommandVerb::kRewind:
        return rewind(TurnId{r.text});
      case CommandVerb::kDelete:
        state_.deleted = true;
        state_.rest_status = SessionStatus::kDeleted;
        if (state_.turn) state_.turn->stop = StopReason::kCancelled;
        break;
      case CommandVerb::kModify:
        state_.steering.push_back({state_.seq, r.verb, r.text});
        if (state_.turn) {
          state_.turn->modified = true;
          state_.turn->task = r.text;
        }
        break;
      case CommandVerb::kBudget:
        if (state_.turn && !state_.turn->stop) {
          state_.turn->stop = stop_reason_from(r.text).value_or(StopReason::kCancelled);
        }
        break;
    }
    return {};
  }

  Status operator()(const records::Compacted& r) {
    state_.compact = false;
    if (state_.turn) {
      leave_failed_effect(*state_.turn);
      state_.turn->summary.reset();
      if (state_.turn->overflow == Overflow::kRefused) state_.turn->overflow = Overflow::kShort;
    }
    const std::size_t before = state_.conversation.history().messages().size();
    if (r.summary.empty()) {
      state_.conversation.cut(r.keep_from);
    } else {
      state_.conversation.summarise(r.keep_from, stamped(state_, time_, summary_message(r.summary)),
                                    verbatim_tokens(state_));
    }
    history_shrank(state_, before, r.summary.empty() ? "cut" : "compaction");
    return {};
  }

  Status operator()(const records::StatusChanged& r) {
    if (r.cause == "recovered" && state_.turn) {
      TurnState& turn = *state_.turn;
      if (turn.effect && turn.effect->phase == EffectState::Phase::kRunning) {
        turn.effect->phase = EffectState::Phase::kInDoubt;
        charge(state_, r.spent);
      }
      for (const std::uint32_t at : std::set(turn.calls.in(Phase::kRunning)))
        set_phase(turn.calls[at], Phase::kInDoubt);
    }
    if (!state_.turn) state_.rest_status = r.status;
    return {};
  }

  Status operator()(const records::TurnSettled& r) {
    if (!state_.turn || state_.turn->id != r.turn)
      return against_rules("a turn settles that is not in progress");
    if (state_.turn->in_flight()) return against_rules("a turn settles while an effect runs");
    abandon_calls(state_, time_, r.reason);
    AgentResult report = std::move(state_.turn->report);
    report.success = r.reason == StopReason::kFinished;
    report.reason = r.reason;
    report.error = r.error;
    report.steps = state_.turn->step;
    report.finished_at = time_;
    state_.ended_turns += report.finished_at - report.started_at;
    state_.settled_children += report.usage_children;
    state_.ended_calls += state_.turn_calls();
    state_.children.clear();
    report.text = r.text.empty() ? last_assistant_text() : r.text;
    if (const Json& schema = state_.output_schema(); report.success && !schema.is_null()) {
      report.structured = structured_answer(schema, report.text).value_or(nullptr);
    }
    if (!state_.deleted) {
      state_.rest_status = report.success     ? SessionStatus::kCompleted
                           : report.aborted() ? SessionStatus::kCancelled
                                              : SessionStatus::kError;
    }
    state_.last_task =
        state_.turn->task.empty() ? std::move(state_.turn->prompt) : std::move(state_.turn->task);
    state_.turn.reset();
    state_.parked.clear();
    state_.steering.clear();
    state_.last = std::move(report);
    return {};
  }

 private:
  void set_phase(const CallState& call, Phase phase) {
    state_.turn->calls.update(call, [&](CallState& changed) { changed.phase = phase; });
  }

  /// An approval given under other rules does not count.
  static bool same_rules(const AgentSpec& a, const AgentSpec& b) {
    return a.policy == b.policy && a.bounds == b.bounds;
  }
  void judge_anew() {
    if (!state_.turn) return;
    std::erase_if(state_.parked, [&](const auto& parked) {
      if (parked.second.kind != ParkKind::kApproval) return false;
      set_phase(*state_.find_call(parked.second.call), Phase::kProposed);
      return true;
    });
    const CallBatch& calls = state_.turn->calls;
    for (const std::uint32_t at : std::set(calls.in(Phase::kApproved))) {
      if (calls[at].attempt == 0) set_phase(calls[at], Phase::kProposed);
    }
  }

  Usage usage_of_children() const {
    Usage usage;
    for (const ChildState& child : state_.children) usage += child.usage;
    return usage;
  }

  void set_agent(AgentSpecPtr agent, const PreparedAgent* prepared = nullptr) {
    const bool counted_alike = state_.agent && state_.agent->model == agent->model &&
                               state_.agent->profile.counting == agent->profile.counting;
    if (!counted_alike && state_.version >= 4) state_.correction = prior_correction(*agent);
    state_.agent = std::move(agent);
    state_.non_strict = false;
    state_.described = prepared != nullptr ? prepared->described : described_by(*state_.agent);
    state_.overhead_tokens = prepared != nullptr ? prepared->overhead_tokens : overhead_of(*state_.agent);
  }

  std::string last_assistant_text() const {
    const auto& messages = state_.conversation.history().messages();
    if (messages.empty() || messages.back()->role != Role::kAssistant) return {};
    return messages.back()->text();
  }

  /// The reason of a note in a record of version 4 or older, which does not hold it.
  static NoteReason likely_reason(const TurnState& turn) {
    if (turn.effect) return NoteReason::kUnusable;
    if (!turn.answer) return NoteReason::kRepetition;
    return turn.answer->malformed_call ? NoteReason::kMalformedCall : NoteReason::kSchema;
  }

  static void note_said(TurnState& turn, NoteReason reason) {
    switch (reason) {
      case NoteReason::kUnusable:
        turn.noted = true;
        return leave_failed_effect(turn);
      case NoteReason::kRepetition:
        turn.repetition.warned = true;
        return;
      case NoteReason::kSchema:
        ++turn.corrections;
        return;
      case NoteReason::kMalformedCall:
      case NoteReason::kNone:
        return;
    }
  }

  /// Called when all pending messages are in the conversation, so that a planner may act on a changed
  /// request.
  void note_modified(TurnState& turn) const {
    if (!turn.modified || !state_.steering.empty()) return;
    turn.modified = false;
    turn.modified_at = static_cast<std::uint32_t>(turn.results.size());
  }

  /// A user answered a question of the planner: the answer becomes its result and a user message.
  void answer_question(const records::Decided& r) {
    note_plan_result(state_, {CallId{}, "ask", r.verb != ApprovalVerb::kReject, r.text, nullptr});
    if (r.text.empty()) return;
    state_.conversation.push(stamped(state_, time_, text_message(Role::kUser, r.text)));
  }

  Status rewind(const TurnId& turn) {
    if (state_.turn) return against_rules("a rewind during a turn");
    const auto mark = std::ranges::find(state_.marks, turn, &TurnMark::turn);
    if (mark == state_.marks.end())
      return against_rules("a rewind to " + turn.str() + ", which is not there");
    state_.conversation.keep_first(mark->messages);
    state_.marks.erase(mark, state_.marks.end());
    state_.memory.keep_turns(state_.marks.size());
    state_.context_tokens = 0;
    state_.history_break = "rewind";
    return {};
  }

  State& state_;
  UnixMillis time_;
};

}  // namespace

std::unexpected<Error> against_rules(std::string what) {
  return fail(ErrorCode::kJournal, "the log does not follow its own rules: " + std::move(what));
}

MessagePtr stamped(State& state, UnixMillis time, Message message) {
  message.id = MessageId{"m" + std::to_string(state.next_message++)};
  message.created = time;
  return std::make_shared<const Message>(std::move(message));
}

MessagePtr stamped_as_given(State& state, UnixMillis time, Message message) {
  const MessageId given = message.id;
  const UnixMillis created = message.created;
  if (given.empty() || std::ranges::any_of(state.conversation.history().messages(),
                                           [&](const MessagePtr& said) { return said->id == given; }))
    return stamped(state, time, std::move(message));
  // An id of the form that `stamped` gives must not be given again.
  std::uint32_t number = 0;
  const std::string& text = given.str();
  const char* const end = text.data() + text.size();
  constexpr std::uint32_t kMost = 1'000'000'000;  // far from an overflow
  if (text.starts_with('m') && std::from_chars(text.data() + 1, end, number).ptr == end && number < kMost)
    state.next_message = std::max(state.next_message, number + 1);
  if (created.value == 0) message.created = time;
  return std::make_shared<const Message>(std::move(message));
}

void note_plan_result(State& state, StepResult result) {
  if (state.follows_plan()) state.turn->results.push_back(std::move(result));
}

void charge(State& state, const Usage& usage) {
  state.turn->report.usage += usage;
  state.usage += usage;
}

Result<State> apply(State state, const Record& record) {
  if (auto applied = apply_to(state, record); !applied) return fail(std::move(applied.error()));
  return state;
}

Status apply_to(State& state, const Record& record) {
  if (!state.agent && !std::holds_alternative<records::SessionCreated>(record.body)) {
    return fail(ErrorCode::kJournal, "the log does not begin with session_created");
  }
  ++state.seq;
  state.time = record.time;
  auto applied = std::visit(Applier{state, record.time}, record.body);
  if (!applied) {
    return fail(ErrorCode::kJournal, "session " + state.id.str() + ", record " + std::to_string(state.seq) +
                                         ": " + applied.error().message);
  }
  return {};
}

}  // namespace praxis
