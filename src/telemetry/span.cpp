#include "telemetry/span.hpp"

#include <algorithm>
#include <utility>

#include "telemetry/session_fold.hpp"

namespace praxis::telemetry {

const Json& Span::at(Key key) const {
  static const Json kNull;
  const auto found = std::ranges::find(attributes, key, &std::pair<Key, Json>::first);
  return found == attributes.end() ? kNull : found->second;
}

Result<SessionSpans> session_spans(const std::vector<StoredRecord>& records, const SpanQuestion& question,
                                   const TraceContext* above) {
  SessionFold fold(question, above);
  for (const StoredRecord& stored : records) {
    if (auto added = fold.add(stored); !added) return fail(added.error());
  }
  return fold.finish();
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
