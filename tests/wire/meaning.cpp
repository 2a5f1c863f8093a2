#include "wire/meaning.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "wire/reading.hpp"
#include "wire/request_reader.hpp"

namespace praxis::wire {
namespace {

using Entries = std::vector<Json>;

/// Returns `value` without members that carry no information.
Json without_defaults(const Json& value) {
  static const std::set<std::string_view> kOptional{
      "cache_control", "status", "annotations", "logprobs", "strict", "thought_id", "phase", "citations"};
  if (const JsonArray* list = value.if_array()) {
    JsonArray out;
    for (const Json& item : *list) out.push_back(without_defaults(item));
    return out;
  }
  const JsonObject* members = value.if_object();
  if (members == nullptr) return value;
  JsonObject out;
  for (const auto& [name, member] : *members) {
    if (!member.is_null() && !kOptional.contains(name)) out[name] = without_defaults(member);
  }
  return out;
}

/// Returns JSON text as the value it means; other text unchanged.
Json parsed(const Json& text) {
  const auto* string = text.if_string();
  if (string == nullptr) return text;
  if (string->empty() || *string == "null") return JsonObject{};
  auto json = parse_json(*string);
  return json ? *std::move(json) : text;
}

std::string joined_text(const Json& content) {
  if (const auto* text = content.if_string()) return std::string(*text);
  std::string out;
  if (const JsonArray* parts = content.if_array()) {
    for (const Json& part : *parts) out += json_text(part, "text");
  }
  return out;
}

class Writer {
 public:
  Entries take() && { return std::move(entries_); }

 protected:
  void add(std::string_view role, std::string_view kind, Json value, JsonObject more = {}) {
    JsonObject entry{{"role", role}, {kind, std::move(value)}};
    for (auto& [name, member] : more) {
      if (!member.is_null()) entry[name] = std::move(member);
    }
    entries_.emplace_back(std::move(entry));
  }
  void add_text(std::string_view role, const Json& text, JsonObject more = {}) {
    if (text.is_string() && (!text.get_string().empty() || !more.empty()))
      add(role, "text", text, std::move(more));
  }
  void add_call(const Json& id, const Json& name, const Json& arguments, JsonObject more = {}) {
    JsonObject call{{"name", name}, {"arguments", parsed(arguments)}};
    if (!id.is_null()) call["id"] = id;
    add("assistant", "call", std::move(call), std::move(more));
  }
  void add_result(const Json& id, const Json& output, JsonObject more = {}) {
    JsonObject result{{"output", parsed(output)}};
    if (!id.is_null()) result["id"] = id;
    add("tool", "result", std::move(result), std::move(more));
  }

  Entries entries_;
};

class ChatWriter : public Writer {
 public:
  void read(const Json& body) {
    if (const JsonArray* list = json_at(body, "messages").if_array()) {
      for (const Json& message : *list) read_message(message);
    }
  }

 private:
  void read_message(const Json& message) {
    const std::string_view role = json_text(message, "role");
    const Json& content = json_at(message, "content");
    if (role == "system" || role == "developer") return add("system", "text", Json(joined_text(content)));
    if (role == "tool") {
      const Json output = content.is_array() ? Json(joined_text(content)) : content;
      return add_result(json_at(message, "tool_call_id"), output);
    }
    read_reasoning(message);
    read_content(role, content);
    if (const JsonArray* pictures = json_at(message, "images").if_array()) {
      for (const Json& picture : *pictures) add(role, "image", picture);
    }
    if (const JsonArray* calls = json_at(message, "tool_calls").if_array()) {
      for (const Json& call : *calls) read_call(call);
    }
  }

  void read_reasoning(const Json& message) {
    for (const std::string_view field : {"reasoning_content", "reasoning", "thinking"}) {
      const std::string_view text = json_text(message, field);
      if (!text.empty()) {
        add("assistant", "reasoning", Json(text));
        break;
      }
    }
    if (const Json& details = json_at(message, "reasoning_details"); details.is_array())
      add("assistant", "reasoning_details", without_defaults(details));
  }

