#include "models/wire/chat/reasoning.hpp"

#include <algorithm>

#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

constexpr std::string_view kDetails = "reasoning_details";
constexpr std::string_view kExtra = "extra_content";

/// Whether `key` is equal in both; an absent value or null equals anything.
bool may_equal(const Json& a, const Json& b, std::string_view key) {
  const Json &x = json_at(a, key), &y = json_at(b, key);
  return x.is_null() || y.is_null() || x == y;
}

bool continues(const Json& detail, const Json& fragment) {
  const auto is_text = [](std::string_view type) {
    return type.ends_with("text") || type.ends_with("summary");
  };
  return is_text(json_text(fragment, "type")) && json_text(detail, "type") == json_text(fragment, "type") &&
         may_equal(detail, fragment, "index") && may_equal(detail, fragment, "id");
}

void append_member(std::string& out, std::string_view name, const Json& value) {
  out += ',';
  append_json_string(out, name);
  out += ':';
  append_json(out, value);
}

/// What a message must send back, collected from its parts.
struct Collected {
  std::string text;
  std::string field;
  JsonArray details;
  Json extra_content;
  bool has_opaque = false;
};

void add_reasoning(Collected& out, const ReasoningPart& part, const CodecTarget& target) {
  const Json state = own_state(part.vendor, target);
  if (state.is_null()) return;
  out.text += part.text;
  if (out.field.empty()) out.field = json_text(state, "field");
  if (const JsonArray* details = json_at(state, kDetails).if_array()) out.details = *details;
  if (const Json& extra = json_at(state, kExtra); !extra.is_null()) out.extra_content = extra;
}

Collected collect(const Message& message, const CodecTarget& target) {
  Collected out;
  for (const Part& part : message.parts) {
    if (const auto* reasoning = std::get_if<ReasoningPart>(&part)) add_reasoning(out, *reasoning, target);
    if (const auto* opaque = std::get_if<OpaquePart>(&part)) {
      out.has_opaque |= opaque->kind != kAudio && is_of(opaque->vendor, target);
    }
  }
  return out;
}

bool goes_back(ReasoningEcho echo, bool has_calls) {
  return echo != ReasoningEcho::kNever && (has_calls || echo != ReasoningEcho::kToolTurns);
}

}  // namespace

void merge_detail(JsonArray& details, const Json& fragment) {
  const JsonObject* fields = fragment.if_object();
  if (fields == nullptr) return;
  const auto known = std::find_if(details.rbegin(), details.rend(),
                                  [&](const Json& detail) { return continues(detail, fragment); });
  if (known == details.rend()) {
    details.push_back(fragment);
    return;
  }
  JsonObject& detail = known->get_object();
  for (const auto& [name, value] : *fields) {
    Json& field = detail[name];
    if ((name == "text" || name == "summary") && field.is_string() && value.is_string()) {
      field.get_string() += value.get_string();
    } else if (!value.is_null()) {
      field = value;
    }
  }
}

std::string reasoning_state(std::string_view field, const JsonArray& details, const Json& extra_content) {
  JsonObject out;
  if (!field.empty()) out["field"] = field;
  if (!details.empty()) out[kDetails] = details;
  if (!extra_content.is_null()) out[kExtra] = extra_content;
  return to_json_text(out);
}

Echo echo_of(const Message& message, bool has_calls, const CodecTarget& target, const Dialect& dialect) {
  const Collected own = collect(message, target);
  Echo out{.fields = {}, .thinking = false, .opaque = own.has_opaque};
  if (!own.extra_content.is_null()) append_member(out.fields, kExtra, own.extra_content);
  if (!goes_back(dialect.reasoning_echo, has_calls)) return out;
  if (dialect.reasoning_echo == ReasoningEcho::kDetails && !own.details.empty()) {
    append_member(out.fields, kDetails, own.details);
    return out;
  }
  std::string_view field = dialect.reasoning_field.empty() ? own.field : dialect.reasoning_field;
  if (own.text.empty() && dialect.reasoning_echo != ReasoningEcho::kRequired) return out;
  if (field.empty()) field = "reasoning_content";
  if (field == kContentField) {
    out.thinking = true;
  } else {
    append_member(out.fields, field, Json(own.text));
  }
  return out;
}

Json own_state(const VendorStatePtr& state, const CodecTarget& target) {
  if (!is_of(state, target)) return nullptr;
  auto json = parse_json(state->raw);
  return json ? *std::move(json) : Json(nullptr);
}

void append_extra_content(std::string& out, const Json& state) {
  if (const Json& extra = json_at(state, kExtra); !extra.is_null()) append_member(out, kExtra, extra);
}

std::optional<ThinkTags::Piece> ThinkTags::take(std::size_t length) {
  if (length == 0) return std::nullopt;
  const Piece piece{state_ == State::kThinking, std::string_view(held_).substr(used_, length)};
  used_ += length;
  return piece;
}

std::optional<ThinkTags::Piece> ThinkTags::next() {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>", kSpace = " \t\r\n";
  const std::string_view rest = std::string_view(held_).substr(used_);
  const std::string_view words = rest.substr(std::min(rest.find_first_not_of(kSpace), rest.size()));
  switch (state_) {
    case State::kStart:
      if (words.size() < kOpen.size() && kOpen.starts_with(words)) return std::nullopt;
      if (words.starts_with(kOpen)) {
        used_ = held_.size() - words.size() + kOpen.size();
        state_ = State::kThinking;
      } else {
        state_ = State::kText;
      }
      return next();
    case State::kThinking: {
      if (const std::size_t end = rest.find(kClose); end != rest.npos) {
        if (end > 0) return take(end);
        used_ += kClose.size();
        state_ = State::kThought;
        return next();
      }
      std::size_t certain = rest.size();  // excludes a possible start of the closing tag
      for (std::size_t n = std::min(kClose.size() - 1, rest.size()); n > 0; --n) {
        if (!rest.ends_with(kClose.substr(0, n))) continue;
        certain -= n;
        break;
      }
      return take(certain);
    }
    case State::kThought:  // skip the white space between reasoning and text
      used_ = held_.size() - words.size();
      if (words.empty()) return std::nullopt;
      state_ = State::kText;
      return next();
    case State::kText:
      return take(rest.size());
  }
  return std::nullopt;
}

}  // namespace praxis::wire::chat
