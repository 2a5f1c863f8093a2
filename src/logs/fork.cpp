#include "logs/fork.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "logs/append.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis {
namespace {

Error not_editable(const std::string& what) {
  return make_error(ErrorCode::kInput, "the record has no " + what);
}

/// Puts one text in the place of all text parts, where the first of them was.
void replace_text(std::vector<Part>& parts, const std::string& text) {
  const auto is_text = [](const Part& part) { return std::holds_alternative<TextPart>(part); };
  const auto at = std::ranges::find_if(parts, is_text) - parts.begin();
  std::erase_if(parts, is_text);
  parts.insert(parts.begin() + std::min<std::ptrdiff_t>(at, std::ssize(parts)), TextPart{text});
}

void drop_vendor_state(std::vector<Part>& parts) {
  std::erase_if(parts, [](const Part& part) { return std::holds_alternative<OpaquePart>(part); });
  for (Part& part : parts) {
    std::visit(
        [](auto& each) {
          if constexpr (requires { each.vendor; }) each.vendor = nullptr;
        },
        part);
  }
}

Status edit_answer(ModelResponse& response, const RecordEdit& edit) {
  drop_vendor_state(response.parts);
  if (edit.text) replace_text(response.parts, *edit.text);
  if (edit.call.empty()) return {};
  for (Part& part : response.parts) {
    auto* const call = std::get_if<ToolCallPart>(&part);
    if (call == nullptr || call->id != edit.call) continue;
    call->arguments = edit.arguments;
    call->valid = true;
    return {};
  }
  return fail(not_editable("call " + edit.call.str()));
}

Status edit_settled(records::EffectSettled& settled, EffectKind kind, const RecordEdit& edit) {
  if (auto* const response = std::get_if<ModelResponse>(&settled.result)) return edit_answer(*response, edit);
  if (kind != EffectKind::kTool || !edit.text)
    return fail(not_editable("answer, and no text that a tool gave"));
  ToolOutcome outcome;
  outcome.result.text = *edit.text;
  if (const auto* const given = std::get_if<ToolOutcome>(&settled.result)) outcome.memory = given->memory;
  settled.result = std::move(outcome);
  settled.outcome = Outcome::kOk;
  settled.error = std::nullopt;
  settled.original = nullptr;
  return {};
}

/// The kind of the effect that a record settles; `kTimer` for other records.
EffectKind kind_of(const std::vector<StoredRecord>& records, const RecordBody& body) {
  const auto* const settled = std::get_if<records::EffectSettled>(&body);
  for (auto each = records.rbegin(); settled != nullptr && each != records.rend(); ++each) {
    const auto* const intended = std::get_if<records::EffectIntended>(&each->record.body);
    if (intended != nullptr && intended->effect == settled->effect) return intended->kind;
  }
  return EffectKind::kTimer;
}

/// Writes the records as those of a new session.
Result<SessionId> write_fork(Journal& journal, Environment& environment, const SessionId& session,
                             const std::vector<StoredRecord>& records) {
  const auto state = fold(records);
  if (!state) return fail(state.error());
  Append copy;
  SessionId fork{environment.new_id()};
  for (const StoredRecord& stored : records) {
    RecordBody body = stored.record.body;
    if (auto* created = std::get_if<records::SessionCreated>(&body)) {
      created->session = fork;
      created->forked_from = session;
      created->forked_at = records.back().seq;
      created->seed = environment.random();
    }
    std::vector<RecordBlob> blobs;
    copy.entries.push_back({std::string(kind_name(body)), stored.record.time, encode_record(body, blobs)});
    for (RecordBlob& blob : blobs) copy.blobs.push_back({blob.digest, std::move(blob.bytes)});
  }
  auto row = journal.session(session);
  if (!row) return fail(row.error());
  copy.row = {row->agent, row->model, std::string(to_string(state->status())), row->title, row->parent};
  auto lease = journal.create(fork, environment.now());
  if (!lease) return fail(lease.error());
  copy.lease = *lease;
  auto written = append_and_wait(journal, std::move(copy));
  journal.release(*lease);
  if (!written) return fail(written.error());
  return fork;
}

/// The records up to `seq`, all if 0.
Result<std::vector<StoredRecord>> records_up_to(Journal& journal, const SessionId& session,
                                                std::uint64_t seq) {
  auto records = read_records(journal, session);
  if (!records) return records;
  if (seq > records->back().seq) {
    return fail(ErrorCode::kInput, "session " + session.str() + " has " +
                                       std::to_string(records->back().seq) +
                                       " records; it cannot be forked at " + std::to_string(seq));
  }
  if (seq != 0) std::erase_if(*records, [seq](const StoredRecord& stored) { return stored.seq > seq; });
  return records;
}

}  // namespace

Result<RecordBody> edited_record(RecordBody body, EffectKind kind, const RecordEdit& edit) {
  if (!edit.call.empty()) {
    if (const auto json = parse_json(edit.arguments); !json || !json->is_object())
      return fail(ErrorCode::kInput, "the arguments of a call must be a JSON object");
  }
  if (auto* const settled = std::get_if<records::EffectSettled>(&body)) {
    if (auto done = edit_settled(*settled, kind, edit); !done) return fail(done.error());
    return body;
  }
  auto* const appended = std::get_if<records::MessageAppended>(&body);
  if (appended == nullptr || !edit.text) return fail(not_editable("message, answer or result"));
  Message message = *appended->message;
  replace_text(message.parts, *edit.text);
  appended->message = std::make_shared<const Message>(std::move(message));
  appended->original = nullptr;
  return body;
}

Result<SessionId> fork_session(Journal& journal, Environment& environment, const SessionId& session,
                               std::uint64_t seq) {
  const auto records = records_up_to(journal, session, seq);
  if (!records) return fail(records.error());
  return write_fork(journal, environment, session, *records);
}

Result<SessionId> fork_edited(Journal& journal, Environment& environment, const SessionId& session,
                              std::uint64_t seq, const RecordEdit& edit) {
  auto records = records_up_to(journal, session, seq);
  if (!records) return fail(records.error());
  RecordBody& last = records->back().record.body;
  auto edited = edited_record(last, kind_of(*records, last), edit);
  if (!edited) return fail(edited.error());
  last = *std::move(edited);
  return write_fork(journal, environment, session, *records);
}

}  // namespace praxis
