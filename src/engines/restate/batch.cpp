#include "engines/restate/batch.hpp"

#include <optional>
#include <utility>

#include "base/protobuf_fields.hpp"

namespace praxis::restate {
namespace {

constexpr std::uint64_t kBatchFormat = 1;
constexpr std::size_t kDigestBytes = 32;

enum BatchField : std::uint8_t { kFormat = 1, kAppend = 2 };
enum AppendField : std::uint8_t { kSession = 1, kExpected = 2, kEntry = 3, kBlob = 4, kRow = 5, kAnswer = 6 };
enum RowField : std::uint8_t { kAgent = 1, kModel = 2, kStatus = 3, kTitle = 4, kParent = 5 };

std::unexpected<Error> damaged(const std::string& what) {
  return fail(ErrorCode::kJournal, ErrorKind::kCorrupt, "a batch of records at the engine " + what);
}

std::string encode_entry(const NewEntry& entry) {
  std::string out;
  put_bytes_field(out, 1, entry.kind);
  put_number_field(out, 2, static_cast<std::uint64_t>(entry.time.value));
  put_bytes_field(out, 3, entry.body);
  return out;
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

std::string encode_blob(const Blob& blob) {
  std::string out;
  put_bytes_field(out, 1, bytes_of(blob.digest));
  put_bytes_field(out, 2, blob.bytes);
  return out;
}

std::string encode_row(const RowChange& row) {
  std::string out;
  if (row.agent) put_bytes_field(out, kAgent, *row.agent);
  if (row.model) put_bytes_field(out, kModel, *row.model);
  if (row.status) put_bytes_field(out, kStatus, *row.status);
  if (row.title) put_bytes_field(out, kTitle, *row.title);
  if (row.parent) put_bytes_field(out, kParent, row.parent->str());
  return out;
}

std::string encode_answer(const InboxAnswer& answer) {
  std::string out;
  put_number_field(out, 1, answer.message);
  put_bytes_field(out, 2, answer.outcome);
  return out;
}

/// Calls `take` with each field; false if the message cannot be read.
template <class Take>
bool each_field(std::string_view message, Take take) {
  ProtobufReader reader(message);
  while (true) {
    const auto field = reader.next();
    if (!field) return false;
    if (!*field) return true;
    take(**field);
  }
}

bool decode_entry(std::string_view message, NewEntry& entry) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number == 1) entry.kind = field.bytes;
    if (field.number == 2) entry.time.value = static_cast<std::int64_t>(field.value);
    if (field.number == 3) entry.body = field.bytes;
  });
}

bool decode_blob(std::string_view message, Blob& blob) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number == 2) blob.bytes = field.bytes;
    if (field.number != 1 || field.bytes.size() != blob.digest.bytes.size()) return;
    std::copy(field.bytes.begin(), field.bytes.end(), blob.digest.bytes.begin());
  });
}

bool decode_row(std::string_view message, RowChange& row) {
  return each_field(message, [&](const ProtobufField& field) {
    const std::string text(field.bytes);
    if (field.number == kAgent) row.agent = text;
    if (field.number == kModel) row.model = text;
    if (field.number == kStatus) row.status = text;
    if (field.number == kTitle) row.title = text;
    if (field.number == kParent) row.parent = SessionId(text);
  });
}

bool decode_answer(std::string_view message, InboxAnswer& answer) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number == 1) answer.message = field.value;
    if (field.number == 2) answer.outcome = field.bytes;
  });
}

std::optional<Append> decode_append(std::string_view message) {
  Append append;
  bool good = true;
  const bool read = each_field(message, [&](const ProtobufField& field) {
    if (field.number == kSession) append.lease.session = SessionId(std::string(field.bytes));
    if (field.number == kExpected) append.expected_seq = field.value;
    if (field.number == kEntry) good &= decode_entry(field.bytes, append.entries.emplace_back());
    if (field.number == kBlob) good &= decode_blob(field.bytes, append.blobs.emplace_back());
    if (field.number == kRow) good &= decode_row(field.bytes, append.row);
    if (field.number == kAnswer) good &= decode_answer(field.bytes, append.answers.emplace_back());
  });
  if (!read || !good || append.lease.session.empty()) return std::nullopt;
  return append;
}

}  // namespace

std::string encode_append(const Append& append) {
  std::string out;
  put_bytes_field(out, kSession, append.lease.session.str());
  put_number_field(out, kExpected, append.expected_seq);
  for (const NewEntry& entry : append.entries) put_bytes_field(out, kEntry, encode_entry(entry));
  for (const Blob& blob : append.blobs) put_bytes_field(out, kBlob, encode_blob(blob));
  put_bytes_field(out, kRow, encode_row(append.row));
  for (const InboxAnswer& answer : append.answers) put_bytes_field(out, kAnswer, encode_answer(answer));
  return out;
}

std::string encode_batch(const std::vector<std::string>& appends) {
  std::string rest;
  put_number_field(rest, kFormat, kBatchFormat);
  for (const std::string& append : appends) put_bytes_field(rest, kAppend, append);
  std::string out(bytes_of(digest_of(rest)));
  return out += rest;
}

Result<std::vector<Append>> decode_batch(std::string_view batch) {
  if (batch.size() < kDigestBytes) return damaged("is too short");
  const std::string_view rest = batch.substr(kDigestBytes);
  if (bytes_of(digest_of(rest)) != batch.substr(0, kDigestBytes)) return damaged("was changed");
  std::vector<Append> appends;
  std::uint64_t format = 0;
  bool good = true;
  const bool read = each_field(rest, [&](const ProtobufField& field) {
    if (field.number == kFormat) format = field.value;
    if (field.number != kAppend || format != kBatchFormat) return;
    auto append = decode_append(field.bytes);
    good &= append.has_value();
    if (append) appends.push_back(*std::move(append));
  });
  if (!read || !good) return damaged("cannot be read");
  if (format != kBatchFormat) {
    return fail(ErrorCode::kJournal, ErrorKind::kVersion,
                "a batch of records at the engine has format " + std::to_string(format) +
                    ", which this version does not know; run the version that wrote it, or a newer one");
  }
  return appends;
}

}  // namespace praxis::restate
