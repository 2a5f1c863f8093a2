// The user message of a turn, from the arguments and standard input, and the schema of its answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "praxis/domain/message.hpp"

namespace praxis::cli {

/// The message of `prompt`, which is read from standard input if it is `-`. What a pipe, socket or file on
/// standard input holds in addition to another prompt follows it as a block of its own, between `<stdin>` and
/// `</stdin>`; a terminal or device is not read. Waits for the end of that input; if nothing arrives within
/// a second, it says on standard error what it waits for. Error `kInput`: the prompt is empty, or the input
/// is unreadable, no UTF-8 text, or larger than 64 MiB.
Result<Message> read_message(const std::string& prompt, Console& console);

/// The JSON Schema of the answer in a file; null without a file. Error `kInput` names the file and the
/// position.
Result<Json> read_schema(const std::string& file);

}  // namespace praxis::cli
