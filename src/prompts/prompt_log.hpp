// Where the changes of a prompt store are kept. The store is the fold of its changes: nothing is ever
// replaced.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis {

/// Used by one thread at a time.
class PromptLog {
 public:
  /// Gets the changes that this log has not yet given, each as JSON text.
  using Take = std::function<Status(std::string_view change)>;
  /// Decides, when all earlier changes were taken, what is appended; nothing: no change.
  using Decide = std::function<Result<std::optional<std::string>>()>;

  virtual ~PromptLog() = default;
  /// Gives the changes that others appended since the last call.
  virtual Status refresh(const Take& take) = 0;
  /// Appends what `decide` returns, durably, while no other process can append; it is given to `take` too.
  virtual Status append(const Take& take, const Decide& decide) = 0;
};

std::shared_ptr<PromptStore> store_of(std::unique_ptr<PromptLog> log, PromptStoreOptions options);

/// The digest of what can be put.
std::string hash_of_prompt(const PromptTemplate& prompt);
Status check_prompt_id(const std::string& id);
/// Error `kInput`: says what is wrong with the id, text or variables. `engines` may be null.
Status check_prompt(const PromptTemplate& prompt, TemplateEngines* engines);
Result<PromptTemplate> prompt_from_json(const Json& json);

}  // namespace praxis
