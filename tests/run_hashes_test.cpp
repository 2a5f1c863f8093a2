// The same runs give the same journals and requests in every build, byte for byte: each is compared with the
// digests in tests/fixtures/run-hashes.txt. If a change of the bytes is intended, regenerate them:
//
//   PRAXIS_UPDATE_HASHES=1 build/dev/whole_test --gtest_filter='RunHashes.*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "recorded_run.hpp"

namespace praxis::testing {
namespace {

const std::string kFile = PRAXIS_SOURCE_DIR "/tests/fixtures/run-hashes.txt";

TEST(RunHashes, EveryRun_IsTheSameInEveryBuild) {
  if (std::getenv("PRAXIS_UPDATE_HASHES") != nullptr) {
    std::ofstream out(kFile);
    for (std::uint64_t seed = 1; seed <= kGoldenRuns; ++seed) out << golden_line(seed);
    return;
  }
  const std::uint64_t compared = PRAXIS_SANITIZED ? 50 : kGoldenRuns;
  std::ifstream in(kFile);
  for (std::uint64_t seed = 1; seed <= compared; ++seed) {
    std::string line;
    ASSERT_TRUE(std::getline(in, line)) << kFile << " ends before seed " << seed;
    EXPECT_EQ(golden_line(seed), line + '\n') << "seed " << seed;
  }
}

}  // namespace
}  // namespace praxis::testing
