#include "server/call.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <utility>

#include "json/uri_reference.hpp"
#include "praxis/base/dates.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/base/utf8.hpp"
#include "server/problem.hpp"
#include "server/split.hpp"

namespace praxis::server {
namespace {

/// Decodes percent signs, in a query plus signs too. Nothing if the text is not valid, or holds a control
/// character.
std::optional<std::string> decoded(std::string_view text, bool is_query) {
  const auto is_digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    if (at + 2 >= text.size() || !is_digit(text[at + 1]) || !is_digit(text[at + 2])) return std::nullopt;
  }
  std::string encoded(text);
  if (is_query) std::ranges::replace(encoded, '+', ' ');
  std::string out = percent_decode(encoded);
  const auto is_control = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && !(is_query && (c == '\n' || c == '\t' || c == '\r')));
  };
  if (std::ranges::any_of(out, is_control) || !is_valid_utf8(out)) return std::nullopt;
  return out;
}

std::unexpected<Error> invalid(const char* what) {
  return fail(ErrorCode::kInput, std::string("the ") + what + " of the request is not valid");
}

}  // namespace

std::string Call::parameter(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? "" : found->second;
}

Result<std::size_t> Call::number(const std::string& key, std::size_t fallback, std::size_t most) const {
  const auto found = query.find(key);
  if (found == query.end()) return fallback;
  const std::string& text = found->second;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value <= most) return value;
  return fail(
      field_error(key, "must be a number from 0 to " + std::to_string(most) + ", not \"" + text + "\""));
}

std::optional<UnixMillis> day_named(std::string_view text) {
  const auto day = from_iso8601(std::string(text) + "T00:00:00Z");
  if (!day || to_iso8601(*day).substr(0, text.size()) != text) return std::nullopt;
  return day;
}

Result<std::optional<UnixMillis>> Call::time(const std::string& key, DayPart part) const {
  const std::string text = parameter(key);
  if (text.empty()) return std::optional<UnixMillis>();
  if (const auto time = from_iso8601(text)) return time;
  const auto day = day_named(text);
  if (day && part == DayPart::kStart) return day;
  if (day) return std::optional(*day + (std::chrono::days(1) - Millis(1)));
  return fail(field_error(
      key, "must be a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z, not \"" + text + "\""));
}

Result<JsonObject> Call::object(std::initializer_list<std::string_view> keys) const {
  if (body.empty()) return JsonObject{};
  auto parsed = parse_json(body);
  if (!parsed)
    return fail(make_error(ErrorCode::kInput, "the body is not valid JSON: " + parsed.error().message));
  auto* given = parsed->if_object();
  if (given == nullptr) return fail(ErrorCode::kInput, "the body must be a JSON object");
  for (const auto& member : *given) {
    const std::string key(member.key());
    if (std::ranges::find(keys, key) != keys.end()) continue;
    const auto nearest = closest(key, std::vector<std::string>(keys.begin(), keys.end()));
    return fail(
        field_error(key, "is not known here" + (nearest ? "; did you mean \"" + *nearest + "\"?" : "")));
  }
  return std::move(*given);
}

Result<std::string> text_of(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return fail(field_error(std::string(key), "must be a string"));
  return to_plain_text(*value);
}

Result<bool> truth_of(const JsonObject& object, std::string_view key) {
  const Json* const given = object.if_contains(key);
  if (given != nullptr && !given->is_bool())
    return fail(field_error(std::string(key), "must be true or false"));
  return given != nullptr && given->get_bool();
}

Result<Call> parse_call(ReceivedRequest request) {
  Call call;
  std::string_view target = request.target;
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  if (!path.starts_with('/') || path.contains('#')) return invalid("path");
  bool valid = true;
  if (path != "/") {
    split(path.substr(1), '/', [&](std::string_view part) {
      auto segment = decoded(part, false);
      // A dot segment, or an encoded slash, could be read in another way by a proxy in front.
      valid = valid && segment && *segment != "." && *segment != ".." && !segment->contains('/');
      if (valid) call.path.push_back(*std::move(segment));
    });
  }
  if (!valid) return invalid("path");
  if (mark != std::string_view::npos) {
    split(target.substr(mark + 1), '&', [&](std::string_view part) {
      if (part.empty()) return;
      const std::size_t equals = std::min(part.find('='), part.size());
      auto key = decoded(part.substr(0, equals), true);
      auto value = decoded(part.substr(std::min(equals + 1, part.size())), true);
      valid = valid && key && value;
      if (valid) call.query.emplace(*std::move(key), *std::move(value));
    });
  }
  if (!valid) return invalid("query");
  call.method = std::move(request.method);
  call.headers = std::move(request.headers);
  call.body = std::move(request.body);
  call.is_http_1_0 = request.is_http_1_0;
  return call;
}

}  // namespace praxis::server
