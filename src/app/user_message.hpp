// What goes with a message of a user: the text of files that it names as `@path`, each as a block of its own
// under its path, an image as an image, and the output of commands that the user ran. The same on every
// surface where a person writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/domain/message.hpp"

namespace praxis::app {

inline constexpr std::size_t kMostMentionedFiles = 20;
/// Of one file; a longer text is cut at the end of a line, and its block says so.
inline constexpr std::size_t kMostMentionedBytes = std::size_t{256} << 10U;
inline constexpr std::size_t kMostMentionedTotal = std::size_t{1} << 20U;

/// Whether the `@` at a place of the text can begin a mention: it stands at the start of a word.
bool may_begin_mention(std::string_view text, std::size_t at);
/// `@path`, or `@"a path"` if it has blanks or quotes.
std::string mention_of(std::string_view path);

/// The message with the files that its text names: the images, the text, then a block for each file. Paths
/// are relative to the current folder, absolute, or begin with `~/`; a word that names no file stays text.
/// Errors `kInput`, with the file: it cannot be read, is neither text nor an image, may hold secrets
/// (`.env`), or is beyond a bound.
Result<Message> message_with_files(std::string text);

/// The block of a command that the user ran, for the end of a message. `how` says how it ended, such as
/// `exit 0`; `output` is valid text.
std::string command_block(std::string_view command, std::string_view how, std::string_view output);

/// A message as a person reads it.
struct ReadableMessage {
  std::string text;                   ///< without the blocks
  std::vector<std::string> attached;  ///< of each block the path or the command, with its size
  std::vector<std::string> commands;  ///< the whole blocks of commands
};
/// Takes the blocks at the end of a text apart. A text without whole blocks is returned unchanged.
ReadableMessage readable_message(std::string_view text);

}  // namespace praxis::app
