// Projects records to events. One function per record kind; everything comes from the record and the state
// after it.
#include <algorithm>

#include "core/filtered_message.hpp"
#include "core/patience.hpp"
#include "core/project.hpp"

namespace praxis {
namespace {

class Projector {
 public:
  Projector(const Record& record, const State& after, const EventKinds& wanted)
      : record_(record), after_(after), wanted_(wanted) {}

  std::vector<Event> take() && {
    std::visit(*this, record_.body);
    return std::move(events_);
  }

  void operator()(const records::SessionCreated&) {}
  /// A copy: the description in use may belong to an agent that keeps its runtime alive, and observers may
  /// keep events in what the runtime keeps.
  void operator()(const records::TurnStarted&) {
    if (!wants<events::TurnStarted>()) return;
    add<events::TurnStarted>(after_.agent ? std::make_shared<const AgentSpec>(*after_.agent) : nullptr);
  }

  void operator()(const records::MessageAppended& r) {
    if (r.source == MessageSource::kPlan) add<events::StepStarted>();
    add<events::MessageAdded>(stored(r.message), r.source);
    if (!after_.turn) return;
    add_calls();
    if (r.source == MessageSource::kPlan && after_.turn->calls.empty()) end_step();
  }

  void operator()(const records::SpeakerSet&) {}
  void operator()(const records::CallProposed& r) {
    add<events::ToolCalled>(r.call.id, r.call.name, r.call.arguments);
  }
  void operator()(const records::ChildSpawned& r) { add<events::ChildSpawned>(r.child, r.agent, r.call); }
  void operator()(const records::ChildSettled& r) { add<events::ChildSettled>(r.child, r.reason, r.usage); }

  void operator()(const records::EffectIntended& r) {
    attempt_ = r.attempt;
    if (r.kind == EffectKind::kTool) return add<events::ToolStarted>(r.call, r.tool, arguments_of(r.call));
    const bool repeated = after_.turn && after_.turn->redo;  // the step began with a call that failed
    if (r.attempt == 1 && !r.summary && !r.consult && !repeated) add<events::StepStarted>();
    if (r.kind != EffectKind::kModel) return;
    const ModelOptions& options = r.patch.options ? *r.patch.options : after_.agent->options;
    const bool answers = !r.summary && !r.consult;
    if (r.delay.count() != 0 && after_.turn && after_.turn->effect) add_wait(r.delay);
    if (answers && (r.attempt > 1 || repeated)) add<events::AttemptSuperseded>();
    if (answers && r.attempt == 1 && after_.prefix_break) add<events::PrefixBroken>(*after_.prefix_break);
    std::string purpose = r.consult ? r.consult->purpose : "";
    if (r.summary) purpose = "summary";
    const std::string& model = r.patch.model.empty() ? after_.agent->model : r.patch.model;
    add<events::ModelRequested>(model, std::move(purpose), options);
  }

  void operator()(const records::EffectSettled& r) {
    if (const auto* response = std::get_if<ModelResponse>(&r.result))
      return model_answered(*response, r.duration);
    if (is_tool(r)) return tool_settled(r);
    if (after_.turn && after_.turn->effect) attempt_ = after_.turn->effect->attempt;
    if (r.error) return add<events::ModelFailed>(*r.error);
    add<events::StepCompleted>(nullptr, since_step_began());  // a timer has fired
  }

  void operator()(const records::Parked& r) { add<events::StepParked>(after_.parked.at(r.step.id)); }
  void operator()(const records::Decided& r) {
    if (is_about_message(r)) return;
    add<events::StepDecided>(r);
    const bool was_last = !r.call.empty() && after_.turn && after_.turn->calls.empty();
    if (was_last) end_step();
  }

  void operator()(const records::Intervened& r) {
    if (r.verb == CommandVerb::kPause) return add<events::SessionPaused>(r.text);
    if (r.verb == CommandVerb::kUnpause) return add<events::SessionUnpaused>();
    add<events::SessionIntervened>(r);
  }

  void operator()(const records::Compacted& r) { add<events::HistoryCut>(r.cause, r.summary); }