  void read_content(std::string_view role, const Json& content) {
    add_text(role, content);
    const JsonArray* parts = content.if_array();
    if (parts == nullptr) return;
    for (const Json& part : *parts) {
      const Json& picture = json_at(part, "image_url");
      if (json_text(part, "type") == "text") {
        add_text(role, json_at(part, "text"));
      } else if (json_text(part, "type") == "thinking") {
        add(role, "reasoning", Json(joined_text(json_at(part, "thinking"))));
      } else if (!picture.is_null()) {
        add(role, "image", picture.is_string() ? picture : json_at(picture, "url"));
      } else if (const Json& document = json_at(part, "file"); !document.is_null()) {
        add(role, "file", json_at(document, "file_data"));
      } else {
        add(role, "item", without_defaults(part));
      }
    }
  }

  void read_call(const Json& call) {
    const Json& function = json_at(call, "function");
    const Json& google = json_at(json_at(call, "extra_content"), "google");
    add_call(json_at(call, "id"), json_at(function, "name"), json_at(function, "arguments"),
             {{"signature", json_at(google, "thought_signature")}});
  }
};

class MessagesWriter : public Writer {
 public:
  void read(const Json& body) {
    if (const std::string system = joined_text(json_at(body, "system")); !system.empty())
      add("system", "text", Json(system));
    const JsonArray* messages = json_at(body, "messages").if_array();
    if (messages == nullptr) return;
    for (const Json& message : *messages) {
      const std::string_view role = json_text(message, "role");
      const Json& content = json_at(message, "content");
      add_text(role, content);
      if (const JsonArray* blocks = content.if_array()) {
        for (const Json& block : *blocks) read_block(role, block);
      }
    }
  }

 private:
  void read_block(std::string_view role, const Json& block) {
    const std::string_view type = json_text(block, "type");
    const Json& source = json_at(block, "source");
    const Json& content = either(source, "data", "url");
    if (type == "text") {
      add_text(role, json_at(block, "text"));
    } else if (type == "thinking") {
      add(role, "reasoning", json_at(block, "thinking"), {{"signature", json_at(block, "signature")}});
    } else if (type == "redacted_thinking") {
      add(role, "reasoning", "", {{"redacted", json_at(block, "data")}});
    } else if (type == "tool_use") {
      add_call(json_at(block, "id"), json_at(block, "name"), json_at(block, "input"));
    } else if (type == "tool_result") {
      const Json& output = json_at(block, "content");
      add_result(json_at(block, "tool_use_id"), output.is_array() ? Json(joined_text(output)) : output,
                 {{"is_error", json_bool(block, "is_error") ? Json(true) : Json()}});
    } else if (type == "image" && !content.is_null()) {
      add(role, "image", content);
    } else if (type == "document" && !content.is_null()) {
      add(role, "file", content);
    } else {
      add(role, "item", without_defaults(block));
    }
  }
};

class GeminiWriter : public Writer {
 public:
  void read(const Json& body) {
    const Json& system = either(body, "systemInstruction", "system_instruction");
    if (const std::string text = joined_text(json_at(system, "parts")); !text.empty())
      add("system", "text", Json(text));
    const JsonArray* contents = json_at(body, "contents").if_array();
    if (contents == nullptr) return;
    for (const Json& content : *contents) {
      const std::string_view role = json_text(content, "role") == "model" ? "assistant" : "user";
      if (const JsonArray* parts = json_at(content, "parts").if_array()) {
        for (const Json& part : *parts) read_part(role, part);
      }
    }
  }

