#include "praxis/base/duration.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

TEST(Duration, NumbersWithAUnit_AreParsed) {
  EXPECT_EQ(parse_duration("500ms"), Millis{500});
  EXPECT_EQ(parse_duration("30s"), Millis{30'000});
  EXPECT_EQ(parse_duration("1.5m"), Millis{90'000});
  EXPECT_EQ(parse_duration("8760h"), std::chrono::hours{8760});
  EXPECT_EQ(parse_duration("30d"), std::chrono::hours{720});
}

TEST(Duration, AnythingElse_IsRefusedWithExamples) {
  for (const char* text :
       {"", "5", "s", "-1s", "0s", "0.1ms", "5 m", "5min", "8761h", "366d", "1e3s", "nans", "1s1s"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().message,
              '"' + std::string(text) + "\" is not a duration; write 500ms, 30s, 5m or 2h");
  }
}

}  // namespace
}  // namespace praxis
