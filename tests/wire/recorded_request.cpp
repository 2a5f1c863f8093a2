#include "wire/recorded_request.hpp"

#include "wire/request_reader.hpp"

namespace praxis::wire {
namespace {

const JsonArray& list_at(const Json& json, std::string_view key) {
  static const JsonArray kNone;
  const JsonArray* list = json_at(json, key).if_array();
  return list == nullptr ? kNone : *list;
}

/// Adds the parts of a content that is a string or a list, reading each with `read`.
template <class Read>
std::vector<Part> parts_of(const Json& content, Read read) {
  std::vector<Part> parts;
  if (const auto* text = content.if_string(); text != nullptr && !text->empty()) {
    parts.emplace_back(TextPart{std::string(*text)});
  }
  if (const JsonArray* list = content.if_array()) {
    for (const Json& part : *list) read(parts, part);
  }
  return parts;
}

class ChatRequest final : public RequestReader {
 public:
  using RequestReader::RequestReader;
  void read(const Json& body) override {
    for (const Json& message : list_at(body, "messages")) read_message(message);
    for (const Json& tool : list_at(body, "tools")) {
      const Json& function = json_at(tool, "function");
      if (function.is_object())
        add_tool(json_text(function, "name"), json_text(function, "description"),
                 json_at(function, "parameters"));
    }
  }

 private:
  void read_message(const Json& message) {
    const std::string_view role = json_text(message, "role");
    const Json& content = json_at(message, "content");
    if (role == "assistant") {
      add_answer(JsonObject{
          {"choices", JsonArray{JsonObject{{"index", 0}, {"message", message}, {"finish_reason", "stop"}}}}});
    } else if (role == "tool") {
      std::vector<Part> media = parts(content);
      add_result(json_text(message, "tool_call_id"), json_text(message, "name"), text_of(content), false,
                 std::move(media));
    } else if (role == "system" || role == "developer") {
      add(Role::kSystem, {TextPart{text_of(content)}});
    } else {
      add(Role::kUser, parts(content));
    }
  }

  std::vector<Part> parts(const Json& content) {
    return parts_of(content, [this](std::vector<Part>& out, const Json& part) {
      const std::string_view type = json_text(part, "type");
      const Json& picture = json_at(part, "image_url");
      const Json& document = json_at(part, "file");
      if (type == "text") {
        out.emplace_back(TextPart{json_string(part, "text")});
      } else if (type == "image_url") {
        out.push_back(image(picture.is_string() ? json_text(part, "image_url") : json_text(picture, "url")));
      } else if (type == "file" && !json_text(document, "file_data").empty()) {
        out.push_back(file(json_text(document, "file_data"), json_string(document, "filename")));
      } else if (type == "document_url") {
        out.push_back(file(json_text(part, "document_url"), json_string(part, "document_name")));
      } else {
        unread(type);
      }
    });
  }
};

class OllamaRequest final : public RequestReader {
 public:
  using RequestReader::RequestReader;
  void read(const Json& body) override {
    for (const Json& message : list_at(body, "messages")) read_message(message);
    for (const Json& tool : list_at(body, "tools")) {
      const Json& function = json_at(tool, "function");
      add_tool(json_text(function, "name"), json_text(function, "description"),
               json_at(function, "parameters"));
    }
  }

 private:
  void read_message(const Json& message) {
    const std::string_view role = json_text(message, "role");
    if (role == "assistant") {
      return add_answer(JsonObject{{"message", message}, {"done", true}, {"done_reason", "stop"}});
    }
    if (role == "tool") {
      return add_result(json_text(message, "tool_call_id"), json_text(message, "tool_name"),
                        text_of(json_at(message, "content")), false);
    }
    std::vector<Part> parts{TextPart{text_of(json_at(message, "content"))}};
    for (const Json& picture : list_at(message, "images")) {
      if (const auto* base64 = picture.if_string()) parts.push_back(image("image/png", *base64));
    }
    add(role == "system" ? Role::kSystem : Role::kUser, std::move(parts));
  }
};

class MessagesRequest final : public RequestReader {
 public:
  using RequestReader::RequestReader;
  void read(const Json& body) override {
    out_.instructions = text_of(json_at(body, "system"));
    for (const Json& message : list_at(body, "messages")) read_message(message);
    for (const Json& tool : list_at(body, "tools")) {
      if (!json_at(tool, "input_schema").is_null())
        add_tool(json_text(tool, "name"), json_text(tool, "description"), json_at(tool, "input_schema"));
    }
  }