 private:
  void read_part(std::string_view role, const Json& part) {
    const Json& call = either(part, "functionCall", "function_call");
    const Json& result = either(part, "functionResponse", "function_response");
    const Json& data = either(part, "inlineData", "inline_data");
    const Json& link = either(part, "fileData", "file_data");
    const Json& signature = either(part, "thoughtSignature", "thought_signature");
    const JsonObject seal{{"signature", signature}};
    if (call.is_object()) {
      add_call(json_at(call, "id"), json_at(call, "name"), json_at(call, "args"), seal);
    } else if (result.is_object()) {
      add_result(json_at(result, "id"), unwrapped_result(json_at(result, "response")),
                 {{"name", json_at(result, "name")}});
    } else if (data.is_object()) {
      add(role, "image", json_at(data, "data"));
    } else if (link.is_object()) {
      add(role, "image", either(link, "fileUri", "file_uri"));
    } else if (json_at(part, "text").is_string()) {
      const bool thought = json_bool(part, "thought");
      if (!merged(role, thought ? "reasoning" : "text", part, signature))
        add(role, thought ? "reasoning" : "text", json_at(part, "text"), seal);
    } else {
      add(role, "item", without_defaults(part), {});
    }
  }

  /// Merges fragments of a model's text, which mean the same as one, unless a signature separates them.
  bool merged(std::string_view role, std::string_view kind, const Json& part, const Json& signature) {
    if (entries_.empty() || role != "assistant" || !signature.is_null()) return false;
    JsonObject& last = entries_.back().get_object();
    if (!last.contains(kind) || json_text(entries_.back(), "role") != role || last.contains("signature"))
      return false;
    last[kind].get_string() += json_text(part, "text");
    return true;
  }
};

class ResponsesWriter : public Writer {
 public:
  void read(const Json& body) {
    if (const std::string_view text = json_text(body, "instructions"); !text.empty())
      add("system", "text", Json(text));
    add_text("user", json_at(body, "input"));
    if (const JsonArray* items = json_at(body, "input").if_array()) {
      for (const Json& item : *items) read_item(item);
    }
  }

 private:
  void read_item(const Json& item) {
    const std::string_view type = json_text(item, "type"), role = json_text(item, "role");
    const JsonObject item_id{{"item_id", json_at(item, "id")}};
    if (!role.empty()) return read_message(role, json_at(item, "content"));
    if (type == "function_call") {
      add_call(json_at(item, "call_id"), json_at(item, "name"), json_at(item, "arguments"), item_id);
    } else if (type == "function_call_output") {
      const Json& output = json_at(item, "output");
      add_result(json_at(item, "call_id"), output.is_array() ? Json(joined_text(output)) : output);
    } else if (type == "reasoning") {
      const std::string text = joined_text(json_at(item, "summary")) + joined_text(json_at(item, "content"));
      add("assistant", "reasoning", Json(text),
          {{"encrypted", json_at(item, "encrypted_content")}, {"item_id", json_at(item, "id")}});
    } else {
      add("assistant", "item", without_defaults(item));
    }
  }

