#include "praxis/tools/media.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/json/json.hpp"

namespace praxis {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kPdf = "application/pdf";
constexpr std::string_view kText = "text/plain";

std::string in_quotes(std::string_view name) { return '"' + std::string(name) + '"'; }

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::unexpected<Error> too_large(std::string_view name, std::size_t bytes, std::size_t most) {
  return fail(ErrorCode::kInput, in_quotes(name) + " has " + std::to_string(bytes) + " bytes; at most " +
                                     std::to_string(most / (1024 * 1024)) + " MiB can be sent to a model");
}

Result<std::string> bytes_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return fail(ErrorCode::kInput, "cannot read " + in_quotes(path) + ": " + error.message());
  if (!std::filesystem::is_regular_file(status)) {
    return fail(ErrorCode::kInput, "cannot read " + in_quotes(path) + ": it is not a regular file");
  }
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxFileBytes) return too_large(path, size, kMaxFileBytes);
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::kInput, "cannot read " + in_quotes(path) + ": " + std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool is_text(std::string_view bytes) {
  return is_valid_utf8(bytes) && bytes.find('\0') == std::string_view::npos;
}

std::unexpected<Error> no_file(std::string_view name) {
  return fail(ErrorCode::kInput,
              in_quotes(name) + " is neither a PDF nor UTF-8 text; models cannot read other files");
}

Result<FilePart> file_of(std::string bytes, const std::string& path) {
  const std::string_view type = media_type(bytes) == kPdf ? kPdf : is_text(bytes) ? kText : "";
  if (type.empty()) return no_file(path);
  return FilePart{{std::string(type), std::move(bytes), {}}, base_name(path), nullptr};
}

Part linked(const std::string& url) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEndings{{{".png", "image/png"},
                                                                                   {".jpg", "image/jpeg"},
                                                                                   {".jpeg", "image/jpeg"},
                                                                                   {".gif", "image/gif"},
                                                                                   {".webp", "image/webp"}}};
  const std::string path = lower_case(std::string_view(url).substr(0, url.find_first_of("?#")));
  if (path.ends_with(".pdf")) {
    return FilePart{{std::string(kPdf), {}, url}, path.substr(path.rfind('/') + 1), nullptr};
  }
  const auto known = std::ranges::find_if(kEndings, [&](const auto& e) { return path.ends_with(e.first); });
  return ImagePart{{std::string(known == kEndings.end() ? "" : known->second), {}, url}, nullptr};
}

}  // namespace

std::string_view media_type(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff"sv)) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  if (bytes.starts_with("%PDF-")) return kPdf;
  return {};
}

Result<ImagePart> image_of(std::string bytes, std::string_view name) {
  const std::string_view type = media_type(bytes);
  if (!type.starts_with("image/")) {
    return fail(ErrorCode::kInput,
                in_quotes(name) + " is not an image that models accept (PNG, JPEG, GIF or WebP)");
  }
  if (bytes.size() > kMaxImageBytes) return too_large(name, bytes.size(), kMaxImageBytes);
  return ImagePart{{std::string(type), std::move(bytes), {}}, nullptr};
}

Result<ImagePart> image_file(const std::string& path) {
  auto bytes = bytes_of(path);
  if (!bytes) return fail(bytes.error());
  return image_of(*std::move(bytes), path);
}

Result<FilePart> file_part(const std::string& path) {
  auto bytes = bytes_of(path);
  if (!bytes) return fail(bytes.error());
  return file_of(*std::move(bytes), path);
}

Result<Part> attachment(const std::string& place) {
  if (place.starts_with("https://") || place.starts_with("http://")) return linked(place);
  if (place.contains("://"))
    return fail(ErrorCode::kInput, in_quotes(place) + " is neither a file nor an http or https URL");
  auto bytes = bytes_of(place);
  if (!bytes) return fail(bytes.error());
  if (media_type(*bytes).starts_with("image/")) {
    auto image = image_of(*std::move(bytes), place);
    if (!image) return fail(image.error());
    return *std::move(image);
  }
  auto file = file_of(*std::move(bytes), place);
  if (!file) return fail(file.error());
  if (file->source.mime == kPdf) return *std::move(file);
  // Every model accepts text; few accept text files.
  return TextPart{"File \"" + file->name + "\":\n" + file->source.data, nullptr};
}

}  // namespace praxis
