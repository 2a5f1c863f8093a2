#include "core/blob_text.hpp"

namespace praxis {
namespace {

/// Wider than for foreign text: a record nests values that may themselves be of the maximal depth and length.
constexpr JsonLimits kRecordLimits{.max_depth = 1'024, .max_bytes = std::size_t{1} << 32};

void move_out(Json& json, std::vector<RecordBlob>& blobs) {
  if (auto* text = json.if_string()) {
    if (text->size() <= kBlobThreshold) return;
    RecordBlob blob{digest_of(*text), std::string(*text)};
    json = JsonObject{{"$blob", blob.digest.hex()}, {"bytes", blob.bytes.size()}};
    blobs.push_back(std::move(blob));
  } else if (auto* array = json.if_array()) {
    for (Json& item : *array) move_out(item, blobs);
  } else if (auto* object = json.if_object()) {
    JsonObject escaped;
    for (auto& [key, value] : *object) {
      move_out(value, blobs);
      escaped[key.starts_with('$') ? "$" + std::string(key) : std::string(key)] = std::move(value);
    }
    *object = std::move(escaped);
  }
}

Status move_in(Json& json, const BlobLookup& blobs) {
  if (auto* array = json.if_array()) {
    for (Json& item : *array) {
      if (auto done = move_in(item, blobs); !done) return done;
    }
  } else if (auto* object = json.if_object()) {
    if (const Json& name = json_at(json, "$blob"); name.is_string()) {
      const auto digest = Digest::from_hex(name.get_string());
      if (!digest) return fail(ErrorCode::kJournal, "a blob reference is not a digest");
      auto bytes = blobs(*digest);
      if (!bytes) return fail(bytes.error());
      json = Json(std::string_view(*bytes));
      return {};
    }
    JsonObject plain;
    for (auto& [key, value] : *object) {
      if (auto done = move_in(value, blobs); !done) return done;
      plain[key.starts_with('$') ? key.substr(1) : boost::json::string_view(key)] = std::move(value);
    }
    *object = std::move(plain);
  }
  return {};
}

/// Whether the slow scan can be skipped: hardly any record has a large string or a `$` key.
bool is_plain(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('$', at + 1)) != std::string_view::npos;) {  // rarer than quotes
    if (text[at - 1] == '"') return false;
  }
  return true;
}

}  // namespace

std::string externalise(std::string text, std::vector<RecordBlob>& blobs) {
  if (text.size() <= kBlobThreshold && is_plain(text)) return text;
  auto json = parse_json(text, kRecordLimits);
  if (!json) return text;  // deeper than the readers' limit
  move_out(*json, blobs);
  return to_json_text(*json);
}

Result<Json> internalise(std::string_view text, const BlobLookup& blobs) {
  auto json = parse_json(text, kRecordLimits);
  if (!json || is_plain(text)) return json;
  if (auto done = move_in(*json, blobs); !done) return fail(done.error());
  return json;
}

}  // namespace praxis
