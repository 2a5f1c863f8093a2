#include "praxis/base/reach.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

TEST(Reach, IsPartOfAnError) {
  const Error error = make_error(ErrorCode::kTool, ErrorKind::kTimeout, "too late", true);
  EXPECT_EQ(reach_of(error), std::nullopt);
  for (const Reach reach : {Reach::kNotSent, Reach::kSent, Reach::kAnswered}) {
    const Error stated = with_reach(error, reach);
    EXPECT_EQ(reach_of(stated), reach);
    EXPECT_EQ(stated.kind(), ErrorKind::kTimeout);
  }
  EXPECT_EQ(reach_of(with_reach(with_reach(error, Reach::kSent), Reach::kNotSent)), Reach::kNotSent);
  EXPECT_EQ(reach_of(Error(error).set("reach", "around the corner")), std::nullopt);
}

}  // namespace
}  // namespace praxis
