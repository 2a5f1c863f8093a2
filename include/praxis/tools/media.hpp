// Builds image and file parts of a message from a path, a URL or bytes. Detects the type from the bytes and
// bounds the size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/domain/message.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The largest size that vendors accept in one request. Checked here, before the upload.
inline constexpr std::size_t kMaxImageBytes = 20 * 1024 * 1024;
inline constexpr std::size_t kMaxFileBytes = 32 * 1024 * 1024;

/// The MIME type according to the first bytes: PNG, JPEG, GIF, WebP or PDF; empty for anything else.
std::string_view media_type(std::string_view bytes);

/// An image part. Error `kInput`: not one of the four image types, or too large. `name` is used in messages.
Result<ImagePart> image_of(std::string bytes, std::string_view name);
/// An image part from a file. Error `kInput` also if the file cannot be read.
Result<ImagePart> image_file(const std::string& path);
/// A part from a PDF or text file. Error `kInput`: the file cannot be read, has another type, or is too
/// large.
Result<FilePart> file_part(const std::string& path);

/// The part for a path or a URL: an image, a PDF, or the text of a file under its name. A URL (`http://`,
/// `https://`) is not fetched here but passed to the vendor; it counts as an image unless it ends in `.pdf`.
/// Errors as above.
Result<Part> attachment(const std::string& place);

}  // namespace praxis
#pragma GCC visibility pop
