// Exports and imports sessions as JSON Lines: a header, then one record a line, with blobs inline.
#include <algorithm>

#include "logs/append.hpp"
#include "logs/check_export.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis {
namespace {

constexpr std::string_view kFormat = "praxis-session";

std::unexpected<Error> bad_line(std::size_t number, std::string_view what) {
  return fail(ErrorCode::kInput, "line " + std::to_string(number) + ": " + std::string(what));
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void collect_blobs(const Json& json, std::vector<Digest>& out) {
  if (const auto* array = json.if_array()) {
    for (const Json& item : *array) collect_blobs(item, out);
  } else if (const auto* object = json.if_object()) {
    if (const auto digest = Digest::from_hex(json_string(json, "$blob"))) out.push_back(*digest);
    for (const auto& [key, value] : *object) collect_blobs(value, out);
  }
}

/// The number of records in an export, and their digest; blobs are part of them.
JsonObject sum_of_records(std::string_view records) {
  return JsonObject{{"records", std::ranges::count(records, '\n')}, {"digest", digest_of(records).hex()}};
}

}  // namespace

Result<std::string> export_session(Journal& journal, const SessionId& session) {
  auto row = journal.session(session);
  if (!row) return fail(row.error());
  auto entries = journal.read(session);
  if (!entries) return fail(entries.error());
  JsonObject header{{"format", kFormat},   {"version", kRecordVersion}, {"session", session.str()},
                    {"agent", row->agent}, {"model", row->model},       {"status", row->status},
                    {"title", row->title}};
  std::string out;
  for (const Entry& entry : *entries) {
    auto body = parse_json(entry.body);
    if (!body) return fail(ErrorCode::kJournal, "record " + std::to_string(entry.seq) + " is not valid JSON");
    std::vector<Digest> digests;
    collect_blobs(*body, digests);
    JsonObject blobs;
    for (const Digest& digest : digests) {
      auto bytes = journal.blob(digest);
      if (!bytes) return fail(bytes.error());
      blobs[digest.hex()] = *bytes;
    }
    JsonObject line{
        {"seq", entry.seq}, {"kind", entry.kind}, {"time", entry.time.value}, {"body", *std::move(body)}};
    if (!blobs.empty()) line["blobs"] = std::move(blobs);
    append_json(out, line);
    out += '\n';
  }
  for (const auto& [key, value] : sum_of_records(out)) header[key] = value;
  return to_json_text(header) + '\n' + out;
}

Status check_export(std::string_view text) {
  const auto header = parse_json(next_line(text));
  if (!header || json_string(*header, "digest").empty()) return {};
  const JsonObject found = sum_of_records(text);
  const std::int64_t had = json_int(*header, "records"), has = json_int(found, "records");
  if (has < had)
    return fail(ErrorCode::kInput,
                "it is cut off: it has " + std::to_string(has) + " of " + std::to_string(had) + " records");
  if (json_string(*header, "digest") == json_string(found, "digest")) return {};
  return fail(ErrorCode::kInput, "its records were altered after the export");
}

Result<SessionId> import_session(Journal& journal, std::string_view text) {
  std::size_t number = 1;
  auto header = parse_json(next_line(text));
  if (!header || json_string(*header, "format") != kFormat) return bad_line(1, "not an exported session");
  if (json_int(*header, "version") > kRecordVersion) return bad_line(1, "a newer praxis wrote this export");
  SessionId session{json_string(*header, "session")};
  if (session.empty()) return bad_line(1, "the header names no session");

  Append copy;
  copy.row = {json_string(*header, "agent"), json_string(*header, "model"), json_string(*header, "status"),
              json_string(*header, "title"), std::nullopt};
  State state;
  while (!text.empty()) {
    ++number;
    auto line = parse_json(next_line(text));
    if (!line) return bad_line(number, line.error().message);
    NewEntry entry{
        json_string(*line, "kind"), {json_int(*line, "time")}, to_json_text(json_at(*line, "body"))};
    const Json& blobs = json_at(*line, "blobs");
    if (blobs.is_object()) {
      for (const auto& [name, bytes] : blobs.get_object()) {
        if (!bytes.is_string()) return bad_line(number, "a blob is not a string");
        copy.blobs.push_back({digest_of(bytes.get_string()), std::string(bytes.get_string())});
        if (copy.blobs.back().digest.hex() != name)
          return bad_line(number, "a blob does not match its digest");
      }
    }
    const BlobLookup find = [&](const Digest& digest) -> Result<std::string> {
      for (const Blob& blob : copy.blobs) {
        if (blob.digest == digest) return blob.bytes;
      }
      return fail(ErrorCode::kInput, "blob " + digest.hex() + " is missing");
    };
    auto body = decode_record(entry.kind, entry.body, find);
    if (!body) return bad_line(number, body.error().message);
    auto applied = apply_to(state, {entry.time, *std::move(body)});
    if (!applied) return bad_line(number, applied.error().message);
    copy.entries.push_back(std::move(entry));
  }
  if (state.id != session) return bad_line(number, "the records are those of another session");

  auto lease = journal.create(session, state.marks.empty() ? UnixMillis{} : copy.entries.front().time);
  if (!lease) return fail(lease.error());
  copy.lease = *lease;
  auto written = append_and_wait(journal, std::move(copy));
  journal.release(*lease);
  if (!written) return fail(written.error());
  return session;
}

}  // namespace praxis
