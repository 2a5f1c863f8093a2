#include "evals/run_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "app/plain_text.hpp"
#include "praxis/domain/message.hpp"

namespace praxis::evals {
namespace {

constexpr std::size_t kShownColumns = 300;

std::string canonical(const std::string& arguments) {
  const auto json = parse_json(arguments);
  return json ? to_canonical_json(*json) : arguments;
}

/// The results that the model read, by call.
Result<std::map<std::string, std::string>> results_of(const std::vector<StoredRecord>& records) {
  std::map<std::string, std::string> results;
  const auto conversation = transcript(records);
  if (!conversation) return fail(conversation.error());
  for (const Message& message : conversation->messages) {
    for (const Part& part : message.parts) {
      if (const auto* result = std::get_if<ToolResultPart>(&part)) results[result->id.str()] = result->text;
    }
  }
  return results;
}

RunStep step_of(const ModelResponse& answer, const std::map<std::string, std::string>& results) {
  RunStep step;
  step.usage = answer.usage;
  for (const Part& part : answer.parts) {
    if (const auto* text = std::get_if<TextPart>(&part)) {
      step.text += text->text;
    } else if (const auto* call = std::get_if<ToolCallPart>(&part)) {
      const auto result = results.find(call->id.str());
      step.calls.push_back(
          {call->name, canonical(call->arguments), result == results.end() ? std::string() : result->second});
    }
  }
  return step;
}

void compare_calls(const RunStep& recorded, const RunStep& now, std::vector<StepDifference>& differences) {
  const auto shown = [](const StepCall& call) { return call.tool + ' ' + call.arguments; };
  for (std::size_t i = 0; i < std::max(recorded.calls.size(), now.calls.size()); ++i) {
    const StepCall* const was = i < recorded.calls.size() ? &recorded.calls[i] : nullptr;
    const StepCall* const is = i < now.calls.size() ? &now.calls[i] : nullptr;
    const std::string before = was == nullptr ? "" : shown(*was), after = is == nullptr ? "" : shown(*is);
    if (before != after) {
      differences.push_back({"call", is == nullptr ? was->tool : is->tool, before, after});
    } else if (was->result != is->result) {
      differences.push_back({"result", was->tool, was->result, is->result});
    }
  }
}

std::string shown_value(const std::string& text) {
  return text.empty() ? "(none)" : app::one_line(text, kShownColumns);
}

}  // namespace

Result<std::vector<RunStep>> steps_of(const std::vector<StoredRecord>& records, std::uint64_t seq) {
  const auto results = results_of(records);
  if (!results) return fail(results.error());
  std::vector<RunStep> steps;
  std::string turn;
  std::map<std::string, std::uint32_t> asked;  // by effect: the step that it answers
  for (const StoredRecord& stored : records) {
    const RecordBody& body = stored.record.body;
    if (const auto* started = std::get_if<records::TurnStarted>(&body)) {
      turn = started->turn.str();
    } else if (const auto* intent = std::get_if<records::EffectIntended>(&body)) {
      const bool answers = intent->kind == EffectKind::kModel && !intent->summary && !intent->consult;
      if (answers && stored.seq > seq) asked[intent->effect.str()] = intent->step;
    } else if (const auto* settled = std::get_if<records::EffectSettled>(&body)) {
      const auto* answer = std::get_if<ModelResponse>(&settled->result);
      const auto step = asked.find(settled->effect.str());
      if (answer == nullptr || step == asked.end()) continue;
      steps.push_back(step_of(*answer, *results));
      steps.back().turn = turn;
      steps.back().step = step->second;
    }
  }
  return steps;
}

std::vector<StepPair> compare_steps(const std::vector<RunStep>& recorded, const std::vector<RunStep>& now) {
  std::vector<StepPair> pairs;
  const auto same_place = [](const RunStep& a) {
    return [&a](const RunStep& b) { return a.turn == b.turn && a.step == b.step; };
  };
  for (const RunStep& was : recorded) {
    StepPair pair{was.turn, was.step};
    const auto is = std::ranges::find_if(now, same_place(was));
    if (is == now.end()) {
      pair.differences.push_back({"step", "", was.text, ""});
    } else {
      if (was.text != is->text) pair.differences.push_back({"text", "", was.text, is->text});
      compare_calls(was, *is, pair.differences);
    }
    pairs.push_back(std::move(pair));
  }
  for (const RunStep& is : now) {
    if (std::ranges::any_of(recorded, same_place(is))) continue;
    StepPair pair{is.turn, is.step, {{"step", "", "", is.text}}};
    compare_calls({}, is, pair.differences);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

JsonObject pair_json(const StepPair& pair) {
  JsonArray differences;
  for (const StepDifference& each : pair.differences) {
    JsonObject difference{{"field", each.field}, {"recorded", each.recorded}, {"now", each.now}};
    if (!each.tool.empty()) difference["tool"] = each.tool;
    differences.emplace_back(std::move(difference));
  }
  return JsonObject{{"turn", pair.turn},
                    {"step", pair.step},
                    {"same", pair.differences.empty()},
                    {"differences", std::move(differences)}};
}

std::vector<std::string> pair_text(const StepPair& pair) {
  const std::string place = fmt::format("{} step {}", pair.turn, pair.step);
  if (pair.differences.empty()) return {place + ": same"};
  std::vector<std::string> lines;
  for (const StepDifference& each : pair.differences) {
    const std::string what =
        each.field == "result" ? "result of " + app::one_line(each.tool, 60) : each.field;
    lines.push_back(place + ": " + what);
    lines.push_back("  recorded: " + shown_value(each.recorded));
    lines.push_back("  now:      " + shown_value(each.now));
  }
  return lines;
}

}  // namespace praxis::evals
