// The records of one session, page by page.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/blob_text.hpp"
#include "logs/read_part.hpp"
#include "policy/record_texts.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kRecordsShown = 100, kMostRecordsShown = 1000;

/// The body of a record as it is stored; if the filters `shown` change it, with its large texts within,
/// because nothing is stored of what they leave.
Result<Json> shown_body(Service& service, const SessionId& session, const Entry& entry,
                        const redact::Redaction& shown) {
  if (shown.is_off()) return parse_json(entry.body);
  auto stored = decode_entry(*service.journal, session, entry);
  if (!stored) return fail(stored.error());
  std::vector<RecordBlob> before, after;
  const std::string whole = encode_record(stored->record.body, before);
  redact_record(stored->record.body, shown);
  const std::string less = encode_record(stored->record.body, after);
  if (less == whole) return parse_json(entry.body);
  return internalise(less, [&](const Digest& digest) -> Result<std::string> {
    return std::ranges::find(after, digest, &RecordBlob::digest)->bytes;
  });
}

}  // namespace

redact::Redaction filters_of_shown(Service& service, const SessionId& session) {
  const auto row = service.journal->session(session);
  if (!row) return service.shown_filters_of(session);
  if (auto kept = service.kept_filters.find(*row)) return *std::move(kept);
  const auto state = service.folds->last(session);
  if (!state || !(*state)->agent) return service.shown_filters_of(session);
  redact::Redaction filters = service.redactions.filters_of_shown(*(*state)->agent);
  if ((*state)->seq == row->entries) service.kept_filters.keep(*row, filters);
  return filters;
}

Result<HttpAnswer> list_records(Service& service, const Call& call) {
  const auto from = call.number("from", 1, SIZE_MAX);
  if (!from) return fail(from.error());
  const auto limit = call.number("limit", kRecordsShown, kMostRecordsShown);
  if (!limit) return fail(limit.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto row = service.journal->session(*id);
  if (!row) return fail(row.error());
  const redact::Redaction shown = filters_of_shown(service, *id);
  JsonArray records;
  const auto entries = *limit == 0 ? Result<std::vector<Entry>>() : service.journal->read(*id, *from, *limit);
  if (!entries) return fail(entries.error());
  for (const Entry& entry : *entries) {
    auto body = shown_body(service, *id, entry, shown);
    if (!body) return fail(body.error());
    records.push_back(JsonObject{
        {"seq", entry.seq}, {"kind", entry.kind}, {"time", entry.time.value}, {"body", *std::move(body)}});
  }
  return json_answer(JsonObject{{"records", std::move(records)}, {"total", row->entries}});
}

}  // namespace praxis::server
