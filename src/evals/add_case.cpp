#include "evals/add_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "evals/suite.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

/// A string of TOML; the escapes of JSON are among those of TOML.
std::string toml_string(std::string_view text) {
  constexpr std::string_view kDelete = "\x7f";  // JSON allows it unescaped, TOML does not
  std::string quoted = to_json_text(Json(text));
  for (auto at = quoted.find(kDelete); at != std::string::npos; at = quoted.find(kDelete, at))
    quoted.replace(at, 1, "\\u007F");
  return quoted;
}

/// The user's first prompt. Error `kInput`: the run has no prompt, or one with parts other than text.
Result<std::string> prompt_of(const std::vector<StoredRecord>& records) {
  for (const StoredRecord& stored : records) {
    const auto* const appended = std::get_if<records::MessageAppended>(&stored.record.body);
    if (appended == nullptr || appended->message->role != Role::kUser) continue;
    std::string prompt;
    for (const Part& part : appended->message->parts) {
      const auto* const text = std::get_if<TextPart>(&part);
      if (text == nullptr)
        return fail(ErrorCode::kInput,
                    "the prompt of the run has attachments; name them as \"files\" in a case of your own");
      prompt += text->text;
    }
    return prompt;
  }
  return fail(ErrorCode::kInput, "the run has no prompt");
}

}  // namespace

Result<AddedCase> add_case(const app::StoredSession& run, const std::string& suite, const std::string& path) {
  const auto prompt = prompt_of(run.records);
  if (!prompt) return fail(prompt.error());
  const AgentResult result = result_of(run.state);
  if (!result.success)
    return fail(app::usage_error("the run " + run.id.str() + " has no answer that a case could expect",
                                 "praxis show " + run.id.str()));
  AddedCase added{.id = run.id.str(), .text = suite};
  if (const auto row = run.journal->session(run.id); row && !row->name.empty()) added.id = row->name;
  JsonArray tools;
  for (const ActionResult& action : result.actions) tools.emplace_back(action.tool);
  if (!added.text.empty() && !added.text.ends_with('\n')) added.text += '\n';
  if (!added.text.empty()) added.text += '\n';
  added.text += fmt::format("[[cases]]\nid = {}\nprompt = {}\nexpected = {}\n", toml_string(added.id),
                            toml_string(*prompt), toml_string(result.text));
  added.text += tools.empty() ? "checks = [\"exact\"]\n"
                              : fmt::format("checks = [\"exact\", {{ tools = {} }}]\n", to_json_text(tools));
  if (auto valid = read_suite(added.text, path); !valid) return fail(valid.error());
  return added;
}

}  // namespace praxis::evals
