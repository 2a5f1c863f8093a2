#include "server/event_redactor.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "app/without_secrets.hpp"

namespace praxis::server {
namespace {

template <class AnyEvent>
auto text_in(AnyEvent& event) {
  decltype(&std::get_if<events::TextDelta>(&event.body)->text) found = nullptr;
  if (auto* const text = std::get_if<events::TextDelta>(&event.body)) found = &text->text;
  if (auto* const reasoning = std::get_if<events::ReasoningDelta>(&event.body)) found = &reasoning->text;
  if (auto* const call = std::get_if<events::ToolCallDelta>(&event.body)) found = &call->arguments;
  return found;
}

/// The agent that a session was created with; null if its log cannot be read.
AgentSpecPtr agent_of(Journal& journal, const SessionId& session) {
  const auto first = journal.read(session, 1, 1);
  if (!first || first->empty()) return nullptr;
  const auto body = decode_record(first->front().kind, first->front().body,
                                  [&](const Digest& digest) { return journal.blob(digest); });
  const auto* const created = body ? std::get_if<records::SessionCreated>(&*body) : nullptr;
  return created == nullptr ? nullptr : created->agent;
}

/// What `made` gives for the agent of a session, or for null; made once for each session.
EventRedactor::RedactionOf of_sessions(std::shared_ptr<Journal> journal,
                                       std::function<redact::Redaction(const AgentSpec*)> made) {
  struct Known {
    std::mutex mutex;
    std::map<SessionId, redact::Redaction> by_session;
  };
  constexpr std::size_t kMostKnown = 10'000;
  return [journal = std::move(journal), made = std::move(made),
          known = std::make_shared<Known>()](const SessionId& session) {
    {
      const std::lock_guard lock(known->mutex);
      const auto found = known->by_session.find(session);
      if (found != known->by_session.end()) return found->second;
    }
    const auto agent = agent_of(*journal, session);
    redact::Redaction redaction = made(agent.get());
    if (!agent) return redaction;
    const std::lock_guard lock(known->mutex);
    if (known->by_session.size() >= kMostKnown) known->by_session.clear();
    return known->by_session[session] = redaction;
  };
}

}  // namespace

std::string* delta_text(Event& event) { return text_in(event); }
const std::string* delta_text(const Event& event) { return text_in(event); }

bool is_answer_piece(const EventBody& body) {
  return std::holds_alternative<events::TextDelta>(body) ||
         std::holds_alternative<events::ReasoningDelta>(body);
}

bool ends_answer(const EventBody& body) {
  return std::holds_alternative<events::AssistantText>(body) ||
         std::holds_alternative<events::AssistantReasoning>(body) ||
         std::holds_alternative<events::ModelResponded>(body) ||
         std::holds_alternative<events::ModelFailed>(body) ||
         std::holds_alternative<events::AttemptSuperseded>(body) || ends_turn(body);
}

bool continues(const Event& before, const Event& after) {
  const auto place = [](const Event& event) {
    std::uint32_t item = 0;
    bool summary = false;
    CallId call;
    std::visit(
        match{[&](const events::TextDelta& e) { item = e.item; },
              [&](const events::ReasoningDelta& e) { std::tie(item, summary) = std::tie(e.item, e.summary); },
              [&](const events::ToolCallDelta& e) { std::tie(item, call) = std::tie(e.item, e.call); },
              [](const auto&) {}},
        event.body);
    return std::tuple(event.seq, event.attempt, event.body.index(), item, summary, call);
  };
  return place(before) == place(after);
}

std::shared_ptr<const Event> EventRedactor::shown(const std::shared_ptr<const Event>& event) const {
  return is_off() ? event : redacted(event, of_(event->agent.id));
}

std::shared_ptr<const Event> EventRedactor::exact(const std::shared_ptr<const Event>& event) const {
  return filters_ ? redacted(event, filters_(event->agent.id)) : event;
}

std::shared_ptr<const Event> EventRedactor::redacted(const std::shared_ptr<const Event>& event,
                                                     const redact::Redaction& redaction) {
  if (redaction.is_off()) return event;
  auto copy = std::make_shared<Event>(*event);
  redact_event(*copy, redaction);
  return copy;
}

std::vector<Event> EventRedactor::pieces(const Event& event) {
  Event shown = event;
  std::string* const text = delta_text(shown);
  if (is_off()) return {std::move(shown)};
  const redact::Redaction redaction = of_(event.agent.id);
  if (text != nullptr && redaction.reads_whole_texts()) return {};
  if (text == nullptr || redaction.is_off()) {
    redact_event(shown, redaction);
    return {std::move(shown)};
  }
  std::vector<Event> out;
  const std::lock_guard lock(mutex_);
  Open& open = open_[event.agent.id];
  if (open.stream && !continues(open.last, event)) {
    if (std::string rest = open.stream->finish(); !rest.empty() && open.last.seq == event.seq) {
      *delta_text(open.last) = std::move(rest);
      out.push_back(open.last);
    }
    open.stream = nullptr;
  }
  if (!open.stream) open.stream = redaction.stream();
  *text = open.stream->push(*text);
  open.last = shown;
  out.push_back(std::move(shown));
  return out;
}

std::optional<Event> EventRedactor::rest(const SessionId& session, std::uint64_t seq) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(session);
  if (found == open_.end() || found->second.last.seq >= seq) return std::nullopt;
  Open open = std::move(found->second);
  open_.erase(found);
  std::string rest = open.stream->finish();
  if (rest.empty()) return std::nullopt;
  *delta_text(open.last) = std::move(rest);
  return std::move(open.last);
}

void EventRedactor::forget(const SessionId& session) {
  const std::lock_guard lock(mutex_);
  open_.erase(session);
}

EventRedactor::RedactionOf redaction_of_sessions(app::Redactions redactions, std::shared_ptr<Journal> journal,
                                                 app::RedactPoint point) {
  return of_sessions(std::move(journal), [redactions = std::move(redactions), point](const AgentSpec* agent) {
    return agent == nullptr ? redactions.at(point) : redactions.at(point, *agent);
  });
}

EventRedactor::RedactionOf shown_filters_of_sessions(app::Redactions redactions,
                                                     std::shared_ptr<Journal> journal) {
  return of_sessions(std::move(journal), [redactions = std::move(redactions)](const AgentSpec* agent) {
    return redactions.filters_of_shown(agent == nullptr ? AgentSpec() : *agent);
  });
}

}  // namespace praxis::server