 private:
  void read_message(const Json& message) {
    const std::string_view role = json_text(message, "role");
    const Json& content = json_at(message, "content");
    if (role == "assistant") {
      const Json blocks =
          content.is_array() ? content : Json(JsonArray{JsonObject{{"type", "text"}, {"text", content}}});
      return add_answer(JsonObject{
          {"type", "message"}, {"role", "assistant"}, {"content", blocks}, {"stop_reason", "end_turn"}});
    }
    std::vector<Part> words = parts_of(content, [this](std::vector<Part>& out, const Json& block) {
      if (json_text(block, "type") != "tool_result") return read_block(out, block);
      const Json& result = json_at(block, "content");
      std::vector<Part> media =
          parts_of(result, [this](auto& to, const Json& inner) { read_block(to, inner); });
      add_result(json_text(block, "tool_use_id"), {}, text_of(result), json_bool(block, "is_error"),
                 std::move(media));
    });
    add(role == "system" ? Role::kSystem : Role::kUser, std::move(words));
  }

  void read_block(std::vector<Part>& out, const Json& block) {
    const std::string_view type = json_text(block, "type");
    const Json& source = json_at(block, "source");
    const std::string_view kind = json_text(source, "type");
    if (type == "text") {
      out.emplace_back(TextPart{json_string(block, "text")});
    } else if (type == "image" && kind == "base64") {
      out.push_back(image(json_text(source, "media_type"), json_text(source, "data")));
    } else if (type == "image" && kind == "url") {
      out.push_back(image(json_text(source, "url")));
    } else if (type == "document" && kind == "base64") {
      out.push_back(
          file(json_text(source, "media_type"), json_text(source, "data"), json_string(block, "title")));
    } else if (type == "document" && kind == "url") {
      out.push_back(file(json_text(source, "url"), json_string(block, "title")));
    } else if (type == "document" && kind == "text") {
      out.emplace_back(
          FilePart{{json_string(source, "media_type", "text/plain"), json_string(source, "data"), {}},
                   json_string(block, "title"),
                   nullptr});
    } else {
      unread(type);
    }
  }
};

class GeminiRequest final : public RequestReader {
 public:
  using RequestReader::RequestReader;
  void read(const Json& body) override {
    out_.instructions = text_of(json_at(either(body, "systemInstruction", "system_instruction"), "parts"));
    for (const Json& content : list_at(body, "contents")) read_content(content);
    for (const Json& tool : list_at(body, "tools")) {
      const JsonArray* list = either(tool, "functionDeclarations", "function_declarations").if_array();
      if (list == nullptr) continue;
      for (const Json& f : *list) {
        add_tool(json_text(f, "name"), json_text(f, "description"),
                 either(f, "parametersJsonSchema", "parameters"));
      }
    }
  }

 private:
  void read_content(const Json& content) {
    if (json_text(content, "role") == "model") {
      return add_answer(
          JsonObject{{"candidates", JsonArray{JsonObject{{"content", content}, {"finishReason", "STOP"}}}}});
    }
    add(Role::kUser, parts_of(json_at(content, "parts"),
                              [this](std::vector<Part>& out, const Json& part) { read_part(out, part); }));
  }

  void read_part(std::vector<Part>& out, const Json& part) {
    const Json& result = either(part, "functionResponse", "function_response");
    const Json& data = either(part, "inlineData", "inline_data");
    const Json& link = either(part, "fileData", "file_data");
    if (result.is_object()) {
      const Json& response = json_at(result, "response");
      add_result(json_text(result, "id"), json_text(result, "name"), result_text(unwrapped_result(response)),
                 !json_at(response, "error").is_null());
    } else if (data.is_object()) {
      add_media(out, either(data, "mimeType", "mime_type"), json_text(data, "data"), true);
    } else if (link.is_object()) {
      add_media(out, either(link, "mimeType", "mime_type"), result_text(either(link, "fileUri", "file_uri")),
                false);
    } else if (json_at(part, "text").is_string()) {
      out.emplace_back(TextPart{json_string(part, "text")});
    } else {
      unread(part.is_object() && !part.get_object().empty()
                 ? std::string_view(part.get_object().begin()->key())
                 : "part");
    }
  }

