// Events as observers of the server see them: without secrets, also where deltas cut one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/without_secrets.hpp"
#include "praxis/core/event.hpp"
#include "praxis/journal/journal.hpp"
#include "redact/redaction.hpp"

namespace praxis::server {

/// The text of a delta; null for other events.
std::string* delta_text(Event& event);
const std::string* delta_text(const Event& event);
/// Whether an event is a piece of an answer or of its reasoning.
bool is_answer_piece(const EventBody& body);
/// Whether an answer that was being written is complete or given up: no further piece of it comes.
bool ends_answer(const EventBody& body);
/// Whether both deltas are pieces of the same text.
bool continues(const Event& before, const Event& after);

/// Redacts each session by its own rules. Thread-safe.
class EventRedactor {
 public:
  /// Gives the redaction of a session; called on any thread.
  using RedactionOf = std::function<redact::Redaction(const SessionId&)>;

  /// `of`: for observers; `filters`: what also holds for the program that asked. Null: nothing is redacted.
  explicit EventRedactor(RedactionOf of, RedactionOf filters = nullptr)
      : of_(std::move(of)), filters_(std::move(filters)) {}

  /// Whether nothing is redacted.
  bool is_off() const { return !of_; }
  /// An event of the log.
  std::shared_ptr<const Event> shown(const std::shared_ptr<const Event>& event) const;
  /// The same for the program that asked: secrets stay, content filters apply.
  std::shared_ptr<const Event> exact(const std::shared_ptr<const Event>& event) const;
  /// A transient event; of a delta what is decided, which may be nothing, after what was held back of
  /// another text of the session.
  std::vector<Event> pieces(const Event& event);
  /// What is held back of a text that was written before the record `seq` of its session.
  std::optional<Event> rest(const SessionId& session, std::uint64_t seq);
  /// Drops what is held back of a session: its answer is complete, or its last observer has left.
  void forget(const SessionId& session);

 private:
  /// A text that arrives in deltas.
  struct Open {
    Event last;  ///< its last delta
    std::unique_ptr<redact::StreamRedactor> stream;
  };

  static std::shared_ptr<const Event> redacted(const std::shared_ptr<const Event>& event,
                                               const redact::Redaction& redaction);

  const RedactionOf of_, filters_;
  std::mutex mutex_;
  std::map<SessionId, Open> open_;  ///< a session writes one text at a time
};

/// The redaction of each session at a place, by the rules that its log begins with.
EventRedactor::RedactionOf redaction_of_sessions(app::Redactions redactions, std::shared_ptr<Journal> journal,
                                                 app::RedactPoint point);
/// Only the content filters at `shown` of each session, likewise.
EventRedactor::RedactionOf shown_filters_of_sessions(app::Redactions redactions,
                                                     std::shared_ptr<Journal> journal);

}  // namespace praxis::server
