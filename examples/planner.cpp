// Plan, act, reflect: the program plans the steps, carries out the calls, and has a poor answer improved.
#include <iostream>
#include <praxis/core/planner.hpp>
#include <praxis/praxis.hpp>

std::string search(const std::string& words) { return "found for " + words + ": a bug in the parser"; }

// Searches first; then the model works until it has answered.
struct SearchFirst final : praxis::Planner {
  praxis::PlanStep plan(const praxis::PlannerState& state) const override {
    if (state.results().empty())
      return praxis::use_tool("search", praxis::JsonObject{{"words", state.request()}});
    if (!state.answer()) return praxis::AskModel{};
    return praxis::Conclude{};
  }
};

// Sends an answer back that does not name the bug.
struct NamesTheBug final : praxis::Reflector {
  std::optional<praxis::PlanStep> reflect(const praxis::PlannerState& state) const override {
    const praxis::StepResult& last = state.results().back();
    if (last.tool != "answer" || last.text.find("parser") != std::string::npos) return std::nullopt;
    return praxis::AddMessage{"Name the bug.", praxis::Role::kUser};
  }
};

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  auto agent = praxis::Agent{model}
                   .use(praxis::tool<search>("Searches the code", {"words"}))
                   .planner(std::make_shared<SearchFirst>())
                   .reflector(std::make_shared<NamesTheBug>());
  agent.executor([](praxis::ToolContext& context, const praxis::Tool& tool, const praxis::Json& arguments) {
    std::cout << "running " << tool.definition.name << '\n';
    return tool.handler(context, arguments);
  });
  const auto reply = agent.run("slow start");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << reply->text << '\n';
}
