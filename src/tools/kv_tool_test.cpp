#include "praxis/tools/kv_tool.hpp"
#include "praxis/core/session_memory.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "tools/testing/call.hpp"

namespace praxis {
namespace {

/// A fake session: remembers the settled calls.
class Notebook final : public CallScope {
 public:
  /// Runs a call with these arguments in this session and, if it succeeded, settles it.
  Result<ToolOutput> call(const Tool& kv, const std::string& arguments) {
    auto output = ask(kv, arguments);
    if (output) settle(*output, arguments);
    return output;
  }
  Result<ToolOutput> ask(const Tool& kv, const std::string& arguments) {
    ToolSet set;
    EXPECT_TRUE(set.add(kv));
    ToolContext context;
    context.scope = std::shared_ptr<CallScope>(std::shared_ptr<void>(), this);
    return set.execute(context, "kv", arguments);
  }
  void settle(const ToolOutput& output, const std::string& arguments) {
    JsonArray changes;
    for (const MemoryChange& change : output.memory) changes.push_back(to_json(change));
    memory_.apply(changes, arguments, 1);
  }

  Result<std::shared_ptr<ChildSession>> spawn(AgentSpec, std::vector<Tool>) override { return nothing(); }
  Result<std::shared_ptr<ChildSession>> clone(const std::string&) override { return nothing(); }
  Result<SessionId> detach(AgentSpec, std::vector<Tool>, std::string) override { return nothing(); }
  Result<ToolOutput> call(std::string, std::string) override { return nothing(); }
  const std::vector<Tool>& tools() const override { return tools_; }
  void call_all(std::vector<InnerCall>, InnerCallDone) override {}
  bool continue_after(const std::vector<SubAgent>&) override { return false; }
  void progress(std::string, std::optional<double>) override {}
  Status read_memory(std::string_view store,
                     const std::function<void(const MemoryStore&)>& read) const override {
    read(memory_.store(store));
    return {};
  }

 private:
  static std::unexpected<Error> nothing() { return fail(ErrorCode::kInput, "only notes"); }

  SessionMemory memory_;
  std::vector<Tool> tools_;
};

class KvToolOfBothKinds : public ::testing::TestWithParam<bool> {
 protected:
  KvToolOfBothKinds() { use({}); }
  void use(KvLimits limits) { kv_ = GetParam() ? shared_kv_tool(limits) : kv_tool(limits); }
  Result<ToolOutput> call(const std::string& arguments) { return notebook_.call(kv_, arguments); }

  Notebook notebook_;
  Tool kv_;
};

INSTANTIATE_TEST_SUITE_P(OfTheSessionOrShared, KvToolOfBothKinds, testing::Bool());

TEST_P(KvToolOfBothKinds, PutGetDeleteList_WorkAndReportChanges) {
  auto put = call(R"({"op":"put","key":"city","value":"Rome"})");
  ASSERT_TRUE(put) << put.error().message;
  ASSERT_EQ(put->memory.size(), 1U);
  EXPECT_EQ(to_json_text(to_json(put->memory[0])), R"({"store":"kv","key":"city","operation":"put"})");
  EXPECT_EQ(text_of(call(R"({"op":"get","key":"city"})")), "Rome");
  EXPECT_TRUE(call(R"({"op":"get","key":"city"})")->memory.empty());
  ASSERT_TRUE(call(R"({"op":"put","key":"country","value":""})"));
  EXPECT_EQ(call(R"({"op":"list"})")->value.at("keys"), (JsonArray{"city", "country"}));
  EXPECT_EQ(call(R"({"op":"list","prefix":"co"})")->value.at("keys"), (JsonArray{"country"}));
  EXPECT_EQ(call(R"({"op":"delete","key":"city"})")->memory.at(0).operation, "delete");
  EXPECT_EQ(text_of(call(R"({"op":"get","key":"city"})")), R"(there is no "city")");
  EXPECT_TRUE(call(R"({"op":"delete","key":"city"})")->memory.empty());
}

TEST(KvTool, CopiesOfASharedTool_ShareEntriesAndNewToolsDoNot) {
  const Tool kv = shared_kv_tool();
  const Tool copy = kv;
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"a","value":"1"})"));
  EXPECT_EQ(text_of(call(copy, R"({"op":"get","key":"a"})")), "1");
  EXPECT_EQ(text_of(call(shared_kv_tool(), R"({"op":"get","key":"a"})")), R"(there is no "a")");
}