  void add_media(std::vector<Part>& out, const Json& type, std::string_view content, bool is_inline) {
    const std::string mime = type.is_string() ? std::string(type.get_string()) : std::string();
    Part part = is_inline ? image(mime, content) : image(content);
    MediaSource source = std::get<ImagePart>(part).source;
    source.mime = mime;
    if (mime.starts_with("image/")) {
      out.emplace_back(ImagePart{std::move(source), nullptr});
    } else {
      out.emplace_back(FilePart{std::move(source), {}, nullptr});
    }
  }
};

class ResponsesRequest final : public RequestReader {
 public:
  using RequestReader::RequestReader;
  void read(const Json& body) override {
    out_.instructions = json_string(body, "instructions");
    if (json_at(body, "input").is_string()) add(Role::kUser, {TextPart{json_string(body, "input")}});
    for (const Json& item : list_at(body, "input")) read_item(item);
    end_turn();
    for (const Json& tool : list_at(body, "tools")) {
      if (json_text(tool, "type") == "function")
        add_tool(json_text(tool, "name"), json_text(tool, "description"), json_at(tool, "parameters"));
    }
  }

 private:
  void read_item(const Json& item) {
    const std::string_view type = json_text(item, "type"), role = json_text(item, "role");
    const Json& content = json_at(item, "content");
    const bool is_output = type == "function_call_output" || type == "custom_tool_call_output";
    if (role == "assistant") {
      JsonObject message = item.get_object();
      message["type"] = "message";
      if (content.is_string())
        message["content"] = JsonArray{JsonObject{{"type", "output_text"}, {"text", content}}};
      turn_.emplace_back(std::move(message));
    } else if (role.empty() && !is_output) {
      turn_.push_back(item);
    } else {
      end_turn();
      if (is_output) return read_output(item);
      add(role == "system" || role == "developer" ? Role::kSystem : Role::kUser, parts(content));
    }
  }

  void read_output(const Json& item) {
    const Json& output = json_at(item, "output");
    add_result(json_text(item, "call_id"), {}, output.is_array() ? text_of(output) : result_text(output),
               false, output.is_array() ? parts(output) : std::vector<Part>{});
  }

  void end_turn() {
    if (turn_.empty()) return;
    add_answer(
        JsonObject{{"object", "response"}, {"status", "completed"}, {"output", std::exchange(turn_, {})}});
  }

  std::vector<Part> parts(const Json& content) {
    return parts_of(content, [this](std::vector<Part>& out, const Json& part) {
      const std::string_view type = json_text(part, "type");
      if (type == "input_text" || type == "output_text" || type == "text") {
        out.emplace_back(TextPart{json_string(part, "text")});
      } else if (type == "input_image" && !json_text(part, "image_url").empty()) {
        out.push_back(image(json_text(part, "image_url")));
      } else if (type == "input_file" && !json_text(part, "file_data").empty()) {
        out.push_back(file(json_text(part, "file_data"), json_string(part, "filename")));
      } else if (type == "input_file" && !json_text(part, "file_url").empty()) {
        out.push_back(file(json_text(part, "file_url"), json_string(part, "filename")));
      } else {
        unread(type);
      }
    });
  }

  JsonArray turn_;  ///< items of an unfinished assistant turn
};

template <class Reader>
RecordedConversation read_with(const RecordedEndpoint& endpoint, const Json& body) {
  Reader reader(endpoint);
  reader.read(body);
  return std::move(reader).take();
}

}  // namespace

RecordedConversation read_request(const RecordedEndpoint& endpoint, const Json& body) {
  if (endpoint.api == "responses") return read_with<ResponsesRequest>(endpoint, body);
  if (endpoint.api == "messages") return read_with<MessagesRequest>(endpoint, body);
  if (endpoint.api == "gemini") return read_with<GeminiRequest>(endpoint, body);
  if (endpoint.api == "ollama") return read_with<OllamaRequest>(endpoint, body);
  return read_with<ChatRequest>(endpoint, body);
}

}  // namespace praxis::wire
