#include "server/run_file.hpp"

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "app/envelope.hpp"
#include "server/past_events.hpp"

namespace praxis::server {
namespace {

constexpr std::string_view kRunPage = "/run.html";
constexpr std::string_view kPlaceOfRun = "@RUN@";  // in that file
constexpr std::size_t kMostRecordsInFile = 100'000;

/// JSON that ends no element and begins no comment within a page.
std::string within_page(const Json& json) {
  std::string out;
  for (const char c : to_json_text(json)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

/// The records of a session as the API gives them.
Result<JsonArray> stored_records(Journal& journal, const SessionId& session,
                                 const redact::Redaction& redaction) {
  const auto entries = journal.read(session, 1, kMostRecordsInFile);
  if (!entries) return fail(entries.error());
  JsonArray records;
  for (const Entry& entry : *entries) {
    auto body = parse_json(entry.body);
    if (!body) return fail(body.error());
    redaction.redact(*body);
    records.push_back(JsonObject{
        {"seq", entry.seq}, {"kind", entry.kind}, {"time", entry.time.value}, {"body", *std::move(body)}});
  }
  return records;
}

}  // namespace

bool makes_run_files(const Page& page) { return page.text(kRunPage).contains(kPlaceOfRun); }

Result<std::string> run_file(const std::shared_ptr<Journal>& journal, const SessionId& session,
                             const app::Redactions& redactions, const Page& page) {
  const auto last = journal->last_position();
  if (!last) return fail(last.error());
  Lineages lineages(journal);
  FeedFilter filter;
  filter.session = session;
  const auto past = past_events(journal, std::make_shared<Folds>(journal), lineages, filter,
                                {*last, UINT32_MAX}, kMostRecordsInFile);
  if (!past) return fail(past.error());
  if (past->has_earlier) {
    return fail(Error(ErrorCode::kInput, "the run has more than " + std::to_string(kMostRecordsInFile) +
                                             " records, too many for a page; export them as records"));
  }
  const auto redaction_of = redaction_of_sessions(redactions, journal, &RedactRules::exports);
  JsonArray events;
  std::set<SessionId> sessions;
  for (const auto& [position, event] : past->events) {
    Event shown = event;
    redact_event(shown, redaction_of(event.agent.id));
    JsonObject json = app::program_json(shown);
    json["id"] = position.text();
    events.push_back(std::move(json));
    sessions.insert(event.agent.id);
  }
  JsonObject records;
  for (const SessionId& each : sessions) {
    auto read = stored_records(*journal, each, redaction_of(each));
    if (!read) return fail(read.error());
    records[each.str()] = *std::move(read);
  }
  const std::string run = within_page(
      JsonObject{{"run_id", session.str()}, {"events", std::move(events)}, {"records", std::move(records)}});
  std::string text(page.text(kRunPage));
  const std::size_t at = text.find(kPlaceOfRun);
  if (at == text.npos) return fail(ErrorCode::kInternal, "this program was built without the page");
  return text.replace(at, kPlaceOfRun.size(), run);
}

}  // namespace praxis::server
