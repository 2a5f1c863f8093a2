#include "base/time_zone.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "praxis/base/dates.hpp"

namespace praxis {
namespace {

std::int32_t minutes_at(const TimeZone& zone, const char* time) {
  return zone.offset_at(from_iso8601(time).value()) / 60;
}

std::string in_four_bytes(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<unsigned char>(value >> static_cast<unsigned>(shift) & 0xffU));
  return bytes;
}

/// Time zone data of version 2 with one change, at 1970-01-01, to `offset`, and a footer.
std::string tzif(std::int32_t offset, const std::string& footer) {
  const auto header = [](std::uint32_t changes, std::uint32_t types) {
    std::string bytes = "TZif2" + std::string(15, '\0');
    for (const std::uint32_t count : {0U, 0U, 0U, changes, types, 4U}) bytes += in_four_bytes(count);
    return bytes;
  };
  const auto type = [](std::int32_t seconds) {
    return in_four_bytes(static_cast<std::uint32_t>(seconds)) + std::string(2, '\0');
  };
  return header(0, 1) + type(0) + std::string(4, 'x') + header(1, 2) + std::string(8, '\0') +
         std::string(1, '\1') + type(60) + type(offset) + std::string(4, 'x') + '\n' + footer + '\n';
}

TEST(TimeZoneTest, FixedOffsets_AreRead) {
  EXPECT_EQ((*TimeZone::find("UTC"))->offset_at({0}), 0);
  EXPECT_EQ((*TimeZone::find("+05:30"))->offset_at({0}), 19'800);
  EXPECT_EQ((*TimeZone::find("-08:00"))->offset_at({0}), -28'800);
  for (const char* wrong : {"", "CEST5", "+5:00", "+99:00", "../../etc/passwd", "/etc/localtime", "No/Such"})
    EXPECT_FALSE(TimeZone::find(wrong)) << wrong;
}

TEST(TimeZoneTest, TimesAfterTheLastChange_FollowTheYearlyRule) {
  const auto berlin = TimeZone::from_tzif(tzif(3600, "CET-1CEST,M3.5.0,M10.5.0/3"));
  ASSERT_TRUE(berlin);
  EXPECT_EQ(minutes_at(*berlin, "1969-12-31T23:59:59Z"), 1) << "the type before the first change";
  EXPECT_EQ(minutes_at(*berlin, "2026-03-29T00:59:59Z"), 60);
  EXPECT_EQ(minutes_at(*berlin, "2026-03-29T01:00:00Z"), 120);
  EXPECT_EQ(minutes_at(*berlin, "2026-10-25T00:59:59Z"), 120);
  EXPECT_EQ(minutes_at(*berlin, "2026-10-25T01:00:00Z"), 60);
  const auto sydney = TimeZone::from_tzif(tzif(36'000, "AEST-10AEDT,M10.1.0,M4.1.0/3"));
  ASSERT_TRUE(sydney);
  EXPECT_EQ(minutes_at(*sydney, "2026-01-01T00:00:00Z"), 660) << "summer includes the new year";
  EXPECT_EQ(minutes_at(*sydney, "2026-07-01T00:00:00Z"), 600);
}

TEST(TimeZoneTest, RuleOfAnotherForm_LeavesTheLastOffset) {
  for (const char* footer : {"", "<+03>-3", "XST-2XDT,J60,J300", "CET-1CEST,M13.5.0,M10.5.0", "?"}) {
    const auto zone = TimeZone::from_tzif(tzif(10'800, footer));
    ASSERT_TRUE(zone) << footer;
    EXPECT_EQ(minutes_at(*zone, "2040-07-01T00:00:00Z"), 180) << footer;
  }
}

TEST(TimeZoneTest, DamagedData_IsRefused) {
  const std::string whole = tzif(3600, "CET-1");
  for (std::size_t size = 0; size + 7 < whole.size(); ++size)
    EXPECT_FALSE(TimeZone::from_tzif(whole.substr(0, size))) << size;
  std::string of_unknown_type = whole;
  of_unknown_type[44 + 6 + 4 + 44 + 8] = 9;
  EXPECT_FALSE(TimeZone::from_tzif(of_unknown_type));
}

}  // namespace
}  // namespace praxis
