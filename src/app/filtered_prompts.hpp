// The prompts of a user, with the content filters of the configuration at `prompt`.
#pragma once

#include <memory>
#include <vector>

#include "praxis/policy/policy.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis::app {

/// A store whose new versions the filters of these layers read: what they redact is stored so, and the
/// version names them in `metadata.redacted_by`; a version that they deny is an error `kPolicy`. Returns
/// `store` itself if the layers have no such filters.
std::shared_ptr<PromptStore> filtered_prompts(std::shared_ptr<PromptStore> store,
                                              std::shared_ptr<TemplateEngines> engines,
                                              const std::vector<PolicyRules>& layers);

}  // namespace praxis::app
