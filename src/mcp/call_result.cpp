// The content of a result, taken over within the bounds.
#include <algorithm>
#include <array>
#include <utility>

#include "mcp/connection.hpp"
#include "mcp/tool_list.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr std::array<std::string_view, 4> kImageTypes{"image/png", "image/jpeg", "image/gif", "image/webp"};
constexpr std::size_t kMaxShownUri = 500;

class ContentReader {
 public:
  explicit ContentReader(const McpBounds& bounds) : bounds_(bounds) {}

  void add(const Json& item) {
    const std::string type = json_string(item, "type");
    if (type == "text") return add_text(json_text(item, "text"));
    if (type == "image") return add_image(item);
    if (type == "resource_link") return add_text("[resource " + uri_of(item) + ']');
    if (type == "resource") return add_resource(json_at(item, "resource"));
    add_text("[content of type \"" + mcp_shown(type, 40) + "\", which is not passed on]");
  }

  void add_text(std::string_view text) {
    if (!result_.text.empty()) take("\n");
    take(text);
  }

  McpResult finish() {
    if (left_out_ != 0) result_.text += "\n[" + std::to_string(left_out_) + " bytes left out]";
    return std::move(result_);
  }

 private:
  void take(std::string_view text) {
    const std::size_t room = bounds_.result_bytes - std::min(bounds_.result_bytes, result_.text.size());
    result_.text += repair_utf8(text.substr(0, room));
    left_out_ += text.size() - std::min(room, text.size());
  }

  static std::string uri_of(const Json& resource) {
    return mcp_shown(json_text(resource, "uri"), kMaxShownUri);
  }

  void add_image(const Json& item) {
    const std::string type = json_string(item, "mimeType");
    auto bytes = base64_decode(json_text(item, "data"));
    const bool is_known = std::ranges::find(kImageTypes, type) != kImageTypes.end();
    if (!bytes || bytes->empty() || !is_known || result_.images.size() >= bounds_.images)
      return add_text("[an image that is not passed on: of an unknown type, invalid, or one too many]");
    result_.images.push_back({{.mime = type, .data = *std::move(bytes), .url = {}}, nullptr});
  }

  void add_resource(const Json& resource) {
    add_text("[resource " + uri_of(resource) + ']');
    const Json& text = json_at(resource, "text");
    if (text.is_string()) return add_text(text.get_string());
    add_text("[" + std::to_string(json_text(resource, "blob").size()) +
             " characters of base64, not passed on]");
  }

  const McpBounds& bounds_;
  McpResult result_;
  std::size_t left_out_ = 0;
};

}  // namespace

Result<McpResult> read_mcp_result(const Json& result, const McpBounds& bounds) {
  const std::string type = json_string(result, "resultType", "complete");
  if (type != "complete") {
    return fail(
        ErrorCode::kTool, ErrorKind::kProtocol,
        "the tool asks for further input (\"" + mcp_shown(type, 40) + "\"), which this client does not give");
  }
  const JsonArray* content = json_at(result, "content").if_array();
  const Json& structured = json_at(result, "structuredContent");
  if (content == nullptr && structured.is_null())
    return fail(ErrorCode::kTool, ErrorKind::kProtocol, "the server's result has no \"content\"");
  ContentReader reader(bounds);
  for (const Json& item : content != nullptr ? *content : JsonArray{}) reader.add(item);
  const std::string text = structured.is_null() ? std::string() : to_json_text(structured);
  if (!text.empty() && (content == nullptr || content->empty())) reader.add_text(text);
  McpResult made = reader.finish();
  if (text.size() <= bounds.result_bytes) made.value = structured;
  made.is_error = json_bool(result, "isError");
  return made;
}

}  // namespace praxis
