// Prompts of servers as commands of the user: `/SERVER:PROMPT ARGUMENTS...`.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/runtime/user_prompts.hpp"

namespace praxis::app {

using PromptSources = std::vector<std::shared_ptr<PromptSource>>;

/// The arguments that words give to a prompt: `NAME=VALUE` by name, other words in the order of the prompt's
/// arguments, the last of which takes all words that are left. Error `kInput`: an argument is missing, or
/// there is one too many.
Result<JsonObject> prompt_arguments(const OfferedPrompt& prompt, const std::vector<std::string>& words);
/// What the prompt takes, such as `ISSUE [LANGUAGE]`; safe to display.
std::string prompt_usage(const OfferedPrompt& prompt);
/// The text of the prompt `SERVER:PROMPT`. Blocks. Errors: `kInput`, there is no such prompt or the words do
/// not fit it; those of the server.
Result<std::string> prompt_text(std::string_view name, const std::vector<std::string>& words,
                                const PromptSources& sources, const std::stop_token& stop);

/// Whether a message is the command of a prompt of one of these servers.
bool names_prompt(std::string_view message, const PromptSources& sources);
/// The text that such a message stands for. Quotes, double or single, keep words together. Blocks. Errors: as
/// `prompt_text`; `kInput`, a quote has no end.
Result<std::string> filled_prompt(std::string_view message, const PromptSources& sources,
                                  const std::stop_token& stop);
/// The prompts of all servers; one that cannot be reached has none. Blocks.
std::vector<OfferedPrompt> offered_prompts(const PromptSources& sources, const std::stop_token& stop);

}  // namespace praxis::app
