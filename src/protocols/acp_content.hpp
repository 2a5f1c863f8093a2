// The content of prompts and answers in the Agent Client Protocol, version 1: blocks of text, images and
// resources. Pure.
#pragma once

#include <string>

#include "praxis/domain/message.hpp"
#include "praxis/json/json.hpp"

namespace praxis::protocols {

/// The message of a user that the blocks of `session/prompt` say. A resource that comes with the prompt
/// becomes text with its address; a link stays an address, which the agent reads with its own tools. Error
/// `kInput`: no content, a block of a kind that the agent did not offer, or bytes that are not base64.
Result<Message> acp_prompt(const Json& blocks);

/// A block of text.
Json acp_text(std::string text);
/// A block with an image; null for one that is known by its address only.
Json acp_image(const ImagePart& image);
/// The blocks of a message that a user wrote.
JsonArray acp_blocks(const Message& message);

}  // namespace praxis::protocols
