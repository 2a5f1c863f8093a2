#include "driver/log.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "policy/filters.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {
namespace {

constexpr std::size_t kUsualRecords =
    2;  // records committed together in the common case: growing costs more than the unused space
constexpr std::size_t kTitleBytes = 80;

/// Parts that hooks add, such as notes from memory, follow what the user wrote. Lists of runs show the title,
/// so the filters at `shown` read the text, before it is cut.
std::string title_of(const Message& message, const AgentSpec& agent) {
  for (const Part& part : message.parts) {
    const auto* text = std::get_if<TextPart>(&part);
    if (text == nullptr || text->text.empty()) continue;
    const auto shown =
        redact::Redaction().then(filters::text_rule(filters::filters_of(agent), filters::Point::kShown));
    return std::string(utf8_head(shown.text(text->text), kTitleBytes));
  }
  return {};
}

}  // namespace

const Record* Log::lone_birth() const {
  const bool lone =
      durable_ == 0 && !appending_ && pending_.size() == 1 && answers_.empty() && waiters_.empty();
  if (!lone || !std::holds_alternative<records::SessionCreated>(pending_.front().record.body)) return nullptr;
  return &pending_.front().record;
}

bool Log::holds(const ParkId& step) const {
  return std::ranges::any_of(pending_, [&](const PendingRecord& pending) {
    const auto* parked = std::get_if<records::Parked>(&pending.record.body);
    return parked != nullptr && parked->step.id == step;
  });
}

PendingRecord& Log::add(UnixMillis time, RecordBody&& body, const Readers& readers) {
  if (pending_.empty()) pending_.reserve(kUsualRecords);
  return pending_.emplace_back(time, std::move(body), readers);
}

Append Log::begin_append(const State& state, SessionStatus status) {
  Append append;
  append.answers = std::exchange(answers_, {});
  append.lease = lease_;
  append.expected_seq = durable_;
  append.row.status = std::string(to_string(status));
  if (durable_ == 0 && state.agent) {
    append.row.agent = state.agent->id;
    append.row.model = state.agent->model;
    append.row.parent = state.parent;
  }
  append.entries.reserve(pending_.size());
  for (const PendingRecord& pending : pending_) {
    std::vector<RecordBlob> blobs;
    append.entries.push_back({std::string(kind_name(pending.record.body)), pending.record.time,
                              encode_record(pending.record.body, blobs)});
    for (RecordBlob& blob : blobs) append.blobs.push_back({blob.digest, std::move(blob.bytes)});
    const auto* message = std::get_if<records::MessageAppended>(&pending.record.body);
    if (message != nullptr && message->source == MessageSource::kUser && state.next_message <= 2 &&
        state.agent) {
      append.row.title = title_of(*message->message, *state.agent);
    }
  }
  appending_ = true;
  carried_ = abandon();
  return append;
}

Log::Carried Log::end_append(const Result<std::uint64_t>& last) {
  appending_ = false;
  if (last) durable_ = *last;
  return std::exchange(carried_, {});
}

Log::Carried Log::abandon() { return {std::exchange(pending_, {}), std::exchange(waiters_, {})}; }

}  // namespace praxis::driver
