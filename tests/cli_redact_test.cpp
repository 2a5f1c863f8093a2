// `praxis redact`; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliRedact : public CommandLine {
 protected:
  /// A key of no account, put together so that scanners of sources do not find it.
  const std::string key_ = "AKIA" + std::string("QWERTYUIOPASDF23");
};

TEST_F(CliRedact, TextIsPrintedWithoutSecretsAndPersonalData) {
  file("a.log", "first\nkey " + key_ + " again " + key_ + "\nmail jane@roe.io\n");
  const CommandResult result = praxis({"redact", "a.log"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("first\nkey [REDACTED:aws-access-key:"));
  EXPECT_THAT(result.out, HasSubstr("\nmail [REDACTED:email:"));
  EXPECT_THAT(result.out, Not(HasSubstr("QWERTY")));
  const std::string token =
      result.out.substr(result.out.find('['), result.out.find(']') - result.out.find('[') + 1);
  EXPECT_THAT(result.out, HasSubstr(" again " + token)) << "equal values have equal tokens";
}

TEST_F(CliRedact, ListNamesKindAndPlaceButNotTheValue) {
  file("a.log", "first\nkey " + key_ + "\nmail jane@roe.io\n");
  const CommandResult result = praxis({"redact", "--list", "a.log"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "2:5  aws-access-key  20 bytes\n3:6  email  11 bytes\n");
}

TEST_F(CliRedact, JsonHasOneLineForEachPlace) {
  file("a.log", "key " + key_ + "\nmail jane@roe.io\n");
  const CommandResult result = praxis({"redact", "--json", "a.log"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(R"("kind":"aws-access-key")"));
  EXPECT_THAT(result.out,
              HasSubstr(R"("kind":"email","personal":true,"begin":30,"end":41,"line":2,"column":6)"));
  EXPECT_THAT(result.out, HasSubstr(R"("places":2)"));
  EXPECT_THAT(result.out, Not(HasSubstr("QWERTY")));
}

TEST_F(CliRedact, OnlyLeavesTheOtherKind) {
  file("a.log", "key " + key_ + " mail jane@roe.io\n");
  EXPECT_THAT(praxis({"redact", "--only", "secrets", "a.log"}).out, EndsWith(" mail jane@roe.io\n"));
  EXPECT_THAT(praxis({"redact", "--only", "personal", "a.log"}).out, HasSubstr(key_));
}

TEST_F(CliRedact, StrictFindsMore) {
  file("a.log", "findl=9f3c4567-e89b-12d3-a456-4266141740a0\n");
  EXPECT_THAT(praxis({"redact", "a.log"}).out, HasSubstr("findl=9f3c"));
  EXPECT_THAT(praxis({"redact", "--profile", "strict", "a.log"}).out, HasSubstr("[REDACTED:random-token:"));
}

TEST_F(CliRedact, UnreadableFileIsAUsageError) {
  const CommandResult result = praxis({"redact", "nowhere.log"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("nowhere.log"));
}

}  // namespace
}  // namespace praxis::testing
