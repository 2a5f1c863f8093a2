// Turns that are continued or tried another way; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliAgain : public CommandLine {
 protected:
  /// Writes `steps.jsonl`: a call, an answer, and the lines `more`.
  void script_of_steps(const std::string& more = "") {
    const std::string call =
        R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})";
    file("steps.jsonl", call + "\n" + R"({"text": "Done."})" + "\n" + more);
  }
};

TEST_F(CliAgain, TurnThatALimitEnded_IsContinuedWithoutAPrompt) {
  script_of_steps();
  file("steps.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n[limits]\nmax_steps = 1\n");
  ASSERT_EQ(praxis({"run", "steps.toml", "Go"}).status, 5);
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Done.\n");
  const CommandResult again = praxis({"resume", "last"});
  EXPECT_EQ(again.status, 2) << "a turn that finished is not repeated";
  EXPECT_THAT(again.err, HasSubstr("has no turn to resume"));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliAgain, TurnThatAnOutageEnded_IsContinuedWithoutAPrompt) {
  file("down.jsonl", R"({"error": {"status": 402, "message": "no credit"}})"
                     "\n"
                     R"({"text": "Back again."})"
                     "\n");
  ASSERT_EQ(praxis({"run", "--model", "script:down.jsonl", "Hi"}).status, 6);
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Back again.\n");
}

TEST_F(CliAgain, ForkWithAPrompt_RunsTheBranchAnotherWay) {
  script_of_steps(R"({"text": "Again."})"
                  "\n");
  file("steps.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n");
  ASSERT_EQ(praxis({"run", "steps.toml", "Go"}).status, 0);
  const std::string first = last_run();
  const CommandResult within = praxis({"fork", first + "@1", "--prompt", "Use another key"});
  EXPECT_EQ(within.status, 0) << within.err;
  EXPECT_THAT(praxis({"show", "last"}).out, AllOf(HasSubstr("Use another key"), HasSubstr("Done.")));
  const CommandResult after = praxis({"fork", first, "--prompt", "And now?"});
  EXPECT_EQ(after.status, 0) << after.err;
  EXPECT_THAT(after.out, HasSubstr("Again."));
  EXPECT_THAT(praxis({"show", first}).out, Not(HasSubstr("And now?"))) << "the run itself is unchanged";
}

TEST_F(CliAgain, PromptWithinATurn_NamesTheCommandThatHelps) {
  script_of_steps();
  file("steps.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n");
  ASSERT_EQ(praxis({"run", "steps.toml", "Go"}).status, 0);
  ASSERT_EQ(praxis({"fork", "last@1"}).status, 0);
  const CommandResult refused = praxis({"resume", "last", "And now?"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("is in the middle of a turn"), HasSubstr("hint: praxis resume ")));
}

TEST_F(CliAgain, RefusedKeyAndWrongAddress_AreNamedWithTheirOrigin) {
  std::atomic<int> status = 401;
  TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write(http_reply(status, "<html>no</html>", "Content-Type: text/html\r\n"));
  });
  ProcessOptions options = options_;
  options.env["NO_PROXY"] = "127.0.0.1";
  options.env["OPENAI_BASE_URL"] = server.url("/v9");
  options.env["OPENAI_API_KEY"] = "sk-wrong-key";
  const CommandResult refused = praxis({"run", "--model", "compatible:m", "Hi"}, options);
  EXPECT_EQ(refused.status, 6) << refused.err;
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("the key is from OPENAI_API_KEY"), Not(HasSubstr("sk-wrong-key"))));
  status = 404;
  const CommandResult missing = praxis({"run", "--model", "compatible:m", "Hi"}, options);
  EXPECT_NE(missing.status, 0);
  EXPECT_THAT(missing.err, HasSubstr("the address is " + server.url("/v9") + ", from OPENAI_BASE_URL"));
}

TEST_F(CliAgain, WrongArguments_AreNamedInPlainWords) {
  const auto mistake = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const CommandResult run = praxis(arguments);
    EXPECT_EQ(run.status, 2) << run.out;
    EXPECT_THAT(run.err, HasSubstr(message));
  };
  mistake({"run", "Hi", "--model"}, "--model needs a value: --model MODEL");
  mistake({"run", "Hi", "--max-steps", "0"}, "--max-steps: \"0\" is not a number from 1 to 1000000");
  mistake({"runs", "-n", "-3"}, "\"-3\" is not a number");
  mistake({"fork", "last", "--seq", "-1"}, "\"-1\" is not a number");
  mistake({"--journal", "x.db", "runs"}, "the command comes first, not \"--journal\"");
  EXPECT_EQ(praxis({"help"}).out, praxis({"--help"}).out);
  EXPECT_EQ(praxis({"help", "runs"}).out, praxis({"runs", "--help"}).out);
  EXPECT_EQ(praxis({"-V"}).out, praxis({"--version"}).out);
}

}  // namespace
}  // namespace praxis::testing