  void operator()(const records::StatusChanged& r) {
    if (r.cause == "recovered") add<events::SessionRecovered>();
  }

  void operator()(const records::TurnSettled& r) {
    turn_ = r.turn;
    if (r.reason == StopReason::kFinished) return add_end<events::TurnCompleted>();
    if (r.reason == StopReason::kCancelled) return add_end<events::TurnCancelled>();
    if (r.reason == StopReason::kTimeLimit) return add_end<events::TurnTimedOut>();
    add_end<events::TurnFailed>();
  }

 private:
  template <class... Bodies>
  bool wants() const {
    static const EventKinds kKinds = [] {
      EventKinds kinds;
      (kinds.set(EventBody(Bodies{}).index()), ...);
      return kinds;
    }();
    return (wanted_ & kKinds).any();
  }

  /// Makes the event `Body{parts...}` if it is wanted.
  template <class Body, class... Parts>
  void add(Parts&&... parts) {
    if (!wants<Body>()) return;
    Event& event = events_.emplace_back();
    event.agent = {after_.id, after_.depth, after_.parent};
    event.seq = after_.seq;
    event.turn = after_.turn ? after_.turn->id : turn_;
    event.step = after_.turn ? after_.turn->step : step_;
    event.attempt = attempt_;
    event.time = record_.time;
    event.body = Body{std::forward<Parts>(parts)...};
  }

  /// Makes the event at the end of a turn, which holds the whole result.
  template <class Body>
  void add_end() {
    if (!wants<Body>()) return;
    AgentResult result = result_of(after_);
    step_ = result.steps;
    add<Body>(std::move(result));
  }

  /// Returns the message as stored in the conversation, with id and time; as given if the normaliser dropped
  /// it.
  MessagePtr stored(const MessagePtr& given) const {
    const auto& messages = after_.conversation.history().messages();
    return !messages.empty() && messages.back()->created == record_.time ? messages.back() : given;
  }

  void add_calls() {
    for (const CallState& call : after_.turn->calls) {
      add<events::ToolCalled>(call.call.id, call.call.name, call.call.arguments);
    }
  }

  const std::string& arguments_of(const CallId& id) const {
    static const std::string kNone;
    const CallState* call = after_.find_call(id);
    return call != nullptr ? call->call.arguments : kNone;
  }

  Millis since_step_began() const {
    const std::int64_t began = after_.turn ? after_.turn->step_began.value : 0;
    return Millis{began == 0 ? 0 : std::max<std::int64_t>(record_.time.value - began, 0)};
  }

  /// The step of a message of the model or the plan has ended, with its last call if it has calls.
  void end_step() {
    const auto& messages = after_.conversation.history().messages();
    const auto said = std::find_if(messages.rbegin(), messages.rend(),
                                   [](const MessagePtr& m) { return m->role == Role::kAssistant; });
    add<events::StepCompleted>(said != messages.rend() ? *said : nullptr, since_step_began());
  }

  /// The answer as stored in the conversation, or as given if it is no part of that.
  MessagePtr answer_of(const ModelResponse& response, bool stored) const {
    const auto& messages = after_.conversation.history().messages();
    if (stored && !messages.empty() && messages.back()->role == Role::kAssistant) return messages.back();
    auto message = std::make_shared<Message>();
    message->role = Role::kAssistant;
    message->parts = response.parts;
    message->usage = response.usage;
    return message;
  }

  /// The wait before a retry.
  void add_wait(Millis delay) {
    const EffectState& effect = *after_.turn->effect;
    EffectState failed = effect;
    failed.error = after_.turn->report.retries.last_error;
    events::ModelWaiting wait{.error = failed.error, .delay = delay, .until = record_.time + delay};
    if (waits_out(after_, failed)) {
      const Millis left = after_.agent->limits.patience - effect.waited;
      wait.gives_up = record_.time + std::max(left, delay);
    } else {
      wait.attempts = after_.agent->limits.max_model_attempts + effect.outages;
    }
    add<events::ModelWaiting>(std::move(wait));
  }

