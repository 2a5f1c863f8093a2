#include "logs/turn_schema.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "logs/read_part.hpp"

namespace praxis {
namespace {

/// Records that are read at a time: those of a few steps.
constexpr std::uint64_t kRecordsAtATime = 64;

/// Finds the schema in the records of a session, given from the last to the first.
class SchemaSearch {
 public:
  explicit SchemaSearch(NextTurn next) : next_(next) {}

  /// The kinds of records that `take` looks at.
  static bool needs(std::string_view kind) {
    static const std::array<std::string_view, 4> kKinds{
        kind_name(records::TurnStarted{}), kind_name(records::TurnSettled{}),
        kind_name(records::MessageAppended{}), kind_name(records::Intervened{})};
    return std::ranges::find(kKinds, kind) != kKinds.end();
  }

  /// Returns whether the schema is known.
  bool take(const RecordBody& body) {
    if (is_removed(body)) return false;
    if (const auto* settled = std::get_if<records::TurnSettled>(&body)) {
      is_outside_ = false;
      has_message_ = false;
      return next_ == NextTurn::kConversation && settled->reason == StopReason::kFinished;
    }
    if (const auto* said = std::get_if<records::MessageAppended>(&body)) {
      has_message_ = has_message_ || said->source == MessageSource::kUser;
      return next_ == NextTurn::kConversation && is_outside_;
    }
    const auto* started = std::get_if<records::TurnStarted>(&body);
    if (started == nullptr) return false;
    if (next_ == NextTurn::kConversation || has_message_) {
      schema_ = started->output_schema;
      return true;
    }
    is_outside_ = true;
    return false;
  }

  Json schema() const { return schema_; }

 private:
  /// Whether a later rewind took the record back.
  bool is_removed(const RecordBody& body) {
    const auto* done = std::get_if<records::Intervened>(&body);
    if (removed_from_.empty() && done != nullptr && done->verb == CommandVerb::kRewind)
      removed_from_ = done->text;
    if (removed_from_.empty()) return false;
    const auto* started = std::get_if<records::TurnStarted>(&body);
    if (started != nullptr && started->turn.str() == removed_from_) removed_from_.clear();
    return true;
  }

  const NextTurn next_;
  Json schema_ = nullptr;
  bool has_message_ = false;  ///< of the caller, in the turn that is searched
  bool is_outside_ = true;    ///< after the end of that turn
  std::string removed_from_;  ///< the first of the turns that a rewind removed; empty outside of them
};

}  // namespace

Json schema_of_next_turn(const std::vector<StoredRecord>& records, NextTurn next) {
  SchemaSearch search(next);
  for (const StoredRecord& each : records | std::views::reverse) {
    if (search.take(each.record.body)) break;
  }
  return search.schema();
}

Result<Json> read_schema_of_next_turn(Journal& journal, const SessionId& session, std::uint64_t last,
                                      NextTurn next) {
  SchemaSearch search(next);
  for (std::uint64_t end = last + 1; end > 1;) {
    const std::uint64_t from = end - std::min(end - 1, kRecordsAtATime);
    const auto entries = read_some_entries(journal, session, from, end - from);
    if (!entries) return fail(entries.error());
    for (const Entry& entry : *entries | std::views::reverse) {
      if (!SchemaSearch::needs(entry.kind)) continue;
      const auto stored = decode_entry(journal, session, entry);
      if (!stored) return fail(stored.error());
      if (search.take(stored->record.body)) return search.schema();
    }
    end = from;
  }
  return search.schema();
}

}  // namespace praxis
