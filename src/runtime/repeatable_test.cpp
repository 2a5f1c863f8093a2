// A run on `repeatable_options` is the same each time, also with parallel calls and sub-agents.
#include <gtest/gtest.h>

#include "praxis/runtime/testing.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

/// Calls three tools at once, one of them a sub-agent, then answers.
Agent parallel_agent() {
  const auto lead = stub_model([](const ModelRequest& request) -> Result<ModelResponse> {
    if (request.history.messages().size() > 1) return stub_text("done");
    ModelResponse calls = stub_call("c1", "echo", JsonObject{{"text", "one"}});
    calls.parts.push_back(stub_call("c2", "echo", JsonObject{{"text", "two"}}).parts[0]);
    calls.parts.push_back(stub_call("c3", "below", JsonObject{{"prompt", "three"}}).parts[0]);
    return calls;
  });
  Agent below =
      Agent().id("below").model(stub_model([](const ModelRequest&) { return stub_text("from below"); }));
  Agent agent = Agent().model(lead).use(echo_tool());
  return agent.use(below.as_tool("below", "Works below"));
}

/// Everything that observers see of one run, with its result.
std::string seen_of_run() {
  const auto runtime = Runtime::create(repeatable_options());
  Session session = *runtime->create_session(parallel_agent());
  std::string seen;
  auto run = session.send_user_message("go");
  for (const Event& event : run) seen += to_json_text(to_json(event)) + '\n';
  return seen + to_json_text(to_json(*run.report()));
}

TEST(Repeatable, ParallelRunIsTheSame300Times) {
  const std::string first = seen_of_run();
  EXPECT_NE(first.find("from below"), std::string::npos);
  for (int i = 1; i < 300; ++i) ASSERT_EQ(seen_of_run(), first) << "run " << i;
}

}  // namespace
}  // namespace praxis::testing
