// Hides the secrets that were handed out to tools from what tools give, before the journal and the model get
// it.
#pragma once

#include <memory>

#include "app/secret_broker.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/user_prompts.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::app {

/// The tool with results, errors and progress in which each value that `secrets` has handed out is `[key]`,
/// in text and structured value. Images and files stay. The tool itself if there are no secrets (`secrets`
/// may be null), or if it waits for sub-agents, whose own tools are hidden like this.
Tool hiding_secrets(Tool tool, const std::shared_ptr<SecretBroker>& secrets);
/// The same for each tool of a list, for their descriptions, and for the reason why there is no list.
ToolSource hiding_secrets(ToolSource source, std::shared_ptr<SecretBroker> secrets);
/// The same for the texts of prompts.
std::shared_ptr<PromptSource> hiding_secrets(std::shared_ptr<PromptSource> source,
                                             std::shared_ptr<SecretBroker> secrets);

}  // namespace praxis::app
