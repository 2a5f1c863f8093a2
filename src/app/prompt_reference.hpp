// The keys `prompt` and `[prompt_variables]` of an agent file.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"

namespace praxis::app {

/// `ID` or `ID@VERSION`, where the version may be a label.
std::pair<std::string, std::string> split_prompt_reference(const std::string& reference);

/// Instructions that come from a prompt, and what is recorded about it: id, version, hash, and a digest of
/// each variable.
struct PromptedInstructions {
  std::string text;
  Json record;
};
/// `std::nullopt` if the file names no prompt. Error `kInput`.
Result<std::optional<PromptedInstructions>> prompted_instructions(const TomlDocument& document,
                                                                  const AgentFileOptions& options);

/// The metadata of an agent with the record of its prompt; without one, only a record that the file made up
/// is removed.
Json with_prompt(Json metadata, const Json& record);

}  // namespace praxis::app
