#include "evals/log_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "app/plain_text.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

std::string changed_settings(const AgentSpec& was, const AgentSpec& is) {
  if (was.model != is.model)
    return fmt::format("the model is {} instead of {}", app::in_quotes(is.model), app::in_quotes(was.model));
  if (was.instructions != is.instructions) return "the instructions differ";
  if (to_json(was.options) != to_json(is.options)) return "the options of the model differ";
  return "the settings of the request differ";
}

/// The first tool that only one of both has, or that is described in another way.
std::string changed_tools(const AgentSpec& was, const AgentSpec& is) {
  for (const ToolSpec& tool : was.tools) {
    const ToolSpec* const now = is.find_tool(tool.definition.name);
    const std::string name = app::in_quotes(tool.definition.name);
    if (now == nullptr) return fmt::format("the tool {} is gone", name);
    if (to_json(now->definition) != to_json(tool.definition))
      return fmt::format("the description of the tool {} differs", name);
  }
  for (const ToolSpec& tool : is.tools) {
    if (was.find_tool(tool.definition.name) == nullptr)
      return fmt::format("the tool {} is new", app::in_quotes(tool.definition.name));
  }
  return "the offered tools differ";
}

std::string what_changed(const LoggedRequest& was, const LoggedRequest& is) {
  const RequestDigest &before = was.sent.back(), &after = is.sent.back();
  if (before.settings != after.settings) return changed_settings(*was.agent, *is.agent);
  if (before.tools != after.tools) return changed_tools(*was.agent, *is.agent);
  return is.step == 1 ? "the prompt differs" : "the conversation differs";
}

/// Fills in what records leave out because the request before had it too.
class WholeRequests {
 public:
  RequestDigest of(RequestDigest request) {
    if (request.settings == Digest()) request.settings = last_.settings;
    if (request.tools == Digest()) request.tools = last_.tools;
    return last_ = request;
  }

 private:
  RequestDigest last_;
};

}  // namespace

Result<std::vector<LoggedRequest>> requests_of(const std::vector<StoredRecord>& records) {
  std::vector<LoggedRequest> requests;
  std::map<std::string, LoggedRequest> asked;  // by effect
  LoggedRequest refused;
  WholeRequests whole;
  State state;
  for (const StoredRecord& stored : records) {
    const RecordBody& body = stored.record.body;
    if (const auto* intent = std::get_if<records::EffectIntended>(&body);
        intent != nullptr && intent->kind == EffectKind::kModel) {
      asked[intent->effect.str()] = {intent->step, stored.seq, state.agent, {whole.of(intent->request)}};
    } else if (const auto* settled = std::get_if<records::EffectSettled>(&body)) {
      if (auto found = asked.extract(settled->effect.str())) {
        LoggedRequest& request = found.mapped();
        request.sent.insert(request.sent.begin(), refused.sent.begin(), refused.sent.end());
        request.is_answered = std::holds_alternative<ModelResponse>(settled->result);
        refused = request.is_answered ? LoggedRequest() : request;
        if (request.is_answered) requests.push_back(std::move(request));
      }
    }
    if (auto applied = apply_to(state, stored.record); !applied) return fail(applied.error());
  }
  if (!refused.sent.empty()) requests.push_back(std::move(refused));
  return requests;
}

std::uint32_t step_of_call(const std::vector<StoredRecord>& records, const CallId& call) {
  std::uint32_t step = 0;
  for (const StoredRecord& stored : records) {
    const auto* intent = std::get_if<records::EffectIntended>(&stored.record.body);
    if (intent == nullptr) continue;
    if (intent->kind == EffectKind::kModel) step = intent->step;
    if (intent->kind == EffectKind::kTool && intent->call == call) return step;
  }
  return 0;
}

std::optional<RequestDifference> request_difference(const std::vector<LoggedRequest>& recorded,
                                                    const std::vector<LoggedRequest>& now) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    const LoggedRequest& is = now[i];
    if (i >= recorded.size()) return RequestDifference{is.step, "the recorded run ended before it"};
    const LoggedRequest& was = recorded[i];
    if (std::ranges::find(was.sent, is.sent.back()) == was.sent.end())
      return RequestDifference{is.step, what_changed(was, is)};
    if (was.is_answered && !is.is_answered)
      return RequestDifference{is.step, "the record has no further answer to it"};
  }
  return std::nullopt;
}

}  // namespace praxis::evals
