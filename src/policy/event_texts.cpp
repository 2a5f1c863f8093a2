#include "policy/event_texts.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "policy/record_texts.hpp"

namespace praxis {
namespace {

/// Redacts the members of events and records in place. Values that are shared are copied first.
class EventTexts {
 public:
  explicit EventTexts(const redact::Redaction& redaction) : redaction_(redaction) {}

  void operator()(records::SessionCreated& r) const {
    agent(r.agent);
    r.prepared = nullptr;  // it has the agent in another form
  }
  void operator()(records::TurnStarted& r) const { redaction_.redact(r.output_schema); }
  void operator()(records::MessageAppended& r) const {
    message(r.message);
    message(r.original);
  }
  void operator()(records::EffectIntended& r) const {
    if (r.patch.instructions) text(*r.patch.instructions);
    if (r.patch.history) history(*r.patch.history);
    if (!r.consult) return;
    text(r.consult->prompt);
    redaction_.redact(r.consult->schema);
  }
  void operator()(records::EffectSettled& r) const {
    if (auto* const response = std::get_if<ModelResponse>(&r.result)) {
      for (Part& one : response->parts) std::visit([this](auto& p) { part(p); }, one);
      for (std::string& each : response->warnings) text(each);
    }
    if (auto* const gave = std::get_if<ToolOutcome>(&r.result)) outcome(*gave);
    if (r.error) redaction_.redact(*r.error);
    if (!r.original) return;
    auto copy = std::make_shared<records::ToolOriginal>(*r.original);
    if (copy->result) outcome(*copy->result);
    if (copy->error) redaction_.redact(*copy->error);
    r.original = std::move(copy);
  }
  void operator()(records::Parked& r) const { step(r.step); }
  void operator()(records::Decided& r) const { json(r.text); }
  void operator()(records::Intervened& r) const {
    text(r.text);
    text(r.original);
    agent(r.agent);
  }
  void operator()(records::Compacted& r) const { text(r.summary); }
  void operator()(records::TurnSettled& r) const {
    text(r.text);
    if (r.error) redaction_.redact(*r.error);
  }
  void operator()(records::CallProposed& r) const { part(r.call); }
  void operator()(records::SpeakerSet& r) const { redaction_.redact(r.strategy); }
  // These hold names, ids and figures.
  void operator()(records::StatusChanged&) const {}
  void operator()(records::ChildSpawned&) const {}
  void operator()(records::ChildSettled&) const {}

  void operator()(events::TurnStarted& e) const { agent(e.config); }
  void operator()(events::MessageAdded& e) const { message(e.message); }
  void operator()(events::StepCompleted& e) const { message(e.message); }
  void operator()(events::TurnCompleted& e) const { result(e.result); }
  void operator()(events::TurnFailed& e) const { result(e.result); }
  void operator()(events::TurnTimedOut& e) const { result(e.result); }
  void operator()(events::TurnCancelled& e) const { result(e.result); }
  void operator()(events::TextDelta& e) const { text(e.text); }
  void operator()(events::ReasoningDelta& e) const { text(e.text); }
  void operator()(events::ToolCallDelta& e) const { text(e.arguments); }
  void operator()(events::AssistantText& e) const { text(e.text); }
  void operator()(events::AssistantReasoning& e) const { text(e.text); }
  void operator()(events::ModelResponded& e) const { message(e.message); }
  void operator()(events::ModelFailed& e) const { redaction_.redact(e.error); }
  void operator()(events::ModelWaiting& e) const {
    if (e.error) redaction_.redact(*e.error);
  }
  void operator()(events::ToolCalled& e) const { json(e.arguments); }
  void operator()(events::ToolStarted& e) const { json(e.arguments); }
  void operator()(events::ToolProgress& e) const { text(e.text); }
  void operator()(events::ToolCompleted& e) const {
    text(e.text);
    json(e.arguments);
    redaction_.redact(e.value);
    if (!e.result) return;
    auto copy = std::make_shared<ToolResultPart>(*e.result);
    part(*copy);
    e.result = std::move(copy);
  }
  void operator()(events::ToolFailed& e) const {
    json(e.arguments);
    redaction_.redact(e.error);
  }
  void operator()(events::ToolTimedOut& e) const { json(e.arguments); }
  void operator()(events::StepParked& e) const { step(e.step); }
  void operator()(events::StepDecided& e) const { json(e.decision.text); }
  void operator()(events::SessionPaused& e) const { text(e.reason); }
  void operator()(events::SessionIntervened& e) const {
    text(e.intervention.text);
    text(e.intervention.original);
    agent(e.intervention.agent);
  }
  void operator()(events::HistoryCut& e) const { text(e.summary); }
  void operator()(events::AgentStatus& e) const {
    text(e.content);
    text(e.comment);
  }
  void operator()(events::HookFailed& e) const { text(e.message); }
  void operator()(events::Custom& e) const { redaction_.redact(e.payload); }
  // These hold names, ids and figures.
  void operator()(events::StepStarted&) const {}
  void operator()(events::ModelRequested&) const {}
  void operator()(events::AttemptSuperseded&) const {}
  void operator()(events::ChildSpawned&) const {}
  void operator()(events::ChildSettled&) const {}
  void operator()(events::SessionUnpaused&) const {}
  void operator()(events::SessionRecovered&) const {}
  void operator()(events::PrefixBroken&) const {}

