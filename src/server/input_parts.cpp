#include "server/input_parts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "praxis/base/base64.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/tools/media.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

constexpr std::string_view kBase64 = ";base64,";
constexpr std::size_t kMostInputParts = 256;

bool is_address(std::string_view url) { return url.starts_with("https://") || url.starts_with("http://"); }

Error wrong_part(const std::string& param, const std::string& why) {
  return field_error(param, "has an image or file that " + why);
}

/// What the bytes are is read from them, not from what the URL says.
Result<Part> part_of_bytes(std::string bytes, const std::string& name, const std::string& param) {
  const std::string_view type = media_type(bytes);
  if (type.starts_with("image/")) {
    auto image = image_of(std::move(bytes), name.empty() ? "the image" : name);
    if (!image) return fail(wrong_part(param, "cannot be sent: " + image.error().message));
    return Part(*std::move(image));
  }
  if (bytes.size() > kMaxFileBytes) return fail(wrong_part(param, "is larger than 32 MiB"));
  const std::string shown = name.empty() ? "file" : name;
  if (!type.empty()) return Part(FilePart{{std::string(type), std::move(bytes), {}}, shown, nullptr});
  if (!is_valid_utf8(bytes) || bytes.contains('\0'))
    return fail(wrong_part(
        param, "is of a kind that models do not read; they read PNG, JPEG, GIF, WebP, PDF or UTF-8 text"));
  // Every model accepts text; few accept text files.
  return Part(TextPart{"File \"" + shown + "\":\n" + bytes, nullptr});
}

/// What an image or file of either format gives: an address, data, or an id of a store that is not here.
struct Given {
  std::string url, name;
};

Result<Given> given_image(const Json& part, const std::string& param) {
  const Json& image = json_at(part, "image_url");
  if (!json_string(part, "file_id").empty()) return fail(wrong_part(param, "is named by file_id"));
  return Given{image.is_object() ? json_string(image, "url") : json_string(part, "image_url"), ""};
}

Result<Given> given_file(const Json& part, const std::string& param) {
  const Json& nested = json_at(part, "file");
  const Json& file = nested.is_object() ? nested : part;
  if (!json_string(file, "file_id").empty()) return fail(wrong_part(param, "is named by file_id"));
  std::string url = json_string(file, "file_url");
  if (const std::string data = json_string(file, "file_data"); !data.empty())
    url = data.starts_with("data:") ? data : "data:" + std::string(kBase64) + data;
  return Given{std::move(url), json_string(file, "filename")};
}

Result<Part> part_of(const Json& part, const std::string& param) {
  const std::string type = json_string(part, "type");
  if (type == "text" || type == "input_text" || type == "output_text")
    return Part(TextPart{json_string(part, "text"), nullptr});
  const bool is_image = type == "image_url" || type == "input_image";
  if (!is_image && type != "file" && type != "input_file")
    return fail(field_error(param, "has a part of type \"" + type + "\", which is not supported here"));
  auto given = is_image ? given_image(part, param) : given_file(part, param);
  if (!given) return fail(given.error());
  auto made = media_part(given->url, given->name, param);
  if (made && is_image && !std::holds_alternative<ImagePart>(*made))
    return fail(wrong_part(param, "is not an image (PNG, JPEG, GIF or WebP)"));
  return made;
}

std::string url_of(const MediaSource& source) {
  if (!source.url.empty()) return source.url;
  return "data:" + source.mime + std::string(kBase64) + base64_encode(source.data);
}

}  // namespace

Result<std::vector<Part>> input_parts(const Json& content, const std::string& param) {
  std::vector<Part> parts;
  if (content.is_null()) return parts;
  if (content.is_string()) {
    if (std::string text = to_plain_text(content); !text.empty())
      parts.emplace_back(TextPart{std::move(text), nullptr});
    return parts;
  }
  const auto* list = content.if_array();
  if (list == nullptr) return fail(field_error(param, "must be a string or a list of parts"));
  if (list->size() > kMostInputParts) return fail(field_error(param, "has more than 256 parts"));
  for (const Json& each : *list) {
    auto part = part_of(each, param);
    if (!part) return fail(part.error());
    const auto* text = std::get_if<TextPart>(&*part);
    if (text == nullptr || !text->text.empty()) parts.push_back(*std::move(part));
  }
  return parts;
}

Result<Part> media_part(const std::string& url, const std::string& name, const std::string& param) {
  if (is_address(url)) {
    auto linked = attachment(url);
    if (!linked) return fail(wrong_part(param, "cannot be sent: " + linked.error().message));
    return linked;
  }
  const std::size_t comma = url.find(kBase64);
  if (!url.starts_with("data:") || comma == url.npos)
    return fail(
        wrong_part(param, "is neither a data URL in base64 nor an address that begins with https://"));
  auto bytes = base64_decode(std::string_view(url).substr(comma + kBase64.size()));
  if (!bytes) return fail(wrong_part(param, "is not valid base64"));
  if (bytes->empty()) return fail(wrong_part(param, "is empty"));
  return part_of_bytes(*std::move(bytes), name, param);
}

Json input_part_json(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part))
    return JsonObject{{"type", "input_text"}, {"text", text->text}};
  if (const auto* image = std::get_if<ImagePart>(&part))
    return JsonObject{{"type", "input_image"}, {"detail", "auto"}, {"image_url", url_of(image->source)}};
  if (const auto* file = std::get_if<FilePart>(&part)) {
    const char* const key = file->source.url.empty() ? "file_data" : "file_url";
    return JsonObject{{"type", "input_file"}, {"filename", file->name}, {key, url_of(file->source)}};
  }
  return nullptr;
}

bool is_text_only(const std::vector<Part>& parts) {
  return std::ranges::all_of(parts, [](const Part& p) { return std::holds_alternative<TextPart>(p); });
}

}  // namespace praxis::server
