#include "praxis/tools/ask_user_tool.hpp"

#include "praxis/tools/typed_tool.hpp"

namespace praxis {
namespace {

constexpr const char* kAskUserDescription =
    "Asks the person you work for and waits for the answer. Use it when you cannot go on without knowing "
    "something that only they know; do not ask what you can find out yourself. The person may decline: then "
    "go on as well as you can. With `choices`, the answer is one of them.";

struct Question {
  arg<std::string, "What you want to know, in one or two sentences"> question;
  arg<std::optional<std::vector<std::string>>, "The answers to choose from, if others make no sense"> choices;
};
PRAXIS_FIELDS(Question, question, choices)

/// Not reached inside a session, which asks the question itself.
Result<ToolOutput> not_asked(const Question& asked) {
  if (std::string_view(asked.question).empty()) return fail(ErrorCode::kInput, "/question is empty");
  return fail(ErrorCode::kInput, "no user can be asked: this call is not part of a session");
}

}  // namespace

Tool ask_user_tool() {
  Tool tool = make_tool("ask_user", kAskUserDescription, not_asked);
  tool.definition.safe_by_default = true;
  tool.definition.idempotent = true;
  tool.result_from = ResultFrom::kPerson;
  return tool;
}

}  // namespace praxis
