// Cassettes as a user works with them: docs/cassettes.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kCassette = PRAXIS_SOURCE_DIR "/tests/cassettes/notes";
constexpr const char* kAgent = R"(
id = "notes"
instructions = "Note what the user tells you."
[tools.kv]
[policy]
allow = ["kv"]
)";
constexpr const char* kAnswer =
    R"({"id":"r","model":"demo-1","choices":[{"index":0,"message":{"content":"Hello."},"finish_reason":"stop"}]})";

class CliCassette : public CommandLine {
 protected:
  CliCassette() { file("notes.toml", kAgent); }
};

TEST_F(CliCassette, RecordedRun_IsPlayedBackWithItsTools) {
  const CommandResult run =
      praxis({"run", "notes.toml", "I live in Lisbon.", "--model", "cassette:" + kCassette});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "Noted: your city is Lisbon.\n");
  const CommandResult logs = praxis({"logs", "last"});
  EXPECT_THAT(logs.out, HasSubstr("kv"));
}

TEST_F(CliCassette, RecordingOfARun_CanBePlayedBack) {
  const TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, kAnswer)); });
  ProcessOptions options = options_;
  options.env["LLAMACPP_BASE_URL"] = server.url("/v1");
  options.env["LLAMACPP_API_KEY"] = "sk-very-secret";
  const CommandResult live =
      praxis({"run", "Hi", "--model", "llamacpp:demo-1", "--record", "tape/hello"}, options);
  EXPECT_EQ(live.status, 0) << live.err;
  const CommandResult again = praxis({"resume", "last", "And again", "--record", "tape/hello"}, options);
  EXPECT_EQ(again.status, 0) << again.err;

  const std::string recorded = contents("tape/hello/exchanges.jsonl");
  EXPECT_EQ(std::ranges::count(recorded, '\n'), 2);
  EXPECT_THAT(recorded, Not(HasSubstr("sk-very-secret")));
  const CommandResult played = praxis({"run", "Hi", "--model", "cassette:tape/hello"});
  EXPECT_EQ(played.status, 0) << played.err;
  EXPECT_EQ(played.out, live.out);
  EXPECT_EQ(praxis({"run", "Hi", "--model", "cassette-check:tape/hello"}).status, 0);
  const CommandResult other = praxis({"run", "Ho", "--model", "cassette-check:tape/hello"});
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr(R"("Ho" instead of "Hi")"));
}

}  // namespace
}  // namespace praxis::testing
