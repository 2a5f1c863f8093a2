#include "redact/redaction.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace praxis::redact {
namespace {

constexpr std::size_t kLongestName = 64;  // of a member, or of a word before a value

/// Members whose values vendors check byte by byte.
constexpr std::array<std::string_view, 5> kExactMembers{"signature", "thoughtSignature", "thought_signature",
                                                        "encrypted_content", "vendor"};

bool is_exact(const JsonObject& object, std::string_view name) {
  if (name == "data") {
    const Json* const type = object.if_contains("type");
    return type != nullptr && type->is_string() && type->get_string() == "redacted_thinking";
  }
  return std::ranges::find(kExactMembers, name) != kExactMembers.end();
}

std::shared_ptr<const Redactor> some(std::shared_ptr<const Redactor> known) {
  return known && !known->empty() ? std::move(known) : nullptr;
}

}  // namespace

Redaction::Redaction(Scope scope, std::shared_ptr<const Redactor> known, std::string key)
    : detector_(Detector::shared(scope)), known_(some(std::move(known))), key_(std::move(key)) {}

Redaction::Redaction(std::shared_ptr<const Redactor> known) : known_(some(std::move(known))) {}

std::string Redaction::text(std::string text) const {
  if (is_off()) return text;
  if (known_) text = known_->without_cut_secrets(std::move(text));
  if (detector_) {
    const std::vector<Place> places = detector_->find(text);
    if (!places.empty()) text = replaced(text, places, key_);
  }
  return rule_ ? (*rule_)(std::move(text), {}) : text;
}

std::vector<Mask> Redaction::find_known(std::string_view text) const {
  std::vector<Mask> out;
  if (!known_) return out;
  for (const SecretPlace& place : known_->find(text))
    out.push_back({place.begin, place.end, std::string(kSecretMask)});
  return out;
}

std::vector<Mask> Redaction::find(std::string_view text) const {
  std::vector<Mask> out = find_known(text);
  if (!detector_) return out;
  const std::size_t known = out.size();
  for (const Place& place : detector_->find(text)) {
    const auto overlaps = [&](const Mask& each) { return each.begin < place.end && place.begin < each.end; };
    if (std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(known), overlaps)) continue;
    const std::string_view value = text.substr(place.begin, place.end - place.begin);
    out.push_back({place.begin, place.end, replacement(place.kind, value, key_)});
  }
  std::ranges::sort(out, {}, &Mask::begin);
  return out;
}

/// Returns the value of the member `name` without secrets: `"password": "..."` is found by the name.
std::string Redaction::value(std::string_view text, std::string_view name) const {
  if (!detector_ || name.empty() || name.size() > kLongestName) return this->text(std::string(text));
  std::string whole = std::string(name) + "\": \"";
  const std::size_t before = whole.size();
  whole += known_ ? known_->without_cut_secrets(std::string(text)) : std::string(text);
  const std::size_t end = whole.size();
  whole += '"';
  std::vector<Place> places;
  for (Place place : detector_->find(whole)) {
    place.begin = std::max(place.begin, before);
    place.end = std::min(place.end, end);
    if (place.begin < place.end) places.push_back(place);
  }
  whole.resize(end);
  std::string kept = replaced(whole, places, key_).substr(before);
  return rule_ ? (*rule_)(std::move(kept), name) : kept;
}

void Redaction::redact(Json& json, std::string_view name) const {
  if (json.is_string()) {
    const std::string_view text = json.get_string();
    if (std::string kept = value(text, name); kept != text) json = kept;
  } else if (JsonArray* const items = json.if_array()) {
    std::string before(name);  // in `["--password", "..."]` the word before says what a value is
    for (Json& item : *items) {
      std::string own = item.is_string() ? std::string(item.get_string()) : "";
      redact(item, before);
      if (!own.empty()) before = std::move(own);
    }
  } else if (JsonObject* const object = json.if_object()) {
    for (auto& member : *object) {
      if (!is_exact(*object, member.key())) redact(member.value(), member.key());
    }
  }
}

void Redaction::redact(Json& json) const {
  if (!is_off()) redact(json, {});
}

void Redaction::redact(Error& error) const {
  if (is_off()) return;
  error.message = text(std::move(error.message));
  if (error.facts) {
    auto facts = std::make_shared<Json>(*error.facts);
    redact(*facts);
    error.facts = std::move(facts);
  }
  if (error.cause) {
    auto cause = std::make_shared<Error>(*error.cause);
    redact(*cause);
    error.cause = std::move(cause);
  }
}

std::string Redaction::json_text(std::string text) const {
  if (is_off()) return text;
  auto json = parse_json(text);
  if (!json) return this->text(std::move(text));
  const Json before = *json;
  redact(*json, {});
  return *json == before ? text : to_json_text(*json);
}

std::unique_ptr<StreamRedactor> Redaction::stream() const {
  return is_off() ? nullptr : std::make_unique<StreamRedactor>(detector_, key_, known_);
}

Redaction redaction(RedactLevel level, bool personal, std::shared_ptr<const Redactor> known,
                    std::string key) {
  if (level == RedactLevel::kOff) return Redaction(std::move(known));
  const Profile profile = level == RedactLevel::kStrict ? Profile::kStrict : Profile::kBalanced;
  return Redaction({.profile = profile, .personal = personal}, std::move(known), std::move(key));
}

}  // namespace praxis::redact
