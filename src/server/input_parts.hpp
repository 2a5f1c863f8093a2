// Text, images and files in the messages that clients of OpenAI's formats send, as parts of our messages.
#pragma once

#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server {

/// The content of a message of the user: a string, or a list of parts in the form of Chat Completions
/// (`text`, `image_url`, `file`) or of Responses (`input_text`, `input_image`, `input_file`). Empty texts are
/// left out. Errors `kInput` name `param`: another type of part; an image or file that models do not read, is
/// too large or is named by an id.
Result<std::vector<Part>> input_parts(const Json& content, const std::string& param);
/// An image, a PDF or the text of a file from a data URL. An address (`http`, `https`) is not fetched here
/// but passed to the vendor. `name` is that of the file. Errors as above.
Result<Part> media_part(const std::string& url, const std::string& name, const std::string& param);
/// A part of a message as Responses shows it in a list of input items; null for what has no form there.
Json input_part_json(const Part& part);
/// Whether a message has nothing but text.
bool is_text_only(const std::vector<Part>& parts);

}  // namespace praxis::server
