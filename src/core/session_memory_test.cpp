#include "praxis/core/session_memory.hpp"

#include <gtest/gtest.h>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

Json change(const std::string& key, const std::string& operation, const std::string& store = "s") {
  return JsonArray{{{"store", store}, {"key", key}, {"operation", operation}}};
}

/// The arguments that hold `key`, or `-`.
std::string held(const SessionMemory& memory, const std::string& key, const std::string& store = "s") {
  const auto& entries = memory.store(store).entries;
  const auto found = entries.find(key);
  return found == entries.end() ? "-" : *found->second;
}

TEST(SessionMemory, LastPut_HoldsTheKeyUntilItIsDeleted) {
  SessionMemory memory;
  memory.apply(change("a", "put"), "one", 1);
  memory.apply(change("a", "put"), "three", 1);
  memory.apply(change("a", "put", "other"), "two", 1);
  EXPECT_EQ(held(memory, "a"), "three");
  EXPECT_EQ(held(memory, "a", "other"), "two");
  EXPECT_EQ(memory.store("s").bytes, 6U);
  memory.apply(change("a", "delete"), "{}", 1);
  memory.apply(change("b", "delete"), "{}", 1);
  EXPECT_EQ(held(memory, "a"), "-");
  EXPECT_EQ(memory.store("s").bytes, 0U);
  EXPECT_TRUE(memory.store("never used").entries.empty());
}

TEST(SessionMemory, OtherOperationsAndForms_AreIgnored) {
  SessionMemory memory;
  memory.apply(change("a", "read"), "one", 1);
  memory.apply(nullptr, "one", 1);
  memory.apply(JsonArray{7, nullptr}, "one", 1);
  EXPECT_TRUE(memory.store("s").entries.empty());
}

TEST(SessionMemory, KeepTurns_UndoesTheChangesOfLaterTurns) {
  SessionMemory memory;
  memory.apply(change("kept", "put"), "1", 1);
  memory.apply(change("deleted", "put"), "1", 1);
  for (const char* value : {"2a", "2b"}) {
    memory.apply(change("kept", "put"), value, 2);
    memory.apply(change("deleted", "delete"), "{}", 2);
    memory.apply(change("new", "put"), value, 2);
  }
  memory.apply(change("kept", "delete"), "{}", 3);
  memory.keep_turns(2);
  EXPECT_EQ(held(memory, "kept"), "2b");
  memory.keep_turns(1);
  EXPECT_EQ(held(memory, "kept"), "1");
  EXPECT_EQ(held(memory, "deleted"), "1");
  EXPECT_EQ(held(memory, "new"), "-");
  EXPECT_EQ(memory.store("s").bytes, 4U + 1U + 7U + 1U);
  memory.apply(change("kept", "put"), "2c", 2);
  memory.keep_turns(1);
  EXPECT_EQ(held(memory, "kept"), "1") << "a turn that takes the number of a removed one";
  memory.keep_turns(0);
  EXPECT_EQ(held(memory, "kept"), "-");
}

class MemoryFold : public Fold {
 public:
  MemoryFold() : Fold(writer(), kAskModel) {}
  /// One turn in which the model calls `write` with these arguments, which changes `key`.
  void turn_that_puts(const std::string& arguments) {
    begin("go");
    answer(calls({tool_call("c", "write", arguments)}));
    settle("c");
    answer(says("done"));
  }
  void settle(const std::string& id) {
    records::EffectSettled settled;
    settled.effect = call(id).effect;
    settled.result =
        ToolOutcome{{CallId{id}, "write", ToolStatus::kOk, "stored", {}}, nullptr, change("key", "put")};
    apply(std::move(settled));
    run();
  }
  std::string held_now() const { return held(state().memory, "key"); }

 private:
  static AgentSpec writer() {
    AgentSpec spec;
    spec.id = "a";
    spec.model = "test:model";
    spec.tools = {test_tool("write", true)};
    return spec;
  }
};

TEST(SessionMemory, SettledCalls_ChangeTheStateAndARewindTakesThemBack) {
  MemoryFold fold;
  fold.turn_that_puts(R"({"v":1})");
  EXPECT_EQ(fold.held_now(), R"({"v":1})");
  fold.turn_that_puts(R"({"v":2})");
  EXPECT_EQ(fold.held_now(), R"({"v":2})");
  fold.command(CommandVerb::kRewind, "t2");
  EXPECT_EQ(fold.held_now(), R"({"v":1})");
  fold.turn_that_puts(R"({"v":3})");
  fold.command(CommandVerb::kRewind, "t1");
  EXPECT_EQ(fold.held_now(), "-");
}

TEST(SessionMemory, CallInDoubt_ChangesNothingUntilItHasRunAgain) {
  MemoryFold fold;
  fold.begin("go");
  fold.answer(calls({tool_call("c", "write", R"({"v":1})")}));
  fold.recover();
  EXPECT_EQ(fold.held_now(), "-");
  EXPECT_EQ(fold.call("c").attempt, 2U);
  fold.settle("c");
  EXPECT_EQ(fold.held_now(), R"({"v":1})");
}

TEST(SessionMemory, CallWithinACall_CountsWithItsOwnArguments) {
  MemoryFold fold;
  fold.begin("go");
  fold.answer(calls({tool_call("c", "write", R"({"outer":1})")}));
  fold.apply(records::CallProposed{CallId{"c"}, tool_call("i", "write", R"({"inner":1})"), "k"});
  fold.run();
  fold.settle("i");
  EXPECT_EQ(fold.held_now(), R"({"inner":1})");
}

}  // namespace
}  // namespace praxis
