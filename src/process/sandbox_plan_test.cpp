#include "process/sandbox_plan.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

TEST(SandboxPlan, OldLandlock_IsNamedWithWhatItLacks) {
  EXPECT_EQ(landlock_text(7), "Landlock 7");
  EXPECT_EQ(landlock_text(6), "Landlock 6");
  EXPECT_EQ(
      landlock_text(5),
      "Landlock 5, which does not know: signals and abstract sockets (Linux 6.12); name spaces and seccomp "
      "stand alone there");
  const std::string oldest = landlock_text(1);
  for (const char* part : {"ports", "devices", "signals"}) EXPECT_TRUE(oldest.contains(part)) << oldest;
}

}  // namespace
}  // namespace praxis
