// Template engines besides that of `{name}`: Mustache, Handlebars and Liquid.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"
#include "praxis/prompts/prompt_store.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Finds the text of a partial by its name; `std::nullopt` if it is missing.
using PartialSource = std::function<Result<std::optional<std::string>>(const std::string& name)>;

/// Implementations are thread-safe. Errors: `kInput` for a template that is invalid, names a partial that is
/// missing, or needs more time, memory or room than it may; `kTool` if the engines cannot be started.
class TemplateEngines {
 public:
  virtual ~TemplateEngines() = default;
  /// Renders a template of an engine other than `kFString` with the members of a JSON object.
  virtual Result<std::string> render(PromptEngine engine, const std::string& text, const Json& values,
                                     const PartialSource& partial) = 0;
  /// What is wrong with a text, and the variables that it names.
  virtual Result<PromptCheck> check(PromptEngine engine, const std::string& text) = 0;
};

/// The engines as their authors wrote them, in a program of its own that is started at the first use: it
/// reaches no file, network or clock, and the kernel ends it when a template takes 2 s of processor time or
/// 256 MiB. `date: "now"` is the time of `environment` (null: the system's). Component `tools`.
std::shared_ptr<TemplateEngines> javascript_templates(std::shared_ptr<Environment> environment = nullptr);

}  // namespace praxis
#pragma GCC visibility pop
