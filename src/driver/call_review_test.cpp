#include "driver/call_review.hpp"

#include <gtest/gtest.h>

namespace praxis::driver {
namespace {

AgentSpecPtr agent_with(Json policy, Json bounds = nullptr) {
  auto agent = std::make_shared<AgentSpec>();
  agent->policy = std::move(policy);
  agent->bounds = std::move(bounds);
  return agent;
}

ToolDefinition definition(std::string name) {
  ToolDefinition tool;
  tool.name = std::move(name);
  return tool;
}

ToolCallPart call_to(std::string tool) { return {CallId{"c1"}, std::move(tool), "{}", true, nullptr}; }

Permission permission(CallReview& review, const AgentSpecPtr& agent, const std::string& tool) {
  const ToolDefinition known = definition(tool);
  return judge_call(*review.rules(agent), &known, call_to(tool)).permission;
}

TEST(CallReview, RulesAboveNarrowThoseOfTheAgent) {
  CallReview review;
  const auto agent =
      agent_with(JsonObject{{"allow", JsonArray{"*"}}},
                 JsonArray{JsonObject{{"allow", JsonArray{"*"}}, {"deny", JsonArray{"shell"}}}});
  EXPECT_TRUE(std::holds_alternative<Deny>(permission(review, agent, "shell")));
  EXPECT_TRUE(std::holds_alternative<Allow>(permission(review, agent, "echo")));
}

TEST(CallReview, UnknownToolIsAllowed) {
  CallReview review;
  const auto agent = agent_with(JsonObject{{"deny", JsonArray{"*"}}});
  EXPECT_TRUE(
      std::holds_alternative<Allow>(judge_call(*review.rules(agent), nullptr, call_to("x")).permission));
}

TEST(CallReview, ReviewsAreDroppedWithTheirStep) {
  CallReview review;
  review.begin_step(1);
  review.add(CallId{"c1"}, Review{});
  review.begin_step(1);
  EXPECT_NE(review.find(CallId{"c1"}), nullptr);
  review.begin_step(2);
  EXPECT_EQ(review.find(CallId{"c1"}), nullptr);
}

TEST(CallReview, ReviewsAreDroppedWhenTheRulesChange) {
  CallReview review;
  const auto before = agent_with(JsonObject{{"allow", JsonArray{"*"}}});
  review.rules(before);
  const std::uint64_t version = review.version();
  review.add(CallId{"c1"}, Review{});
  review.rules(agent_with(JsonObject{{"allow", JsonArray{"*"}}}));  // another copy of the same rules
  EXPECT_NE(review.find(CallId{"c1"}), nullptr);
  EXPECT_EQ(review.version(), version);
  review.rules(agent_with(JsonObject{{"deny", JsonArray{"*"}}}));
  EXPECT_EQ(review.find(CallId{"c1"}), nullptr);
  EXPECT_GT(review.version(), version);
}

TEST(CallReview, AnswersOfHooksThatSawOtherRulesAreDropped) {
  CallReview review;
  review.rules(agent_with(JsonObject{{"allow", JsonArray{"*"}}}));
  const std::uint64_t seen = review.version();
  std::map<CallId, Review> reviews{{CallId{"c1"}, Review{}}};
  review.rules(agent_with(JsonObject{{"deny", JsonArray{"*"}}}));
  review.add(seen, reviews);
  EXPECT_EQ(review.find(CallId{"c1"}), nullptr);
  review.add(review.version(), reviews);
  EXPECT_NE(review.find(CallId{"c1"}), nullptr);
}

TEST(CallReview, SuspensionKeepsReviews) {
  CallReview review;
  review.rules(agent_with(JsonObject{{"allow", JsonArray{"*"}}}));
  review.add(CallId{"c1"}, Review{});
  review.suspend();
  review.rules(agent_with(JsonObject{{"allow", JsonArray{"*"}}}));
  EXPECT_NE(review.find(CallId{"c1"}), nullptr);
}

}  // namespace
}  // namespace praxis::driver
