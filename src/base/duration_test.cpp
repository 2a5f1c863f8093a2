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

TEST(Duration, SeveralUnits_AreAdded) {
  EXPECT_EQ(parse_duration("1h30m"), std::chrono::minutes{90});
  EXPECT_EQ(parse_duration("2m30s"), Millis{150'000});
  EXPECT_EQ(parse_duration("1d2h3m4s5ms"), Millis{93'784'005});
  EXPECT_EQ(parse_duration("1m500ms"), Millis{60'500});
  EXPECT_EQ(parse_duration("0h90s"), Millis{90'000});
  EXPECT_EQ(parse_duration("1m1.5s"), Millis{61'500});
}

TEST(Duration, AnythingElse_IsRefusedWithExamples) {
  for (const char* text : {"",      "5",    "s",     "-1s",  "0s",   "0.1ms",   "5 m",   "5min",
                           "8761h", "366d", "1e3s",  "nans", "1s1s", "30m1h",   "1h30",  "1h 30m",
                           "1h-5m", "1hm",  "1..5s", ".s",   "0h0m", "364d25h", "1H30M", "1h30m "}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().message,
              '"' + std::string(text) + "\" is not a duration; write 500ms, 30s, 5m or 2h");
  }
}

}  // namespace
}  // namespace praxis
