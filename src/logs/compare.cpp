#include "logs/compare.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "logs/record_difference.hpp"

namespace praxis {
namespace {

constexpr const char* kEnd = "end of the log";

/// What a record says, without what differs between any two sessions.
Result<Json> meaning_of(const RecordBody& body) {
  auto json = comparable_json(body);
  JsonObject* const members = json ? json->if_object() : nullptr;
  if (members == nullptr) return json;
  const auto erase = [](JsonObject& from, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) from.erase(key);
  };
  if (std::holds_alternative<records::SessionCreated>(body)) {
    erase(*members, {"session", "seed", "parent", "forked_from", "forked_at", "trace", "span", "parent_span",
                     "trace_state"});
  } else if (std::holds_alternative<records::EffectSettled>(body)) {
    erase(*members, {"duration_ms", "active_ms"});
    if (Json* response = members->if_contains("response"); response != nullptr && response->is_object())
      erase(response->get_object(), {"response_id", "request_id"});
  } else {
    erase(*members, {"child"});
  }
  return json;
}

}  // namespace

Result<Json> comparable_json(const RecordBody& body) {
  std::vector<RecordBlob> blobs;
  return parse_json(encode_record(body, blobs));
}

Divergence first_difference(std::uint64_t seq, const Json& expected, const Json& found) {
  const auto text = [](const Json& json) { return to_json_text(json); };
  if (expected.is_object() && found.is_object()) {
    for (const auto& [key, value] : expected.get_object()) {
      if (json_at(found, key) != value)
        return {seq, std::string(key), text(value), text(json_at(found, key))};
    }
    for (const auto& [key, value] : found.get_object()) {
      if (!expected.get_object().contains(key)) return {seq, std::string(key), "null", text(value)};
    }
  }
  return {seq, "record", text(expected), text(found)};
}

Result<Comparison> compare_sessions(const std::vector<StoredRecord>& first,
                                    const std::vector<StoredRecord>& second) {
  Comparison comparison;
  const auto kind_at = [](const std::vector<StoredRecord>& records, std::size_t at) {
    return at < records.size() ? std::string(kind_name(records[at].record.body)) : kEnd;
  };
  const std::size_t most = std::max(first.size(), second.size());
  for (std::size_t at = 0; at < most; ++at) {
    const std::string expected_kind = kind_at(first, at), found_kind = kind_at(second, at);
    if (expected_kind != found_kind) {
      comparison.difference = {at + 1, "kind", expected_kind, found_kind};
      return comparison;
    }
    const auto expected = meaning_of(first[at].record.body), found = meaning_of(second[at].record.body);
    if (!expected || !found) return fail(expected ? found.error() : expected.error());
    if (*expected != *found) {
      comparison.difference = first_difference(at + 1, *expected, *found);
      return comparison;
    }
    ++comparison.common;
  }
  return comparison;
}

}  // namespace praxis
