#include "models/wire/chat/usage.hpp"

#include <gtest/gtest.h>

namespace praxis::wire::chat {
namespace {

Usage usage_of(std::string_view text) { return read_usage(parse_json(text).value()); }

TEST(ChatUsage, Counts_AreReadInEverySpelling) {
  EXPECT_EQ(
      usage_of(
          R"({"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"cost":0.0015,)"
          R"("prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":8},"completion_tokens_details":{"reasoning_tokens":12}})"),
      (Usage{
          .input = 100, .output = 20, .cache_read = 64, .cache_write = 8, .reasoning = 12, .cost = {1500}}));
  EXPECT_EQ(usage_of(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":40})").output, 30)
      << "reasoning outside the completion";
  for (const auto* spelling :
       {"prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens", "cache_read_input_tokens"}) {
    EXPECT_EQ(read_usage(JsonObject{{"prompt_tokens", 10}, {spelling, 7}}).cache_read, 7) << spelling;
  }
  const Usage written =
      usage_of(R"({"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":4}})");
  EXPECT_EQ(written.cache_write, 9);
  EXPECT_EQ(written.cache_write_long, 4);
  EXPECT_EQ(usage_of(R"({"reasoning_tokens":3})").reasoning, 3);
}

TEST(ChatUsage, Cost_IsReadInEverySpelling) {
  EXPECT_EQ(usage_of(R"({"cost":0.25})").cost.value, 250'000);
  EXPECT_EQ(usage_of(R"({"cost":{"request_cost":0.1,"total_cost":0.5}})").cost.value, 500'000);
  EXPECT_EQ(usage_of(R"({"cost_in_usd_ticks":1238500})").cost.value, 124);
  EXPECT_EQ(usage_of(R"({"cost":"free"})").cost.value, 0);
}

}  // namespace
}  // namespace praxis::wire::chat