TEST_P(KvToolOfBothKinds, FullStore_RefusesNewEntriesButNotSmallerOnes) {
  use({.max_entries = 2, .max_bytes = 10});
  ASSERT_TRUE(call(R"({"op":"put","key":"a","value":"12345678"})"));
  auto refused = call(R"({"op":"put","key":"b","value":"1"})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_EQ(refused.error().message,
            "the store is full (1 entries, 9 bytes); delete what is no longer needed");
  ASSERT_TRUE(call(R"({"op":"put","key":"a","value":"1"})"));
  ASSERT_TRUE(call(R"({"op":"put","key":"","value":""})"));
  ASSERT_TRUE(call(R"({"op":"put","key":"","value":"2"})"));
  EXPECT_FALSE(call(R"({"op":"put","key":"c","value":""})"));
  ASSERT_TRUE(call(R"({"op":"delete","key":"a"})"));
  EXPECT_TRUE(call(R"({"op":"put","key":"c","value":"12345678"})"));
}

TEST_P(KvToolOfBothKinds, MissingMembers_AreNamed) {
  EXPECT_EQ(text_of(call(R"({"op":"get"})")), "error: /key is missing: put, get and delete need it");
  EXPECT_EQ(text_of(call(R"({"op":"put","key":"a"})")), "error: /value is missing: put needs it");
  EXPECT_NE(text_of(call(R"({"op":"putt","key":"a"})")).find("/op"), std::string::npos);
  EXPECT_TRUE(kv_.definition.safe_by_default);
  EXPECT_TRUE(kv_.definition.idempotent);
}

TEST(KvTool, ConcurrentCallsOfASharedTool_LoseNothing) {
  const Tool kv = shared_kv_tool();
  {
    std::latch start(4);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        ToolContext context;
        start.arrive_and_wait();
        for (int i = 0; i < 2000; ++i) {
          const std::string key = std::to_string(t) + "-" + std::to_string(i);
          static_cast<void>(kv.handler(context, {{"op", "put"}, {"key", key}, {"value", key}}));
        }
      });
    }
  }
  EXPECT_EQ(call(kv, R"({"op":"list"})")->value.at("keys").get_array().size(), 8000U);
}

TEST(KvTool, Notes_BelongToTheSessionAndNotToTheTool) {
  const Tool kv = kv_tool();
  Notebook one, other;
  ASSERT_TRUE(one.call(kv, R"({"op":"put","key":"card","value":"4111"})"));
  EXPECT_EQ(text_of(other.call(kv, R"({"op":"get","key":"card"})")), R"(there is no "card")");
  EXPECT_EQ(text_of(other.call(kv, R"({"op":"list"})")), "there are no keys");
  EXPECT_EQ(text_of(one.call(kv_tool(), R"({"op":"get","key":"card"})")), "4111") << "also by another copy";
}

TEST(KvTool, Description_SaysHowLongNotesAreKept) {
  EXPECT_NE(kv_tool().definition.description.find("also when the program is restarted"), std::string::npos);
  EXPECT_NE(shared_kv_tool().definition.description.find("kept while the program runs"), std::string::npos);
}

TEST(KvTool, UnsettledCalls_ChangeNothing) {
  const Tool kv = kv_tool();
  Notebook notes;
  ASSERT_TRUE(notes.ask(kv, R"({"op":"put","key":"a","value":"1"})"));
  EXPECT_EQ(text_of(notes.call(kv, R"({"op":"list"})")), "there are no keys");
}

TEST(KvTool, ValuesOfAnyText_ComeBackUnchanged) {
  const Tool kv = kv_tool();
  Notebook notes;
  const std::string value = "\"quoted\"\n\t{\"value\":7} \xc3\xa9";
  ASSERT_TRUE(notes.call(kv, to_json_text({{"op", "put"}, {"key", "a\n"}, {"value", value}})));
  EXPECT_EQ(text_of(notes.call(kv, to_json_text({{"op", "get"}, {"key", "a\n"}}))), value);
}

TEST(KvTool, CallOutsideASession_IsRefused) {
  EXPECT_EQ(text_of(call(kv_tool(), R"({"op":"list"})")),
            "error: this call is not part of a session, so it has no notes");
}

}  // namespace
}  // namespace praxis
