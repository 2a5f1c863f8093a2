#include "runtime/mcp_input.hpp"

#include <string_view>
#include <utility>

#include "base/visible_text.hpp"
#include "mcp/connection.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/json/json.hpp"
#include "praxis/json/schema.hpp"
#include "praxis/net/http_client.hpp"
#include "runtime/mcp_sampling.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxMessage = 2000;  ///< bytes of the server's text in a question
constexpr std::size_t kMaxField = 300;     ///< of its text about one field

std::string server_text(std::string_view text, std::size_t most) {
  return visible_text(utf8_head(text, most));
}

/// Not sent to the server again: it has not carried out the call.
Error refused_input(std::string why) {
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kFailed, std::move(why)), Reach::kAnswered);
}

/// The fields of a form.
const JsonObject& fields_of(const Json& request) {
  static const JsonObject kNone;
  const Json& schema = json_at(json_at(request, "params"), "requestedSchema");
  const JsonObject* fields = json_at(schema, "properties").if_object();
  return fields != nullptr ? *fields : kNone;
}

/// The values of `{"oneOf": [{"const": ...}]}` as those of an enumeration.
Json plain_choices(const Json& field) {
  const JsonArray* titled = json_at(field, "oneOf").if_array();
  if (titled == nullptr) return field;
  JsonArray values;
  for (const Json& each : *titled) values.push_back(json_at(each, "const"));
  return JsonObject{{"type", "string"}, {"enum", std::move(values)}};
}

/// The schema of the answer: that of the field if the form has only one, any text if it has none. An answer
/// may leave out fields that have a default.
Json schema_of_form(const Json& request) {
  const JsonObject& fields = fields_of(request);
  if (fields.empty()) return nullptr;
  if (fields.size() == 1) return plain_choices(fields.begin()->value());
  const Json& form = json_at(json_at(request, "params"), "requestedSchema");
  JsonArray required;
  if (const JsonArray* names = json_at(form, "required").if_array()) {
    for (const Json& name : *names) {
      const auto* const field = name.is_string() ? fields.if_contains(name.get_string()) : nullptr;
      if (field == nullptr || json_at(*field, "default").is_null()) required.push_back(name);
    }
  }
  JsonObject schema = form.get_object();
  schema["required"] = std::move(required);
  return schema;
}

/// What the person reads: who asks what, and the fields of the form.
std::string prompt_of(const std::string& server, const Json& request) {
  const Json& params = json_at(request, "params");
  std::string text =
      "The MCP server \"" + server + "\" asks: " + server_text(json_text(params, "message"), kMaxMessage);
  for (const auto& [name, field] : fields_of(request)) {
    const std::string about = server_text(json_text(field, "description"), kMaxField);
    const Json plain = plain_choices(field);
    const Json& choices = json_at(plain, "enum");
    const std::string kind =
        choices.is_null() ? json_string(field, "type") : "one of " + to_json_text(choices);
    const Json& usual = json_at(field, "default");
    text += "\n" + server_text(name, kMaxField) + ": " + server_text(kind, kMaxField) +
            (about.empty() ? "" : ", " + about) +
            (usual.is_null() ? "" : " (default: " + server_text(to_json_text(usual), kMaxField) + ')');
  }
  if (fields_of(request).size() > 1) text += "\nThe answer is a JSON object with these fields.";
  return text;
}

bool is_address(const Json& request) { return json_text(json_at(request, "params"), "mode") == "url"; }

/// The question whether the person opens an address; nothing is opened here.
/// Empty: the address is unusable.
std::string address_prompt(const std::string& server, const Json& request) {
  const Json& params = json_at(request, "params");
  const std::string address = json_string(params, "url");
  const auto url = parse_url(address);
  if (!url || address.size() > kMaxMessage) return {};
  std::string text = "The MCP server \"" + server + "\" asks you to open an address: " +
                     server_text(json_text(params, "message"), kMaxMessage) + "\n" + visible_text(address) +
                     "\nIts host is " + visible_text(url->host) + '.';
  if (url->scheme != "https") text += " The connection to it is not encrypted.";
  if (url->host.contains("xn--")) text += " The host has letters that may look like others.";
  return text + "\nOpen it yourself if you trust it, then answer with any word.";
}

