// A scope is narrowed only, on every way down the agent tree.
#include "runtime/scope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using namespace std::chrono_literals;

TEST(Scope, NarrowedScopeIsNeverWider) {
  std::mt19937_64 random(7);
  for (int tree = 0; tree < 200; ++tree) {
    Scope above;
    above.principal = {"operator", Surface::kServer};
    above.trace = new_trace(random(), random());
    for (int depth = 0; depth < 6; ++depth) {
      const std::stop_source stop;
      Narrowing by;
      by.cancellation = stop.get_token();
      if (random() % 2 == 0) by.deadline = Scope::Deadline(std::chrono::seconds(random() % 9));
      if (random() % 2 == 0) by.budget = Budget::create(above.budget, {}, {}, {});
      by.policy = JsonObject{{"deny", JsonArray{random() % 4}}};
      by.trace = span_below(above.trace, "call", random());
      const Scope below = narrowed(above, by);
      EXPECT_EQ(below.cancellation, stop.get_token());
      EXPECT_EQ(below.deadline, std::min(above.deadline, by.deadline));
      EXPECT_EQ(below.budget, by.budget ? by.budget : above.budget);
      ASSERT_EQ(below.permissions.size(), above.permissions.size() + 1);
      EXPECT_TRUE(std::equal(above.permissions.begin(), above.permissions.end(), below.permissions.begin()));
      EXPECT_EQ(below.permissions.back(), by.policy);
      EXPECT_EQ(below.principal, above.principal);
      EXPECT_EQ(below.trace.parent, above.trace.span);
      above = below;
    }
  }
}

class ScopeOfSubAgents : public Scripted {};

TEST_F(ScopeOfSubAgents, DeadlineOfACall_BoundsTheCallsBelow) {
  Scope::Deadline above, below;
  Tool look = host_tool("look", [&](ToolContext& context, const Json&) -> Result<ToolOutput> {
    below = context.deadline;
    return says("seen");
  });
  look.definition.timeout = 0ms;  // no limit of its own
  const Agent child = scripted(R"({"tool_calls": [{"id": "l", "name": "look", "arguments": {}}]}
{"text": "done"})")
                          .id("child")
                          .use(look);
  Tool ask = child.as_tool("ask", "Asks");
  ask.definition.timeout = 20s;
  ask.handler = [&above, inner = ask.handler](ToolContext& context, const Json& arguments) {
    above = context.deadline;
    return inner(context, arguments);
  };
  const auto result = scripted(R"({"tool_calls": [{"id": "c", "name": "ask", "arguments": {"prompt": "x"}}]}
{"text": "done"})")
                          .use(ask)
                          .runtime(runtime_)
                          .run("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_LT(above, Scope::Deadline::max());
  EXPECT_EQ(below, above);
}

TEST_F(ScopeOfSubAgents, PrincipalOfTheRuntime_IsTheAuthorOfCommandsThatNameNone) {
  RuntimeOptions options;
  options.principal = {"operator", Surface::kServer};
  use_runtime(std::move(options));
  Session session = session_of(scripted(R"({"text": "done"})"));
  session.annotate("checked");
  ASSERT_TRUE(session.ask("go"));
  std::vector<Author> authors;
  const auto records = read_records(*journal_, session.session_id()).value();
  for (const StoredRecord& stored : records) {
    if (const auto* given = std::get_if<records::Intervened>(&stored.record.body))
      authors.push_back(given->author);
  }
  EXPECT_EQ(authors, (std::vector<Author>{{"operator", Surface::kServer}}));
}

}  // namespace
}  // namespace praxis::testing