  void add_answer(const ModelResponse& response, Millis duration, std::string purpose, bool stored) {
    if (!wants<events::ModelResponded>()) return;
    add<events::ModelResponded>(response.model, response.finish, response.usage, std::move(purpose),
                                answer_of(response, stored), duration);
  }

  void model_answered(const ModelResponse& response, Millis duration) {
    const ModelCall& call = after_.turn->report.model_calls.back();
    if (!call.purpose.empty()) {
      return add_answer(response, duration, call.purpose, false);
    }
    if (const auto& failed = after_.turn->effect) {  // the attempt broke off and will be repeated
      add_answer(response, duration, {}, false);
      return add<events::ModelFailed>(*failed->error);
    }
    for (const Part& part : response.parts) {
      if (const auto* reasoning = std::get_if<ReasoningPart>(&part))
        add<events::AssistantReasoning>(reasoning->text);
      if (const auto* text = std::get_if<TextPart>(&part)) add<events::AssistantText>(text->text);
    }
    add_answer(response, duration, {}, true);
    add_calls();
    if (after_.turn->calls.empty()) end_step();
  }

  bool is_tool(const records::EffectSettled& r) const {
    if (std::holds_alternative<ToolOutcome>(r.result)) return true;
    if (!after_.turn) return false;
    return after_.find_call(r.effect) != nullptr || (!after_.turn->effect && r.error);
  }

  void tool_settled(const records::EffectSettled& r) {
    if (!wants<events::ToolCompleted, events::ToolTimedOut, events::ToolFailed, events::StepCompleted>())
      return;
    const ToolCallPart made = call_of(r);
    const auto& [call, name, arguments, valid, vendor] = made;
    attempt_ = attempt_of(r.effect);
    const auto* outcome = std::get_if<ToolOutcome>(&r.result);
    if (r.outcome == Outcome::kOk && outcome != nullptr) {
      add<events::ToolCompleted>(call, name, outcome->result.text, r.duration, arguments, outcome->value,
                                 std::make_shared<const ToolResultPart>(outcome->result));
    } else if (r.error && r.error->kind() == ErrorKind::kTimeout) {
      const ToolSpec* tool = after_.agent->find_tool(name);
      add<events::ToolTimedOut>(call, name, r.duration, arguments,
                                tool != nullptr ? tool->definition.timeout : Millis{0});
    } else {
      const std::string text = outcome != nullptr ? outcome->result.text : std::string(to_string(r.outcome));
      add<events::ToolFailed>(call, name, r.outcome, r.error.value_or(make_error(ErrorCode::kTool, text)),
                              r.duration, arguments);
    }
    if (after_.turn->calls.empty()) end_step();
  }

  std::uint32_t attempt_of(const EffectId& effect) const {
    if (const CallState* const call = after_.find_call(effect)) return call->attempt;
    const auto& actions = after_.turn->report.actions;  // the batch is over: its last call is the last action
    return actions.empty() ? 1 : actions.back().attempts;
  }

  ToolCallPart call_of(const records::EffectSettled& r) const {
    if (const CallState* const call = after_.find_call(r.effect)) return call->call;
    const auto& actions = after_.turn->report.actions;
    if (actions.empty()) return {};
    return {actions.back().call, actions.back().tool, actions.back().arguments, true, nullptr};
  }

  const Record& record_;
  const State& after_;
  const EventKinds& wanted_;
  std::vector<Event> events_;
  TurnId turn_;
  std::uint32_t step_ = 0;
  std::uint32_t attempt_ = 1;
};

}  // namespace

void set_result(EventBody& body, const AgentResult& result) {
  if (auto* completed = std::get_if<events::TurnCompleted>(&body)) completed->result = result;
  if (auto* failed = std::get_if<events::TurnFailed>(&body)) failed->result = result;
  if (auto* timed_out = std::get_if<events::TurnTimedOut>(&body)) timed_out->result = result;
  if (auto* cancelled = std::get_if<events::TurnCancelled>(&body)) cancelled->result = result;
}

std::vector<Event> project(const Record& record, const State& after, const EventKinds& wanted) {
  return Projector(record, after, wanted).take();
}

}  // namespace praxis
