#include "praxis/base/dates.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

TEST(Dates, HttpForm_IsParsed) {
  EXPECT_EQ(from_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), UnixMillis{784'111'777'000});
  for (const auto* other :
       {"", "784111777", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT x"}) {
    EXPECT_FALSE(from_http_date(other)) << other;
  }
}

TEST(Dates, IsoForm_RoundTrips) {
  const UnixMillis time{1'769'860'800'123};
  EXPECT_EQ(from_iso8601(to_iso8601(time)), time);
}

TEST(Dates, IsoForm_MayHaveOffsetsAndFractions) {
  const UnixMillis noon{1'769'860'800'000};
  EXPECT_EQ(from_iso8601("2026-01-31T12:00:00Z"), noon);
  EXPECT_EQ(from_iso8601("2026-01-31T14:00:00+02:00"), noon);
  EXPECT_EQ(from_iso8601("2026-01-31T02:30:00-0930"), noon);
  EXPECT_EQ(from_iso8601("2026-01-31T12:00:00.123456789Z"), UnixMillis{noon.value + 123});
  for (const auto* other : {"", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00:00+2", "soon"}) {
    EXPECT_FALSE(from_iso8601(other)) << other;
  }
}

}  // namespace
}  // namespace praxis
