#include "protocols/acp_content.hpp"

#include <utility>

#include "praxis/base/base64.hpp"

namespace praxis::protocols {
namespace {

std::unexpected<Error> no_block(const std::string& why) { return fail(ErrorCode::kInput, "prompt: " + why); }

Result<Part> image_of(const Json& block) {
  MediaSource source{json_string(block, "mimeType"), {}, {}};
  auto bytes = base64_decode(json_string(block, "data"));
  if (!bytes || bytes->empty()) return no_block("the data of an image is not base64");
  source.data = *std::move(bytes);
  if (!source.mime.starts_with("image/")) return no_block("an image needs a \"mimeType\" of an image");
  return ImagePart{std::move(source), nullptr};
}

/// The last part of an address, for a file without another name.
std::string name_of_address(const std::string& uri) {
  const std::string path = uri.substr(0, uri.find_first_of("?#"));
  return path.substr(path.rfind('/') + 1);
}

Result<Part> resource_of(const Json& resource) {
  const std::string uri = json_string(resource, "uri"), mime = json_string(resource, "mimeType");
  if (json_at(resource, "text").is_string()) {
    std::string text = "\n<resource uri=\"" + uri + "\">\n" + json_string(resource, "text");
    if (!text.ends_with('\n')) text += '\n';
    return TextPart{text + "</resource>\n", nullptr, {}};
  }
  auto bytes = base64_decode(json_string(resource, "blob"));
  if (!bytes || bytes->empty()) return no_block("a resource needs \"text\", or a \"blob\" in base64");
  MediaSource source{mime, *std::move(bytes), {}};
  if (mime.starts_with("image/")) return ImagePart{std::move(source), nullptr};
  if (mime == "application/pdf") return FilePart{std::move(source), name_of_address(uri), nullptr};
  return no_block("the resource " + uri + " is neither text, nor an image, nor a PDF");
}

Result<Part> part_of(const Json& block) {
  const std::string type = json_string(block, "type");
  if (type == "text") return TextPart{json_string(block, "text"), nullptr, {}};
  if (type == "image") return image_of(block);
  if (type == "resource") return resource_of(json_at(block, "resource"));
  if (type == "resource_link") {
    const std::string uri = json_string(block, "uri");
    const std::string name = json_string(block, "name", name_of_address(uri));
    return TextPart{'[' + name + "](" + uri + ')', nullptr, {}};
  }
  return no_block("a block of the type \"" + type + "\" is not supported");
}

}  // namespace

Result<Message> acp_prompt(const Json& blocks) {
  Message message;
  message.role = Role::kUser;
  const JsonArray* all = blocks.if_array();
  if (all == nullptr || all->empty()) return no_block("there is no content");
  for (const Json& block : *all) {
    auto part = part_of(block);
    if (!part) return fail(std::move(part.error()));
    // Text and the links in it are one text for the user, and so for the model.
    auto* const text = std::get_if<TextPart>(&*part);
    auto* const before = message.parts.empty() ? nullptr : std::get_if<TextPart>(&message.parts.back());
    if (text != nullptr && before != nullptr) {
      before->text += text->text;
    } else {
      message.parts.push_back(*std::move(part));
    }
  }
  return message;
}

Json acp_text(std::string text) { return JsonObject{{"type", "text"}, {"text", std::move(text)}}; }

Json acp_image(const ImagePart& image) {
  if (image.source.data.empty()) return nullptr;
  return JsonObject{
      {"type", "image"}, {"mimeType", image.source.mime}, {"data", base64_encode(image.source.data)}};
}

JsonArray acp_blocks(const Message& message) {
  JsonArray blocks;
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<TextPart>(&part)) blocks.push_back(acp_text(text->text));
    if (const auto* file = std::get_if<FilePart>(&part)) {
      const std::string name = file->name.empty() ? "file" : file->name;
      const std::string uri = file->source.url.empty() ? "attachment:" + name : file->source.url;
      blocks.push_back(JsonObject{{"type", "resource_link"}, {"name", name}, {"uri", uri}});
    }
    if (const auto* image = std::get_if<ImagePart>(&part)) {
      Json block = acp_image(*image);
      if (!block.is_null()) blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

}  // namespace praxis::protocols
