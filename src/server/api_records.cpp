// The records of one session, page by page.
#include <string>
#include <utility>

#include "server/handlers.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kRecordsShown = 100, kMostRecordsShown = 1000;

}  // namespace

Result<HttpAnswer> list_records(Service& service, const Call& call) {
  const auto from = call.number("from", 1, SIZE_MAX);
  if (!from) return fail(from.error());
  const auto limit = call.number("limit", kRecordsShown, kMostRecordsShown);
  if (!limit) return fail(limit.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto row = service.journal->session(*id);
  if (!row) return fail(row.error());
  JsonArray records;
  const auto entries = *limit == 0 ? Result<std::vector<Entry>>() : service.journal->read(*id, *from, *limit);
  if (!entries) return fail(entries.error());
  for (const Entry& entry : *entries) {
    auto body = parse_json(entry.body);
    if (!body) return fail(body.error());
    records.push_back(JsonObject{
        {"seq", entry.seq}, {"kind", entry.kind}, {"time", entry.time.value}, {"body", *std::move(body)}});
  }
  return json_answer(JsonObject{{"records", std::move(records)}, {"total", row->entries}});
}

}  // namespace praxis::server
