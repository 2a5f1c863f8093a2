#include "runtime/shared_specs.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

AgentSpecPtr agent(std::string instructions) {
  AgentSpec spec;
  spec.model = "test:model";
  spec.instructions = std::move(instructions);
  return std::make_shared<const AgentSpec>(std::move(spec));
}

TEST(SharedSpecs, SessionsOfOneAgent_ShareWhatWasPrepared) {
  SharedSpecs specs;
  const AgentSpecPtr spec = agent("one");
  const auto prepared = specs.prepared(spec);
  EXPECT_EQ(prepared->json, to_json_text(to_json(*spec)));
  EXPECT_GT(prepared->overhead_tokens, 0);
  EXPECT_EQ(specs.prepared(spec), prepared);
}

TEST(SharedSpecs, AnotherAgent_IsPreparedForItself) {
  SharedSpecs specs;
  AgentSpecPtr spec = agent("one");
  const auto first = specs.prepared(spec);
  spec = agent("two");  // may get the memory of the first
  const auto second = specs.prepared(spec);
  EXPECT_NE(second->described, first->described);
  EXPECT_EQ(second->json, to_json_text(to_json(*spec)));
}

TEST(SharedSpecs, ProfileOfTheModel_MakesOneCopy) {
  SharedSpecs specs;
  const AgentSpecPtr spec = agent("one");
  ModelProfile profile;
  EXPECT_EQ(specs.completed(spec, profile, {}), spec);
  profile.context_window = 1000;
  const AgentSpecPtr copy = specs.completed(spec, profile, {});
  EXPECT_EQ(copy->profile, profile);
  EXPECT_EQ(copy->instructions, "one");
  EXPECT_EQ(specs.completed(spec, profile, {}), copy);
  profile.context_window = 2000;
  EXPECT_EQ(specs.completed(spec, profile, {})->profile, profile);
  EXPECT_EQ(specs.completed(agent("two"), profile, {})->instructions, "two");
}

TEST(SharedSpecs, DescriptionOfAProgram_IsNotKeptAlive) {
  SharedSpecs specs;
  AgentSpecPtr spec = agent("one");
  const std::weak_ptr<const AgentSpec> alive = spec;
  ModelProfile profile;
  profile.context_window = 1000;
  specs.completed(spec, profile, {});
  specs.prepared(spec);
  spec.reset();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace praxis
