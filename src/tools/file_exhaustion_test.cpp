// A process without descriptors: what the file tools report then is a fault of the process, not of the call.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "base/exhausted.hpp"
#include "praxis/tools/file_tool.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

/// Calls `tool` with room for no descriptor, then for one, and so on until it succeeds; returns how often it
/// failed. Every failure must say that the process has run out of descriptors.
int failures_without_descriptors(const Tool& tool, const Json& arguments) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  for (rlim_t room = 3; room < 100; ++room) {
    const rlimit little{room, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &little);
    const auto output = call_with(tool, arguments);
    setrlimit(RLIMIT_NOFILE, &before);
    if (output) return static_cast<int>(room) - 3;
    EXPECT_TRUE(is_exhausted(output.error())) << room << ": " << output.error().message;
  }
  return 0;
}

TEST(FileExhaustion, ProcessWithoutDescriptors_IsNotAFailureOfTheCall) {
  if (PRAXIS_SANITIZED) GTEST_SKIP() << "the sanitizers need descriptors of their own";
  const ScratchFolder scratch;
  scratch.write("root/a.txt", "old");
  EXPECT_GT(failures_without_descriptors(file_read_tool({scratch.str("root")}),
                                         {{"op", "read"}, {"path", "a.txt"}}),
            0);
  EXPECT_GT(failures_without_descriptors(file_write_tool({scratch.str("root")}),
                                         {{"path", "a.txt"}, {"content", "new"}}),
            0);
  EXPECT_EQ(scratch.read("root/a.txt"), "new");
}

}  // namespace
}  // namespace praxis
