#include "praxis/memory/documents.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "memory/ingest_batch.hpp"
#include "praxis/base/digest.hpp"

namespace praxis {
namespace {

/// A digest as a number that JSON keeps: as a string, its digits would be found by searches.
std::int64_t number_of_digest(std::string_view bytes) {
  constexpr std::size_t kDigits = 13;  // 52 bits
  const std::string hex = digest_of(bytes).hex().substr(0, kDigits);
  std::int64_t number = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return number;
}

Status check_document_name(const std::string& name) {
  constexpr std::size_t kMaxName = 1024;
  if (!name.empty() && name.size() <= kMaxName && name.find('\n') == std::string::npos) return {};
  return fail(ErrorCode::kInput, "the name of a document has " + std::to_string(name.size()) +
                                     " bytes; give one with 1 to " + std::to_string(kMaxName) +
                                     ", without line ends");
}

/// Calls `visit` for the notes of a collection whose keys start with `prefix`.
template <class Visit>
Status visit_prefix(DatabaseClient& memory, const std::string& collection, const std::string& prefix,
                    Visit visit) {
  constexpr std::size_t kFirstPage = 16, kLastPage = 512;  // few documents have many pieces
  QueryOptions page;
  page.limit = kFirstPage;
  page.after = prefix;
  for (;;) {
    const auto notes = memory.query(collection, {}, page);
    if (!notes) return fail(notes.error());
    for (const Note& note : *notes) {
      if (!note.key.starts_with(prefix)) return {};
      visit(note);
    }
    if (notes->size() < page.limit) return {};
    page.after = notes->back().key;
    page.limit = std::min(2 * page.limit, kLastPage);
  }
}

std::string piece_key(const std::string& name, const DocumentPiece& piece) {
  return name + ':' + std::to_string(piece.first_line) + '-' + std::to_string(piece.last_line);
}

Json piece_value(const std::string& name, const DocumentPiece& piece) {
  JsonObject value{{"text", piece.text}, {"file", name}};
  if (!piece.heading.empty()) value["heading"] = piece.heading;
  value["lines"] = {piece.first_line, piece.last_line};
  value["hash"] = number_of_digest(piece.text + '\n' + piece.heading);
  return value;
}

/// The keys of the stored pieces of a document, with their hashes.
Result<std::map<std::string, Json>> stored_pieces(DatabaseClient& memory, const std::string& collection,
                                                  const std::string& name) {
  std::map<std::string, Json> stored;
  auto visited = visit_prefix(memory, collection, name + ':', [&](const Note& note) {
    if (json_string(note.value, "file") == name) stored.emplace(note.key, json_at(note.value, "hash"));
  });
  if (!visited) return fail(std::move(visited.error()));
  return stored;
}

/// What storing a document changes.
struct DocumentPlan {
  IngestReport report;
  NoteChanges changes;
};

Result<DocumentPlan> plan_of(DatabaseClient& memory, const Document& document, const IngestOptions& options) {
  const std::string& name = document.name;
  if (auto checked = check_document_name(name); !checked) return fail(std::move(checked.error()));
  auto stored = stored_pieces(memory, options.collection, name);
  if (!stored) return fail(std::move(stored.error()));
  const auto pieces =
      split_document(document.content, document.kind.value_or(document_kind_of(name)), options.split);
  DocumentPlan plan{{pieces.size(), 0, 0}, {}};
  std::map<std::string, std::size_t> uses;  // parts of a long line have the same lines
  for (const DocumentPiece& piece : pieces) {
    std::string key = piece_key(name, piece);
    if (const std::size_t use = ++uses[key]; use > 1) key += '.' + std::to_string(use);
    Json value = piece_value(name, piece);
    const auto old = stored->find(key);
    const bool is_same = old != stored->end() && old->second == value.at("hash");
    if (old != stored->end()) stored->erase(old);
    if (!is_same) plan.changes.writes.emplace_back(std::move(key), std::move(value));
  }
  for (auto& [key, hash] : *stored) plan.changes.removals.push_back(key);
  plan.report.written = plan.changes.writes.size();
  plan.report.removed = plan.changes.removals.size();
  return plan;
}

Status make_changes(DatabaseClient& memory, const std::string& collection, NoteChanges changes) {
  if (changes.writes.empty() && changes.removals.empty()) return {};
  return memory.change(collection, std::move(changes));
}

}  // namespace

Result<IngestReport> ingest(DatabaseClient& memory, const Document& document, const IngestOptions& options) {
  auto plan = plan_of(memory, document, options);
  if (!plan) return fail(std::move(plan.error()));
  if (auto changed = make_changes(memory, options.collection, std::move(plan->changes)); !changed)
    return fail(std::move(changed.error()));
  return plan->report;
}

IngestBatch::IngestBatch(DatabaseClient& memory, IngestOptions options, Stored stored)
    : memory_(memory), options_(std::move(options)), stored_(std::move(stored)) {}

Status IngestBatch::add(const Document& document) {
  constexpr std::size_t kMostBytes = std::size_t{2} << 20U;
  auto plan = plan_of(memory_, document, options_);
  if (!plan) {
    std::ignore = finish();  // the error of this document counts
    return fail(std::move(plan.error()));
  }
  pending_.push_back({document.name, plan->report, std::move(plan->changes)});
  bytes_ += document.content.size();
  return bytes_ < kMostBytes ? Status{} : finish();
}

Status IngestBatch::finish() {
  auto documents = std::exchange(pending_, {});
  bytes_ = 0;
  auto done = store_together(documents);
  // The memory has not enough room for all of them, but it may have some for the first.
  const bool one_by_one = !done && done.error().code == ErrorCode::kLimit && documents.size() > 1;
  for (Pending& each : documents) {
    if (one_by_one) done = make_changes(memory_, options_.collection, std::move(each.changes));
    if (!done) return done;
    stored_(each.name, each.report);
  }
  return {};
}

Status IngestBatch::store_together(const std::vector<Pending>& documents) {
  NoteChanges all;
  for (const Pending& each : documents) {
    std::ranges::copy(each.changes.writes, std::back_inserter(all.writes));
    std::ranges::copy(each.changes.removals, std::back_inserter(all.removals));
  }
  return make_changes(memory_, options_.collection, std::move(all));
}

Result<std::size_t> remove_document(DatabaseClient& memory, const std::string& name,
                                    const std::string& collection) {
  const auto stored = stored_pieces(memory, collection, name);
  if (!stored) return fail(stored.error());
  NoteChanges changes;
  for (const auto& [key, hash] : *stored) changes.removals.push_back(key);
  if (changes.removals.empty()) return std::size_t{0};
  if (auto changed = memory.change(collection, std::move(changes)); !changed)
    return fail(std::move(changed.error()));
  return stored->size();
}

Result<std::vector<std::string>> document_names(DatabaseClient& memory, const std::string& prefix,
                                                const std::string& collection) {
  std::vector<std::string> names;
  auto visited = visit_prefix(memory, collection, prefix, [&](const Note& note) {
    std::string name = json_string(note.value, "file");
    if (!name.empty() && name.starts_with(prefix)) names.push_back(std::move(name));
  });
  if (!visited) return fail(std::move(visited.error()));
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace praxis
