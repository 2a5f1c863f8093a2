#include "app/mcp_library.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/run_list.hpp"
#include "app/transcript.hpp"
#include "app/without_secrets.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kRuns = "praxis://runs/";
constexpr const char* kMarkdown = "text/markdown";
constexpr std::size_t kMostListed = 100;
constexpr std::size_t kRunTitleColumns = 80;

class OfferedRuns {
 public:
  using IsOffered = std::function<bool(const SessionRow& row)>;
  OfferedRuns(const Workspace& workspace, std::shared_ptr<Journal> journal, IsOffered is_offered)
      : workspace_(workspace), journal_(std::move(journal)), is_offered_(std::move(is_offered)) {}

  Result<std::vector<ServedResource>> list() const {
    std::vector<ServedResource> runs;
    const auto read =
        for_each_run(journal_, {}, Sessions::kRoots, system_environment()->now(), [&](const ListedRun& run) {
          if (is_offered_(run.row))
            runs.push_back({std::string(kRuns) + run.row.id.str(), run.row.id.str(),
                            one_line(run.row.title, kRunTitleColumns), kMarkdown});
          return runs.size() < kMostListed;
        });
    if (!read) return fail(read.error());
    return runs;
  }

  Result<std::string> transcript(const std::string& uri) const {
    const auto none = [&] { return fail(ErrorCode::kInput, "there is no resource " + in_quotes(uri)); };
    if (!uri.starts_with(kRuns)) return none();
    const SessionId run(uri.substr(kRuns.size()));
    const auto row = journal_->session(run);
    if (!row && row.error().kind() != ErrorKind::kNotFound) return fail(row.error());
    if (!row || !is_offered_(*row)) return none();
    const auto stored = read_session(journal_, run);
    if (!stored) return fail(stored.error());
    return transcript_markdown(transcript_for_export(stored->records, stored->state, Redactions(workspace_)));
  }

 private:
  const Workspace& workspace_;
  const std::shared_ptr<Journal> journal_;
  const IsOffered is_offered_;
};

/// A variable with its type: `NAME` or `NAME:TYPE`.
ServedPrompt::Argument argument_of(const std::string& variable) {
  const auto colon = variable.find(':');
  const bool is_typed = colon != std::string::npos;
  return {variable.substr(0, colon), is_typed ? "A " + variable.substr(colon + 1) + ", as JSON" : "A text"};
}

ServedPrompt served_prompt(const PromptTemplate& stored) {
  ServedPrompt prompt{stored.id, stored.name, {}};
  std::vector<std::string> variables = stored.required_vars;
  if (stored.engine == PromptEngine::kFString)
    std::ranges::copy(PromptStore::validate(stored.text).variables, std::back_inserter(variables));
  for (const std::string& variable : variables) {
    ServedPrompt::Argument argument = argument_of(variable);
    if (std::ranges::find(prompt.arguments, argument.name, &ServedPrompt::Argument::name) ==
        prompt.arguments.end())
      prompt.arguments.push_back(std::move(argument));
  }
  return prompt;
}

Result<std::vector<ServedPrompt>> read_prompts(const Workspace& workspace) {
  const auto store = open_prompts(workspace);
  if (!store) return fail(store.error());
  const auto all = (*store)->list();
  if (!all) return fail(all.error());
  std::vector<ServedPrompt> prompts;
  std::ranges::transform(*all, std::back_inserter(prompts), served_prompt);
  return prompts;
}

/// Clients send every argument as a text; one with another type is that text as JSON.
Result<JsonObject> typed_arguments(const PromptTemplate& prompt, const Json& arguments) {
  JsonObject values;
  if (const JsonObject* given = arguments.if_object()) values = *given;
  for (const std::string& variable : prompt.required_vars) {
    const auto colon = variable.find(':');
    Json* value = values.if_contains(variable.substr(0, colon));
    if (colon == std::string::npos || value == nullptr || !value->is_string()) continue;
    if (variable.substr(colon + 1) == "string") continue;
    auto parsed = parse_json(value->get_string());
    if (!parsed)
      return fail(ErrorCode::kInput, "the argument " + in_quotes(variable.substr(0, colon)) +
                                         " must be JSON: " + parsed.error().message);
    *value = *std::move(parsed);
  }
  return values;
}

Result<std::string> rendered_prompt(const Workspace& workspace, const std::string& name,
                                    const Json& arguments) {
  const auto store = open_prompts(workspace);
  if (!store) return fail(store.error());
  const auto prompt = (*store)->get(name);
  if (!prompt) return fail(prompt.error());
  if (!*prompt) return fail(ErrorCode::kInput, "there is no prompt " + in_quotes(name));
  const auto values = typed_arguments(**prompt, arguments);
  if (!values) return fail(values.error());
  const auto rendered = (*store)->render(name, *values);
  if (!rendered) return fail(rendered.error());
  return rendered->text;
}

}  // namespace

void offer_runs(McpReading& reading, const Workspace& workspace, std::shared_ptr<Journal> journal,
                std::function<bool(const SessionRow& row)> is_offered) {
  const auto runs = std::make_shared<const OfferedRuns>(workspace, std::move(journal), std::move(is_offered));
  reading.all = {std::string(kRuns) + "{id}", "transcript", "The conversation of a run", kMarkdown};
  reading.resources = [runs] { return runs->list(); };
  reading.read = [runs](const std::string& uri) { return runs->transcript(uri); };
}

void offer_prompts(McpReading& reading, const Workspace& workspace) {
  reading.prompts = [&workspace] { return read_prompts(workspace); };
  reading.prompt = [&workspace](const std::string& name, const Json& arguments) {
    return rendered_prompt(workspace, name, arguments);
  };
}

}  // namespace praxis::app
