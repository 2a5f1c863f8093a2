#include "praxis/tools/kv_tool.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "tools/testing/call.hpp"

namespace praxis {
namespace {

TEST(KvTool, PutGetDeleteList_WorkAndReportChanges) {
  const Tool kv = kv_tool();
  auto put = call(kv, R"({"op":"put","key":"city","value":"Rome"})");
  ASSERT_TRUE(put) << put.error().message;
  ASSERT_EQ(put->memory.size(), 1U);
  EXPECT_EQ(to_json_text(to_json(put->memory[0])), R"({"store":"kv","key":"city","operation":"put"})");
  EXPECT_EQ(text_of(call(kv, R"({"op":"get","key":"city"})")), "Rome");
  EXPECT_TRUE(call(kv, R"({"op":"get","key":"city"})")->memory.empty());
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"country","value":""})"));
  EXPECT_EQ(call(kv, R"({"op":"list"})")->value.at("keys"), (JsonArray{"city", "country"}));
  EXPECT_EQ(call(kv, R"({"op":"list","prefix":"co"})")->value.at("keys"), (JsonArray{"country"}));
  EXPECT_EQ(call(kv, R"({"op":"delete","key":"city"})")->memory.at(0).operation, "delete");
  EXPECT_EQ(text_of(call(kv, R"({"op":"get","key":"city"})")), R"(there is no "city")");
  EXPECT_TRUE(call(kv, R"({"op":"delete","key":"city"})")->memory.empty());
}

TEST(KvTool, CopiesOfATool_ShareEntriesAndNewToolsDoNot) {
  const Tool kv = kv_tool();
  const Tool copy = kv;
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"a","value":"1"})"));
  EXPECT_EQ(text_of(call(copy, R"({"op":"get","key":"a"})")), "1");
  EXPECT_EQ(text_of(call(kv_tool(), R"({"op":"get","key":"a"})")), R"(there is no "a")");
}

TEST(KvTool, FullStore_RefusesNewEntriesButNotSmallerOnes) {
  const Tool kv = kv_tool({.max_entries = 2, .max_bytes = 10});
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"a","value":"12345678"})"));
  auto refused = call(kv, R"({"op":"put","key":"b","value":"1"})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"a","value":"1"})"));
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"","value":""})"));
  ASSERT_TRUE(call(kv, R"({"op":"put","key":"","value":"2"})"));
  EXPECT_FALSE(call(kv, R"({"op":"put","key":"c","value":""})"));
  ASSERT_TRUE(call(kv, R"({"op":"delete","key":"a"})"));
  EXPECT_TRUE(call(kv, R"({"op":"put","key":"c","value":"12345678"})"));
}

TEST(KvTool, MissingMembers_AreNamed) {
  const Tool kv = kv_tool();
  EXPECT_EQ(text_of(call(kv, R"({"op":"get"})")), "error: /key is missing: put, get and delete need it");
  EXPECT_EQ(text_of(call(kv, R"({"op":"put","key":"a"})")), "error: /value is missing: put needs it");
  EXPECT_NE(text_of(call(kv, R"({"op":"putt","key":"a"})")).find("/op"), std::string::npos);
  EXPECT_TRUE(kv.definition.safe_by_default);
  EXPECT_TRUE(kv.definition.idempotent);
}

TEST(KvTool, ConcurrentCalls_LoseNothing) {
  const Tool kv = kv_tool();
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

}  // namespace
}  // namespace praxis
