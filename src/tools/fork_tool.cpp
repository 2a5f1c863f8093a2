#include "praxis/tools/fork_tool.hpp"

#include "praxis/tools/typed_tool.hpp"

namespace praxis {
namespace {

constexpr std::uint32_t kMaxForkDepth = 3;  // each level multiplies the number of running agents

constexpr const char* kForkDescription =
    "Has a copy of you, which knows the conversation so far, work on `prompt` and gives you its answer. Call "
    "it "
    "several times at once for things that do not depend on each other.";

struct ForkRequest {
  arg<std::string, "What the copy is to find out or do"> prompt;
};
PRAXIS_FIELDS(ForkRequest, prompt)

Result<std::vector<SubAgent>> begin_fork(ToolContext& context, const Json& arguments) {
  if (context.depth >= kMaxForkDepth) {
    return fail(ErrorCode::kInput, "agents are " + std::to_string(kMaxForkDepth) +
                                       " levels deep here already; work on it yourself");
  }
  std::vector<SubAgent> forks;
  forks.push_back(context.fork(json_string(arguments, "prompt")));
  return forks;
}

Result<ToolOutput> answer_of_fork(ToolContext&, const Json&, std::vector<Result<AgentResult>> reports) {
  return as_output(std::move(reports.front()));
}

}  // namespace

Tool fork_tool() {
  Tool tool = make_tool("fork", kForkDescription, [](const ForkRequest&) { return std::string(); });
  tool.handler = ContinuingHandler{begin_fork, answer_of_fork};
  tool.definition.timeout = Millis{0};  // the copy has its agent's limits
  tool.definition.idempotent = true;
  return tool;
}

}  // namespace praxis