  void result(AgentResult& result) const {
    text(result.text);
    text(result.full_text);
    redaction_.redact(result.structured);
    message(result.message);
    for (MessagePtr& each : result.messages) message(each);
    if (result.error) redaction_.redact(*result.error);
    if (result.retries.last_error) redaction_.redact(*result.retries.last_error);
    for (ActionResult& action : result.actions) {
      json(action.arguments);
      text(action.result);
    }
    for (ParkedStep& each : result.pending) step(each);
    for (std::string& each : result.denials) text(each);
    for (std::string& each : result.warnings) text(each);
    redaction_.redact(result.memory_deltas);
  }

 private:
  void text(std::string& text) const { text = redaction_.text(std::move(text)); }
  void json(std::string& text) const { text = redaction_.json_text(std::move(text)); }

  void agent(AgentSpecPtr& spec) const {
    if (!spec) return;
    auto copy = std::make_shared<AgentSpec>(*spec);
    text(copy->preface);
    text(copy->instructions);
    text(copy->description);
    redaction_.redact(copy->plan);
    redaction_.redact(copy->metadata);
    redaction_.redact(copy->policy);
    redaction_.redact(copy->bounds);
    for (ToolSpec& tool : copy->tools) text(tool.definition.description);
    spec = std::move(copy);
  }

  void message(MessagePtr& message) const {
    if (!message) return;
    auto copy = std::make_shared<Message>(*message);
    for (Part& one : copy->parts) std::visit([this](auto& p) { part(p); }, one);
    redaction_.redact(copy->metadata);
    message = std::move(copy);
  }

  void outcome(ToolOutcome& outcome) const {
    part(outcome.result);
    redaction_.redact(outcome.value);
    redaction_.redact(outcome.memory);
  }

  void history(History& history) const {
    HistoryBuilder less;
    for (MessagePtr each : history.messages()) {
      message(each);
      less.push(std::move(each));
    }
    history = less.history();
  }

  // What the vendor wants back byte by byte is in `vendor`, which stays.
  void part(TextPart& p) const {
    text(p.text);
    for (Citation& citation : p.citations) {
      text(citation.url);
      text(citation.title);
      text(citation.quote);
    }
  }
  void part(ReasoningPart& p) const {
    text(p.text);
    text(p.summary);
  }
  void part(ToolCallPart& p) const { json(p.arguments); }
  void part(ToolResultPart& p) const {
    text(p.text);
    for (ImagePart& image : p.images) part(image);
    for (FilePart& file : p.files) part(file);
  }
  void part(ImagePart& p) const { text(p.source.url); }
  void part(FilePart& p) const {
    text(p.source.url);
    text(p.name);
  }
  void part(RefusalPart& p) const { text(p.text); }
  void part(CompactionPart& p) const { text(p.summary); }
  void part(OpaquePart&) const {}

  void step(ParkedStep& step) const {
    text(step.prompt);
    json(step.arguments);
    redaction_.redact(step.schema);
  }

  const redact::Redaction& redaction_;
};

}  // namespace

void redact_event(Event& event, const redact::Redaction& redaction) {
  if (!redaction.is_off()) std::visit(EventTexts(redaction), event.body);
}

void redact_result(AgentResult& result, const redact::Redaction& redaction) {
  if (!redaction.is_off()) EventTexts(redaction).result(result);
}

void redact_record(RecordBody& record, const redact::Redaction& redaction) {
  if (!redaction.is_off()) std::visit(EventTexts(redaction), record);
}

}  // namespace praxis