  void read_message(std::string_view role, const Json& content) {
    if (role == "developer" || role == "system") return add("system", "text", Json(joined_text(content)));
    add_text(role, content);
    const JsonArray* parts = content.if_array();
    if (parts == nullptr) return;
    for (const Json& part : *parts) {
      const std::string_view type = json_text(part, "type");
      if (type == "input_image") {
        add(role, "image", either(part, "image_url", "file_id"));
      } else if (type == "input_file") {
        add(role, "file", either(part, "file_data", "file_url"));
      } else if (type == "refusal") {
        add(role, "refusal", json_at(part, "refusal"));
      } else {
        add_text(role, json_at(part, "text"));
      }
    }
  }
};

template <class W>
Entries entries_with(const Json& body) {
  W writer;
  writer.read(body);
  return std::move(writer).take();
}

/// Returns a JSON Schema without keywords that have no effect.
Json schema_of(const Json& schema) {
  const JsonObject* members = schema.if_object();
  if (members == nullptr) {
    if (const JsonArray* list = schema.if_array()) {
      JsonArray out;
      for (const Json& item : *list) out.push_back(schema_of(item));
      return out;
    }
    return schema;
  }
  JsonObject out;
  for (const auto& [name, member] : *members) {
    const bool says_nothing = name == "$schema" || name == "title" ||
                              (name == "additionalProperties" && member == Json(false)) ||
                              (member.is_array() && member.get_array().empty()) ||
                              (name == "properties" && member.is_object() && member.get_object().empty());
    if (says_nothing && !(name == "title" && member.is_object())) continue;
    Json value = schema_of(member);
    if (name == "type" && value.is_string()) {  // one vendor's subset writes types in upper case
      for (char& c : value.get_string()) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    out[name] = std::move(value);
  }
  if (out == JsonObject{{"type", "object"}}) return JsonObject{};
  return out;
}

void add_tool(std::map<std::string, Json>& tools, const Json& tool, const Json& parameters) {
  const std::string name = json_string(tool, "name");
  JsonObject out{{"name", name},
                 {"parameters", schema_of(parameters.is_null() ? Json(JsonObject{}) : parameters)}};
  if (const std::string_view words = json_text(tool, "description"); !words.empty())
    out["description"] = words;
  tools[name] = std::move(out);
}

/// Returns the label of an entry, by which two entries are compared.
std::string label_of(const Json& entry) {
  std::string label = json_string(entry, "role");
  for (const auto& member : entry.get_object()) {
    if (member.key() != "role") return label + ' ' + std::string(member.key());
  }
  return label;
}

/// Whether we may return this although the recorded client did not.
bool is_vendors_own(const std::string& label) {
  return label == "assistant reasoning" || label == "assistant reasoning_details" ||
         label == "assistant item";
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kLength = 120;
  const std::string text = value.is_null() ? "nothing" : to_canonical_json(value);
  return text.size() <= kLength ? text : repair_utf8(text.substr(0, kLength)) + "...";
}

/// Normalises the spelling of bytes in base64.
std::string seal_of(const Json& value) {
  std::string text = value.is_string() ? std::string(value.get_string()) : to_canonical_json(value);
  constexpr std::string_view kBase64 = ";base64,";
  if (const std::size_t at = text.find(kBase64); at != std::string::npos) text.erase(0, at + kBase64.size());
  while (text.ends_with('=')) text.pop_back();
  return standard_base64(text);
}

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

bool same_value(const std::string& path, const Json& ours, const Json& recorded) {
  if (to_canonical_json(ours) == to_canonical_json(recorded)) return true;
  if (ends_with_any(path, {".id"}) && ours.is_string() &&
      std::string_view(ours.get_string()).starts_with(kInventedCall))
    return true;
  return ends_with_any(path, {".signature", ".image", ".file"}) && seal_of(ours) == seal_of(recorded);
}

void compare_values(const std::string& path, const Json& ours, const Json& recorded, Comparison& out) {
  const JsonObject* a = ours.if_object();
  const JsonObject* b = recorded.if_object();
  if (a != nullptr && b != nullptr) {
    std::set<std::string> names;
    for (const auto& member : *a) names.emplace(member.key());
    for (const auto& member : *b) names.emplace(member.key());
    for (const std::string& name : names)
      compare_values(path + '.' + name, json_at(ours, name), json_at(recorded, name), out);
    return;
  }
  if (same_value(path, ours, recorded)) return;
  const bool more =
      recorded.is_null() && ends_with_any(path, {".item_id", ".signature", ".encrypted", ".redacted", ".id"});
  const bool fewer = ours.is_null() && ends_with_any(path, {".item_id", ".id"});
  if (more || fewer) {
    out.additions.push_back(path + (more ? ": only ours" : ": only recorded"));
  } else {
    out.differences.push_back(path + ": ours " + excerpt(ours) + ", recorded " + excerpt(recorded));
  }
}

bool comes_later(const Entries& entries, std::size_t from, const std::string& label) {
  return std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(from), entries.end(),
                     [&](const Json& entry) { return label_of(entry) == label; });
}

/// Sorts the results of one turn, whose order has no meaning.
Entries in_order(Entries entries) {
  const auto key = [](const Json& entry) {
    const Json& result = json_at(entry, "result");
    return json_string(entry, "name") + json_string(result, "id") + to_canonical_json(result);
  };
  const auto is_result = [](const Json& entry) { return !json_at(entry, "result").is_null(); };
  for (auto begin = entries.begin(); begin != entries.end();) {
    begin = std::find_if(begin, entries.end(), is_result);
    const auto end = std::find_if_not(begin, entries.end(), is_result);
    std::ranges::sort(begin, end, {}, key);
    begin = end;
  }
  return entries;
}

void compare_entries(const Entries& ours, const Entries& recorded, Comparison& out) {
  std::size_t a = 0, b = 0;
  while (a < ours.size() || b < recorded.size()) {
    const std::string mine = a < ours.size() ? label_of(ours[a]) : "";
    const std::string theirs = b < recorded.size() ? label_of(recorded[b]) : "";
    const std::string path = '[' + std::to_string(a) + "] ";
    if (mine == theirs) {
      compare_values(path + mine, ours[a++], recorded[b++], out);
    } else if (is_vendors_own(mine)) {
      out.additions.push_back(path + mine + ": only ours");
      ++a;
    } else if (theirs.empty() ||
               (!mine.empty() && comes_later(ours, a, theirs) && !comes_later(recorded, b, mine))) {
      out.differences.push_back(path + mine + ": only ours: " + excerpt(ours[a]));
      ++a;
    } else {
      out.differences.push_back(path + theirs + ": only recorded: " + excerpt(recorded[b]));
      ++b;
    }
  }
}

}  // namespace

Entries entries_of(std::string_view api, const Json& body) {
  if (api == "responses") return entries_with<ResponsesWriter>(body);
  if (api == "messages") return entries_with<MessagesWriter>(body);
  if (api == "gemini") return entries_with<GeminiWriter>(body);
  return entries_with<ChatWriter>(body);
}

std::vector<Json> tools_of(std::string_view api, const Json& body) {
  std::map<std::string, Json> tools;
  static const JsonArray kNone;
  const JsonArray* list = json_at(body, "tools").if_array();
  for (const Json& tool : list == nullptr ? kNone : *list) {
    const Json& function = json_at(tool, "function");
    const Json& declared = either(tool, "functionDeclarations", "function_declarations");
    if (function.is_object()) {
      add_tool(tools, function, json_at(function, "parameters"));
    } else if (const JsonArray* several = declared.if_array()) {
      for (const Json& one : *several)
        add_tool(tools, one, either(one, "parametersJsonSchema", "parameters"));
    } else if (api == "messages" ? !json_at(tool, "input_schema").is_null()
                                 : json_text(tool, "type") == "function") {
      add_tool(tools, tool, either(tool, "input_schema", "parameters"));
    }
  }
  std::vector<Json> out;
  for (auto& [name, tool] : tools) out.push_back(std::move(tool));
  return out;
}

Comparison compare_requests(std::string_view api, const Json& ours, const Json& recorded) {
  Comparison out;
  compare_entries(in_order(entries_of(api, ours)), in_order(entries_of(api, recorded)), out);
  std::map<std::string, std::pair<Json, Json>> tools;
  for (const Json& tool : tools_of(api, ours)) tools[json_string(tool, "name")].first = tool;
  for (const Json& tool : tools_of(api, recorded)) tools[json_string(tool, "name")].second = tool;
  for (const auto& [name, pair] : tools) compare_values("tools." + name, pair.first, pair.second, out);
  return out;
}

}  // namespace praxis::wire
