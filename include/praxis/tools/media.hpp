// Images and files as parts of a message: from a path, an address or bytes, with the type found in the bytes
// themselves and a bound on their size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/domain/message.hpp"

namespace praxis {

/// What vendors take in one request; larger ones are an error here and not after the upload.
inline constexpr std::size_t kMaxImageBytes = 20 * 1024 * 1024;
inline constexpr std::size_t kMaxFileBytes = 32 * 1024 * 1024;

/// The MIME type that the first bytes tell: of PNG, JPEG, GIF, WebP or PDF; empty for anything else.
std::string_view media_type(std::string_view bytes);

/// An image. Errors `kInput`: not one of the four types, or too large; `name` is for messages.
Result<ImagePart> image_of(std::string bytes, std::string_view name);
/// The same from a file; also when it cannot be read.
Result<ImagePart> image_file(const std::string& path);
/// A PDF or text file. Errors `kInput`: it cannot be read, is of another type, or too large.
Result<FilePart> file_part(const std::string& path);

/// What a message can carry of a path, or of an address that begins with `http://` or `https://`: an image, a
/// PDF, or the text of a file under its name. An address is not fetched here but handed on; it counts as an
/// image unless it ends in `.pdf`. Errors as above.
Result<Part> attachment(const std::string& place);

}  // namespace praxis
