#include "capi/agent_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace praxis::capi {
namespace {

constexpr const char* kName = "agent";

void append_text(std::string& out, std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  for (const char c : quoted) {
    if (c == '\x7F') {
      out += "\\u007F";  // the one character that TOML escapes and JSON does not
    } else {
      out += c;
    }
  }
}

void append_value(std::string& out, const Json& value);

void append_members(std::string& out, const JsonObject& object, const char* between) {
  bool first = true;
  for (const auto& [key, value] : object) {
    if (value.is_null()) continue;
    if (!first) out += between;
    first = false;
    append_text(out, key);
    out += " = ";
    append_value(out, value);
  }
}

void append_value(std::string& out, const Json& value) {
  if (value.is_string()) return append_text(out, value.get_string());
  if (const JsonObject* object = value.if_object()) {
    out += '{';
    append_members(out, *object, ", ");
    out += '}';
    return;
  }
  const JsonArray* array = value.if_array();
  if (array == nullptr) return append_json(out, value);
  out += '[';
  for (const Json& element : *array) {
    append_value(out, element);
    out += ", ";
  }
  out += ']';
}

/// The message without the place `agent:3:1: `, which is not one of the caller's text.
Error without_place(Error error) {
  std::string_view rest = error.message;
  if (!rest.starts_with(kName)) return error;
  rest.remove_prefix(std::string_view(kName).size());
  for (int number = 0; number < 2; ++number) {
    if (!rest.starts_with(':')) return error;
    rest.remove_prefix(1);
    const auto digits = std::ranges::find_if(rest, [](unsigned char c) { return std::isdigit(c) == 0; });
    rest.remove_prefix(static_cast<std::size_t>(digits - rest.begin()));
  }
  if (!rest.starts_with(": ")) return error;
  error.message = kName + std::string(rest);
  return error;
}

}  // namespace

std::string toml_of(const JsonObject& object) {
  std::string out;
  append_members(out, object, "\n");
  out += '\n';
  return out;
}

Result<Agent> agent_from_json(const Json& description, const AgentFileOptions& options) {
  if (!description.is_object())
    return fail(ErrorCode::kInput, "the description of an agent must be a JSON object");
  auto agent = parse_agent_file(toml_of(description.get_object()), kName, options);
  if (!agent) return fail(without_place(std::move(agent.error())));
  return agent;
}

}  // namespace praxis::capi
