// Compares answers byte for byte with those of the official core of Restate's SDKs, which
// scripts/check-restate lets play random invocations: PRAXIS_RESTATE_ORACLE names the file with its requests
// and answers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "engines/restate/guard.hpp"
#include "engines/restate/testing/recorded.hpp"
#include "praxis/json/json.hpp"

namespace praxis::restate {
namespace {

using testing::unhex;

std::string answer_to(const Invocation& invocation, const Json& example) {
  const std::string action = json_string(example, "action");
  if (action == "propose") return propose(invocation, unhex(json_string(example, "batch")));
  if (action == "suspend")
    return suspend(invocation, UnixMillis{json_at(example, "until").to_number<std::int64_t>()});
  return action == "wake" ? wake(invocation) : finish(invocation);
}

TEST(RestateOracle, AnswersAreThoseOfTheOfficialCore) {
  const char* const file = std::getenv("PRAXIS_RESTATE_ORACLE");
  if (file == nullptr) GTEST_SKIP() << "scripts/check-restate makes the answers of the official core";
  std::ifstream in(file);
  std::size_t examples = 0;
  for (std::string line; std::getline(in, line); ++examples) {
    const auto example = parse_json(line);
    ASSERT_TRUE(example) << line;
    const auto invocation = read_invocation(unhex(json_string(*example, "request")));
    ASSERT_TRUE(invocation) << invocation.error().message << '\n' << line;
    const std::string answer = answer_to(*invocation, *example);
    ASSERT_EQ(answer, unhex(json_string(*example, "answer"))) << line;
    const auto good = check_answer(*invocation, answer);
    ASSERT_TRUE(good) << good.error().message << '\n' << line;
  }
  EXPECT_GT(examples, 0U);
}

}  // namespace
}  // namespace praxis::restate