/// The answer in the protocol's form.
Json response_of(const Json& request, const CallAnswer& answer) {
  if (answer.kind == CallAnswer::Kind::kDeclined) return JsonObject{{"action", "decline"}};
  if (answer.kind == CallAnswer::Kind::kExpired) return JsonObject{{"action", "cancel"}};
  if (is_address(request)) return JsonObject{{"action", "accept"}};
  const JsonObject& fields = fields_of(request);
  JsonObject content;
  if (fields.size() == 1) {
    const auto& field = *fields.begin();
    const Json schema = plain_choices(field.value());
    const bool is_text = json_text(schema, "type") == "string";
    content[field.key()] = is_text ? Json(answer.text) : parse_json(answer.text).value_or(Json(answer.text));
  } else if (!fields.empty()) {
    const Json given = parse_json(answer.text).value_or(nullptr);
    if (const JsonObject* object = given.if_object()) content = *object;
    for (const auto& [name, field] : fields) {
      const Json& usual = json_at(field, "default");
      if (!usual.is_null() && !content.contains(name)) content[name] = usual;
    }
  }
  return JsonObject{{"action", "accept"}, {"content", std::move(content)}};
}

}  // namespace

McpRound round_of(const std::vector<CallAnswer>& answers) {
  McpRound round;
  if (answers.empty()) return round;
  const Json& last = answers.back().state;
  round.number = json_int(last, "round");
  if (const JsonObject* requests = json_at(last, "requests").if_object()) round.input.requests = *requests;
  if (const Json& state = json_at(last, "state"); state.is_string())
    round.input.state = std::string(state.get_string());
  for (const CallAnswer& answer : answers) {
    const std::string name = json_string(answer.state, "name");
    const Json* request = round.input.requests.if_contains(name);
    if (json_int(answer.state, "round") != round.number || request == nullptr) continue;
    if (!asks_for_sample(*request)) {
      round.answers[name] = response_of(*request, answer);
    } else if (answer.kind == CallAnswer::Kind::kGiven) {
      round.allowed.push_back(name);
    } else {
      round.answers[name] = nullptr;
    }
  }
  return round;
}

Error next_question(const std::string& server, const McpRound& round, const McpBounds& bounds) {
  if (round.number > McpRound::kMost)
    return refused_input("the server asks for further input more than " + std::to_string(McpRound::kMost) +
                         " times");
  if (round.input.requests.size() > McpRound::kMostAtOnce)
    return refused_input("the server asks for more than " + std::to_string(McpRound::kMostAtOnce) +
                         " things at once");
  for (const auto& [name, request] : round.input.requests) {
    if (round.answers.contains(name)) continue;
    const std::string method = json_string(request, "method");
    const bool asks_form =
        method == kMcpQuestion && json_string(json_at(request, "params"), "mode", "form") == "form";
    const bool is_sample = asks_for_sample(request) && bounds.gives_samples;
    if (!is_sample && !asks_form && !(method == kMcpQuestion && is_address(request)))
      return refused_input("the server asks for " + server_text(method, kMaxField) +
                           ", which this client does not give");
    const std::string prompt = is_sample   ? sample_question(server, request)
                               : asks_form ? prompt_of(server, request)
                                           : address_prompt(server, request);
    if (prompt.empty()) return refused_input("the server asks to open an address that is not usable");
    Json schema = asks_form ? schema_of_form(request) : Json(nullptr);
    const bool is_usable = to_json_text(schema).size() <= bounds.schema_bytes &&
                           (schema.is_null() || JsonSchema::compile(schema).has_value());
    if (!is_usable) return refused_input("the server asks with a form that has an unusable schema");
    JsonObject state{
        {"round", round.number}, {"name", std::string(name)}, {"requests", round.input.requests}};
    if (round.input.state) state["state"] = *round.input.state;
    return fail_question(prompt, std::move(schema), std::move(state)).error();
  }
  return refused_input("the server asks for further input, but not for what");
}

}  // namespace praxis
