#include "praxis/tools/tool.hpp"

#include <algorithm>
#include <exception>

#include "base/trimmed.hpp"
#include "json/repeated_key.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {

namespace {

std::unexpected<Error> tool_error(ErrorKind kind, std::string message) {
  return fail(ErrorCode::kTool, kind, std::move(message));
}

std::unexpected<Error> unknown_tool(std::string_view name, const std::vector<Tool>& tools) {
  std::string message = "unknown tool \"" + repair_utf8(name) + "\"";
  std::vector<std::string> names;
  for (const Tool& tool : tools) names.push_back(tool.definition.name);
  if (auto meant = closest(name, names)) {
    message += "; did you mean \"" + *meant + "\"?";
  } else if (names.empty()) {
    message += "; this agent has no tools";
  } else {
    message += "; the tools are: " + names.front();
    for (std::size_t i = 1; i < names.size(); ++i) message += ", " + names[i];
  }
  return tool_error(ErrorKind::kNotFound, std::move(message));
}

/// Whether a call has no arguments: models may send an empty text, white space or null.
bool means_no_arguments(std::string_view text) {
  text = trimmed(text);
  return text.empty() || text == "null";
}

std::unexpected<Error> invalid_arguments(const std::string& tool, const std::string& problems) {
  return tool_error(ErrorKind::kInvalidArguments, "invalid arguments for \"" + tool + "\": " + problems);
}

}  // namespace

ToolSpec spec_of(const Tool& tool) {
  return {tool.definition, tool.retries, tool.fatal_errors, tool.result_from, tool.retry_delay};
}

Tool Tool::needs_approval() const {
  Tool careful = *this;
  careful.definition.needs_approval = true;
  return careful;
}

Tool Tool::needs_approval(ApprovalPredicate when) const {
  Tool careful = *this;
  careful.approval_when = std::move(when);
  return careful;
}

bool Tool::asks_approval_of(std::string_view arguments) const {
  if (!approval_when) return false;
  const auto json = parse_json(arguments.empty() ? "{}" : arguments);
  if (!json) return true;
  try {
    return approval_when(*json);
  } catch (...) {
    return true;
  }
}

void ToolContext::progress(std::string text, std::optional<double> fraction) const {
  if (scope) scope->progress(std::move(text), fraction);
}

Json to_json(const MemoryChange& change) {
  return {{"store", change.store}, {"key", change.key}, {"operation", change.operation}};
}

std::unexpected<Error> fail_authorisation(std::string prompt) {
  return tool_error(ErrorKind::kAuthorisation, std::move(prompt));
}

std::unexpected<Error> fail_question(std::string prompt, Json schema, Json state) {
  Error error = make_error(ErrorCode::kTool, ErrorKind::kAuthorisation, std::move(prompt));
  error.set_value("question", JsonObject{{"schema", std::move(schema)}, {"state", std::move(state)}});
  return fail(std::move(error));
}

Status ToolSet::add(Tool tool) {
  if (auto status = check(tool.definition); !status) return status;
  const std::string& name = tool.definition.name;
  if (find(name) != nullptr) {
    return fail(ErrorCode::kInput, "there are two tools named \"" + name + "\"; rename one of them");
  }
  if (!tool.handler) return fail(ErrorCode::kInput, "tool \"" + name + "\" has no handler");
  auto schema = JsonSchema::compile(tool.definition.parameters);
  if (!schema) {
    return fail(ErrorCode::kInput, "tool \"" + name + "\" has an unusable schema: " + schema.error().message);
  }
  auto definitions = definitions_ ? *definitions_ : std::vector<ToolDefinition>{};
  definitions.push_back(tool.definition);
  definitions_ = std::make_shared<const std::vector<ToolDefinition>>(std::move(definitions));
  schemas_.push_back(std::move(*schema));
  tools_.push_back(std::move(tool));
  return {};
}

const Tool* ToolSet::find(std::string_view name) const {
  const auto found = std::ranges::find(
      tools_, name, [](const Tool& tool) { return std::string_view(tool.definition.name); });
  return found == tools_.end() ? nullptr : &*found;
}

Result<Json> ToolSet::arguments(std::string_view name, std::string_view text) const {
  const Tool* tool = find(name);
  if (tool == nullptr) return unknown_tool(name, tools_);
  auto json = means_no_arguments(text) ? Result<Json>(JsonObject{}) : parse_json(text);
  if (!json) return invalid_arguments(tool->definition.name, json.error().message);
  if (const auto key = repeated_key(text, *json))
    return invalid_arguments(tool->definition.name, repeated_key_problem(*key));
  const auto problems = schemas_[static_cast<std::size_t>(tool - tools_.data())].validate(*json);
  if (problems.empty()) return json;
  std::string listed;
  for (const SchemaProblem& problem : problems) {
    listed +=
        (listed.empty() ? "" : "; ") + (problem.path.empty() ? "" : problem.path + " ") + problem.message;
  }
  return invalid_arguments(tool->definition.name, listed);
}

Result<ToolOutput> ToolSet::execute(ToolContext& context, std::string_view name, std::string_view text,
                                    const Runner& runner) const {
  auto json = arguments(name, text);
  if (!json) return fail(std::move(json.error()));
  const auto failed = [&](std::string_view why) {
    return tool_error(ErrorKind::kException,
                      "tool \"" + std::string(name) + "\" failed: " + repair_utf8(why));
  };
  try {
    const Tool& tool = *find(name);
    auto output = runner ? runner(context, tool, *json) : tool.handler(context, *json);
    if (output) output->text = repair_utf8(output->text);
    return output;
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("it threw an exception that is not a std::exception");
  }
}

}  // namespace praxis
