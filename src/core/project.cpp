// Projects records to events. One function per record kind; everything comes from the record and the state
// after it.
#include <algorithm>

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
  void operator()(const records::TurnStarted&) { add(events::TurnStarted{}); }

  void operator()(const records::MessageAppended& r) {
    if (r.source == MessageSource::kPlan) add(events::StepStarted{});
    add(events::MessageAdded{stored(r.message), r.source});
    if (!after_.turn) return;
    add_calls();
    if (r.source == MessageSource::kPlan && after_.turn->calls.empty()) add(events::StepCompleted{});
  }

  void operator()(const records::SpeakerSet&) {}
  void operator()(const records::CallProposed& r) {
    add(events::ToolCalled{r.call.id, r.call.name, r.call.arguments});
  }
  void operator()(const records::ChildSpawned& r) { add(events::ChildSpawned{r.child, r.agent, r.call}); }
  void operator()(const records::ChildSettled& r) { add(events::ChildSettled{r.child, r.reason, r.usage}); }

  void operator()(const records::EffectIntended& r) {
    attempt_ = r.attempt;
    if (r.kind == EffectKind::kTool) return add(events::ToolStarted{r.call, r.tool});
    const bool repeated = after_.turn && after_.turn->redo;  // the step began with a call that failed
    if (r.attempt == 1 && !r.summary && !r.consult && !repeated) add(events::StepStarted{});
    if (r.kind != EffectKind::kModel) return;
    if (r.summary) return add(events::ModelRequested{after_.agent->model, "summary"});
    if (r.consult) return add(events::ModelRequested{after_.agent->model, r.consult->purpose});
    if (r.attempt > 1 || repeated) add(events::AttemptSuperseded{});
    if (r.attempt == 1 && after_.prefix_break) add(events::PrefixBroken{*after_.prefix_break});
    add(events::ModelRequested{after_.agent->model, {}});
  }

  void operator()(const records::EffectSettled& r) {
    if (const auto* response = std::get_if<ModelResponse>(&r.result)) return model_answered(*response);
    if (is_tool(r)) return tool_settled(r);
    if (after_.turn && after_.turn->effect) attempt_ = after_.turn->effect->attempt;
    if (r.error) return add(events::ModelFailed{*r.error});
    add(events::StepCompleted{});  // a timer has fired
  }

  void operator()(const records::Parked& r) { add(events::StepParked{after_.parked.at(r.step.id)}); }
  void operator()(const records::Decided& r) {
    add(events::StepDecided{r});
    const bool was_last = !r.call.empty() && after_.turn && after_.turn->calls.empty();
    if (was_last) add(events::StepCompleted{});
  }

  void operator()(const records::Intervened& r) {
    if (r.verb == CommandVerb::kPause) return add(events::SessionPaused{r.text});
    if (r.verb == CommandVerb::kUnpause) return add(events::SessionUnpaused{});
    add(events::SessionIntervened{r});
  }

  void operator()(const records::Compacted& r) { add(events::HistoryCut{r.cause, r.summary}); }

  void operator()(const records::StatusChanged& r) {
    if (r.cause == "recovered") add(events::SessionRecovered{});
  }

  void operator()(const records::TurnSettled& r) {
    turn_ = r.turn;
    AgentResult result = result_of(after_);
    step_ = result.steps;
    if (r.reason == StopReason::kFinished) return add(events::TurnCompleted{std::move(result)});
    if (r.reason == StopReason::kCancelled) return add(events::TurnCancelled{std::move(result)});
    if (r.reason == StopReason::kTimeLimit) return add(events::TurnTimedOut{std::move(result)});
    add(events::TurnFailed{std::move(result)});
  }

 private:
  template <class Body>
  void add(Body body) {
    static const std::size_t kKind = EventBody(Body{}).index();
    if (!wanted_.test(kKind)) return;
    Event& event = events_.emplace_back();
    event.agent = {after_.id, after_.depth, after_.parent};
    event.seq = after_.seq;
    event.turn = after_.turn ? after_.turn->id : turn_;
    event.step = after_.turn ? after_.turn->step : step_;
    event.attempt = attempt_;
    event.time = record_.time;
    event.body = std::move(body);
  }

  /// Returns the message as stored in the conversation, with id and time; as given if the normaliser dropped
  /// it.
  MessagePtr stored(const MessagePtr& given) const {
    const auto& messages = after_.conversation.history().messages();
    return !messages.empty() && messages.back()->created == record_.time ? messages.back() : given;
  }

  void add_calls() {
    for (const CallState& call : after_.turn->calls) {
      add(events::ToolCalled{call.call.id, call.call.name, call.call.arguments});
    }
  }

  void model_answered(const ModelResponse& response) {
    const ModelCall& call = after_.turn->report.model_calls.back();
    if (!call.purpose.empty()) {
      return add(events::ModelResponded{response.model, response.finish, response.usage, call.purpose});
    }
    if (const auto& failed = after_.turn->effect) {  // the attempt broke off and will be repeated
      add(events::ModelResponded{response.model, response.finish, response.usage, {}});
      return add(events::ModelFailed{*failed->error});
    }
    for (const Part& part : response.parts) {
      if (const auto* reasoning = std::get_if<ReasoningPart>(&part))
        add(events::AssistantReasoning{reasoning->text});
      if (const auto* text = std::get_if<TextPart>(&part)) add(events::AssistantText{text->text});
    }
    add(events::ModelResponded{response.model, response.finish, response.usage, {}});
    add_calls();
    if (after_.turn->calls.empty()) add(events::StepCompleted{});
  }

  bool is_tool(const records::EffectSettled& r) const {
    if (std::holds_alternative<ToolOutcome>(r.result)) return true;
    if (!after_.turn) return false;
    const auto same = [&](const CallState& call) { return call.effect == r.effect; };
    return std::ranges::any_of(after_.turn->calls, same) || (!after_.turn->effect && r.error);
  }

  void tool_settled(const records::EffectSettled& r) {
    const auto [call, name] = call_of(r);
    attempt_ = attempt_of(r.effect);
    const auto* outcome = std::get_if<ToolOutcome>(&r.result);
    if (r.outcome == Outcome::kOk && outcome != nullptr) {
      add(events::ToolCompleted{call, name, outcome->result.text, r.duration});
    } else if (r.error && r.error->kind() == ErrorKind::kTimeout) {
      add(events::ToolTimedOut{call, name, r.duration});
    } else {
      const std::string text = outcome != nullptr ? outcome->result.text : std::string(to_string(r.outcome));
      add(events::ToolFailed{call, name, r.outcome, r.error.value_or(make_error(ErrorCode::kTool, text)),
                             r.duration});
    }
    if (after_.turn->calls.empty()) add(events::StepCompleted{});
  }

  std::uint32_t attempt_of(const EffectId& effect) const {
    for (const CallState& call : after_.turn->calls) {
      if (call.effect == effect) return call.attempt;
    }
    const auto& actions = after_.turn->report.actions;  // the batch is over: its last call is the last action
    return actions.empty() ? 1 : actions.back().attempts;
  }

  std::pair<CallId, std::string> call_of(const records::EffectSettled& r) const {
    for (const CallState& call : after_.turn->calls) {
      if (call.effect == r.effect) return {call.call.id, call.call.name};
    }
    const auto& actions = after_.turn->report.actions;
    return actions.empty() ? std::pair<CallId, std::string>{}
                           : std::pair{actions.back().call, actions.back().tool};
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
  if (auto* cancelled = std::get_if<events::TurnCancelled>(&body)) cancelled->result = result;
}

std::vector<Event> project(const Record& record, const State& after, const EventKinds& wanted) {
  return Projector(record, after, wanted).take();
}

}  // namespace praxis
