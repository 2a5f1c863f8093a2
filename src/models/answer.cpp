#include "models/answer.hpp"

#include "base/trimmed.hpp"
#include "models/answer_json.hpp"

namespace praxis {
namespace {

/// Some gateways send the complete arguments once more after their fragments.
void drop_repetition(std::string& arguments) {
  const std::size_t half = arguments.size() / 2;
  if (half > 0 && arguments.size() % 2 == 0 && arguments.compare(0, half, arguments, half) == 0 &&
      parse_json(std::string_view(arguments).substr(0, half))) {
    arguments.resize(half);
  }
}

bool is_cut_short(FinishReason finish) {
  return finish == FinishReason::kLength || finish == FinishReason::kContentFilter ||
         finish == FinishReason::kContextWindow || finish == FinishReason::kMalformedToolCall ||
         finish == FinishReason::kError;
}

bool settle_call(ToolCallPart& call, bool cut_short) {
  bool parses = parse_json(arguments_or_empty(call.arguments)).has_value();
  if (!parses) {
    drop_repetition(call.arguments);
    parses = parse_json(call.arguments).has_value();
  }
  if (!parses) {
    std::string repaired = repair_json_text(call.arguments);
    parses = parse_json(repaired).has_value();
    if (parses) call.arguments = std::move(repaired);
  }
  call.valid = call.valid && parses && !cut_short && !call.name.empty();
  return call.valid;
}

}  // namespace

std::string_view arguments_or_empty(std::string_view arguments) {
  const std::string_view text = trimmed(arguments);
  return text.empty() || text == "null" ? "{}" : arguments;
}

void settle_answer(ModelResponse& response) {
  bool refused = false;
  std::size_t calls = 0, valid = 0;
  for (Part& part : response.parts) {
    refused |= std::holds_alternative<RefusalPart>(part);
    auto* call = std::get_if<ToolCallPart>(&part);
    if (call == nullptr) continue;
    ++calls;
    if (settle_call(*call, is_cut_short(response.finish))) {
      ++valid;
    } else {
      response.warnings.push_back("the call of tool \"" + call->name +
                                  "\" is incomplete or its arguments are not valid JSON; it will not run");
    }
  }
  if (response.finish != FinishReason::kStop && response.finish != FinishReason::kToolCalls) return;
  if (calls > 0) {
    response.finish = valid > 0 ? FinishReason::kToolCalls : FinishReason::kMalformedToolCall;
  } else if (refused) {
    response.finish = FinishReason::kRefusal;
  }
}

Usage estimate_usage(std::int64_t input, const std::vector<Part>& answer) {
  Message turn;
  turn.role = Role::kAssistant;
  turn.parts = answer;
  Usage usage;
  usage.input = input;
  usage.output = estimate_tokens(turn);
  usage.estimated = true;
  return usage;
}

}  // namespace praxis
