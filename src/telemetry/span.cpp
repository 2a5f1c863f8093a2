#include "telemetry/span.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/journal_walk.hpp"
#include "telemetry/session_fold.hpp"

namespace praxis::telemetry {

const Json& Span::at(Key key) const {
  static const Json kNull;
  const auto found = std::ranges::find(attributes, key, &std::pair<Key, Json>::first);
  return found == attributes.end() ? kNull : found->second;
}

namespace {

/// The filters at `shown` of the agent that the log names last.
redact::Redaction filters_of(const std::vector<StoredRecord>& records, const app::Redactions& redactions) {
  const AgentSpec* agent = nullptr;
  for (const StoredRecord& stored : records) {
    if (const AgentSpec* const given = app::agent_in(stored.record.body)) agent = given;
  }
  return agent == nullptr ? redact::Redaction() : redactions.filters_of_shown(*agent);
}

/// Attributes whose values come from the agent.
constexpr std::array kWords{Key::kAgentId,  Key::kAgentName,       Key::kAgentDescription,
                            Key::kToolName, Key::kToolDescription, Key::kStopSequences};

/// What a span says with and without content.
void redact_names(Span& span, const redact::Redaction& shown) {
  span.subject = shown.text(std::move(span.subject));
  for (auto& [key, value] : span.attributes) {
    if (std::ranges::find(kWords, key) != kWords.end()) shown.redact(value);
  }
}

}  // namespace

Result<SessionSpans> session_spans(const std::vector<StoredRecord>& records, const SpanQuestion& question,
                                   const TraceContext* above) {
  const redact::Redaction shown = filters_of(records, question.redactions);
  SpanQuestion filtered = question;
  if (!shown.is_off()) {
    filtered.redact = [shown, redact = question.redact](const std::string& text) {
      return shown.text(redact ? redact(text) : text);
    };
  }
  SessionFold fold(filtered, above);
  for (const StoredRecord& stored : records) {
    if (auto added = fold.add(stored); !added) return fail(added.error());
  }
  SessionSpans spans = fold.finish();
  if (!shown.is_off()) {
    for (Span& span : spans.spans) redact_names(span, shown);
  }
  return spans;
}

Result<bool> tree_spans(Journal& journal, const SessionId& root, const SpanQuestion& question,
                        const std::function<Status(std::vector<Span>)>& each) {
  constexpr std::size_t kMostSessions = 100'000;
  std::vector<SpannedChild> open{{root, {}}};
  bool complete = true;
  for (std::size_t read = 0; read < open.size() && read < kMostSessions; ++read) {
    const SpannedChild session = open[read];
    const auto records = read_records(journal, session.session);
    if (!records && read > 0 && records.error().kind() == ErrorKind::kNotFound) continue;
    if (!records) return fail(records.error());
    auto spans = session_spans(*records, question, read == 0 ? nullptr : &session.above);
    if (!spans) return fail(spans.error());
    complete = complete && !spans->incomplete;
    std::ranges::move(spans->children, std::back_inserter(open));
    if (spans->spans.empty()) continue;
    if (auto done = each(std::move(spans->spans)); !done) return fail(done.error());
  }
  return complete;
}

}  // namespace praxis::telemetry
