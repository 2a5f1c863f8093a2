// The programs of docs/designs.md for S3 that supply their own strategies.
#include "design.hpp"
#include "praxis/core/planner.hpp"

namespace designs {
namespace {

using testing::ElementsAre;
using PlatformStrategies = Design;

std::string look_for(const std::string& text) { return text.empty() ? "" : "src/parser.cpp"; }

// begin s3-planner
/// Searches for the request, then answers: no model is called.
class Finder : public praxis::Planner {
 public:
  praxis::PlanStep plan(const praxis::PlannerState& state) const override {
    const auto results = state.results();  // also there: conversation, request, budget, notes of the session
    if (results.empty()) return praxis::use_tool("look_for", {{"text", state.request()}});
    return praxis::Conclude{.text = "It is in " + results.back().text + "."};
  }
};

/// Asks once whether the answer is certain.
class Sceptic : public praxis::Reflector {
 public:
  std::optional<praxis::PlanStep> reflect(const praxis::PlannerState& state) const override {
    if (!state.answer() || state.results().size() > 1) return std::nullopt;
    return praxis::AddMessage{"Are you sure?", praxis::Role::kUser};
  }
};
// end s3-planner

TEST_F(PlatformStrategies, PlannerReflectorAndExecutorAreSupplied) {
  const std::string model =
      script("{\"text\": \"It is in src.\"}\n{\"text\": \"It is in src/parser.cpp.\"}\n");
  const std::string caller = script(R"({"tool_calls": [{"name": "look_for", "arguments": {"text": "parse"}}]}
{"text": "Found."})");
  const auto search = praxis::tool<look_for>("Searches", {"text"});
  Lines lines;
  // begin s3-strategies
  const auto planned = praxis::Agent{}.use(search).planner(std::make_shared<Finder>(), "finder").run("parse");
  const auto reviewed =
      praxis::Agent{model}.reflector(std::make_shared<Sceptic>()).run("Where is the parser?");
  auto pooled = praxis::Agent{caller}.use(search);
  pooled.executor([&](praxis::ToolContext& context, const praxis::Tool& tool, const praxis::Json& arguments) {
    lines.add("in a pool: " + tool.definition.name);  // or in another process, or on another machine
    return tool.handler(context, arguments);
  });
  const auto found = pooled.run("Where is the parser?");
  // end s3-strategies
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_TRUE(reviewed) << reviewed.error().message;
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(planned->text, "It is in src/parser.cpp.");
  EXPECT_TRUE(planned->model_calls.empty());
  EXPECT_EQ(reviewed->text, "It is in src/parser.cpp.");
  EXPECT_EQ(reviewed->model_calls.size(), 2U);
  EXPECT_THAT(lines.all(), ElementsAre("in a pool: look_for"));
}

}  // namespace
}  // namespace designs
