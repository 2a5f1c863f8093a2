// Turns that are continued or tried another way; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <tuple>

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

TEST_F(CliAgain, TurnThatALimitEnded_KeepsItsSchema) {
  script_of_steps("{\"text\": \"Still no JSON.\"}\n{\"text\": \"Nor here.\"}\n");
  file("steps.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n[limits]\nmax_steps = 1\n");
  file("schema.json", R"({"type": "object"})");
  ASSERT_EQ(praxis({"run", "steps.toml", "Go", "--schema", "schema.json"}).status, 5);
  const CommandResult resumed = praxis({"resume", "last", "--max-steps", "9"});
  EXPECT_EQ(resumed.status, 9) << resumed.err;
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliAgain, MessageAfterATurnThatALimitEnded_HasNoSchema) {
  script_of_steps();
  file("steps.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n[limits]\nmax_steps = 1\n");
  file("schema.json", R"({"type": "object"})");
  ASSERT_EQ(praxis({"run", "steps.toml", "Go", "--schema", "schema.json"}).status, 5);
  ASSERT_EQ(praxis({"tree", "steer", "last", "Explain in prose"}).status, 0);
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Done.\n");
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliAgain, MessageOfTheQueue_LeavesTheSchemaOfTheRun) {
  file("json.jsonl", R"({"text": "{\"a\": 1}"})"
                     "\n{\"text\": \"Prose.\"}\n{\"text\": \"Prose.\"}\n"
                     R"({"text": "{\"a\": 2}"})"
                     "\n");
  file("schema.json", R"({"type": "object"})");
  const std::vector<std::string> first{"run", "--model",  "script:json.jsonl",
                                       "One", "--schema", "schema.json"};
  ASSERT_EQ(praxis(first).status, 0);
  ASSERT_EQ(praxis({"tree", "enqueue", "last", "Two"}).status, 0);
  EXPECT_EQ(praxis({"resume", "last"}).out, "Prose.\n") << "a queued message has no schema";
  EXPECT_EQ(praxis({"resume", "last", "Three"}).out, "{\"a\": 2}\n") << "after a correction";
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

TEST_F(CliAgain, SeveralPrompts_AreTurnsOneAfterTheOther) {
  file("two.jsonl", R"({"text": "One."})"
                    "\n"
                    R"({"text": "Two."})"
                    "\n"
                    R"({"text": "Half", "finish": "length"})"
                    "\n");
  const std::vector<std::string> two{"run", "--model", "script:two.jsonl", "first", "--then", "second"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), two.begin(), two.end());
    return praxis(more);
  };
  const CommandResult quiet = with({"-q"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out, "One.\nTwo.\n");
  EXPECT_EQ(quiet.err, "") << "-q shows the answers only";
  EXPECT_EQ(praxis({"show", "last@t1"}).status, 2);
  const CommandResult cut = with({"--then", "third", "--then", "fourth", "-q"});
  EXPECT_EQ(cut.status, 5);
  EXPECT_THAT(cut.err, AllOf(HasSubstr("cut off"), HasSubstr("1 of the messages of --then was not sent")));
}

TEST_F(CliAgain, Turns_AreAddressedInForkAndRewind) {
  file("many.jsonl", R"({"text": "One."})"
                     "\n"
                     R"({"text": "Two."})"
                     "\n"
                     R"({"text": "Three."})"
                     "\n");
  ASSERT_EQ(praxis({"run", "--model", "script:many.jsonl", "a", "--then", "b", "--then", "c"}).status, 0);
  const std::string run = last_run();
  const auto branch = [&](const std::string& point) {
    const CommandResult forked = praxis({"fork", run + "@" + point});
    EXPECT_EQ(forked.status, 0) << forked.err;
    return praxis({"show", "last"}).out;
  };
  EXPECT_THAT(branch("t2"), AllOf(HasSubstr("Two."), Not(HasSubstr("Three."))));
  EXPECT_THAT(branch("t1.1"), AllOf(HasSubstr("One."), Not(HasSubstr("Two."))));
  EXPECT_THAT(praxis({"fork", run + "@t1.2"}).err, HasSubstr("no turn \"t1\" of the run completed a step 2"));
  EXPECT_THAT(praxis({"fork", run + "@t7"}).err, HasSubstr("no turn \"t7\" of the run has ended"));
  ASSERT_EQ(praxis({"rewind", run + "@t2"}).status, 0);
  EXPECT_THAT(praxis({"rewind", run + "@t3"}).err, HasSubstr("has no turn \"t3\" (it has t1)"));
}

TEST_F(CliAgain, ForkWithEdit_AsksTheSavedMessageInPlaceOfTheOneThere) {
  file("many.jsonl", R"({"text": "One."})"
                     "\n"
                     R"({"text": "Two."})"
                     "\n");
  file("photo.png", "\x89PNG\r\n\x1a\n0000");
  file("notes.txt", "buy milk");
  ASSERT_EQ(praxis({"run", "--model", "script:many.jsonl", "Look here", "--attach", "photo.png", "--attach",
                    "notes.txt", "--then", "And there?"})
                .status,
            0);
  const std::string run = last_run();
  const auto edited = [&](const std::string& point, const std::string& change) {
    options_.env["EDITOR"] = "cat >&2 <\"$1\"; " + change;
    return praxis({"fork", run + point, "--edit"});
  };
  const CommandResult last = edited("", "sed -i s/there/above/");
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_THAT(last.err, HasSubstr("And there?"));
  EXPECT_THAT(praxis({"show", "last"}).out, AllOf(HasSubstr("Look here"), HasSubstr("And above?"),
                                                  HasSubstr("Two."), Not(HasSubstr("And there?"))));
  const CommandResult first = edited("@t1.1", "sed -i s/here/elsewhere/");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, Not(HasSubstr("buy milk"))) << "attachments are kept, not edited";
  EXPECT_THAT(praxis({"show", "last"}).out,
              AllOf(HasSubstr("[image: image/png, 12 bytes]"), HasSubstr("buy milk"),
                    HasSubstr("Look elsewhere"), HasSubstr("One."), Not(HasSubstr("And"))));
  const std::string newest = last_run();
  EXPECT_THAT(edited("", "truncate -s 0").err, HasSubstr("the message is empty; no branch was made"));
  EXPECT_THAT(edited("", "false").err, HasSubstr("failed; EDITOR names another"));
  EXPECT_EQ(last_run(), newest) << "no branch was made";
  EXPECT_THAT(praxis({"show", run}).out, AllOf(HasSubstr("Look here"), HasSubstr("And there?")));
}

TEST_F(CliAgain, ForkWithEdit_RefusesAMessageFromTheQueue) {
  script_of_steps();
  file("steps.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  ASSERT_EQ(praxis({"run", "steps.toml", "Go"}).status, 3);
  ASSERT_EQ(praxis({"tree", "enqueue", "last", "And then?"}).status, 0);
  std::ignore = praxis({"resume", "last", "--allow", "p1"});
  options_.env["EDITOR"] = "true";
  const CommandResult queued = praxis({"fork", "last", "--edit"});
  EXPECT_EQ(queued.status, 2) << queued.err;
  EXPECT_THAT(queued.err, HasSubstr("the turn did not begin with a message of the user"));
  EXPECT_EQ(praxis({"fork", "last", "--seq", "1", "--edit"}).status, 2);
}

TEST_F(CliAgain, SeveralCommandsForANode_AreRecordedTogether) {
  script_of_steps();
  file("ask.toml", "model = \"script:steps.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  ASSERT_EQ(praxis({"run", "ask.toml", "Go"}).status, 3);
  const CommandResult both =
      praxis({"tree", "steer", "last", "Be brief", "--and", "pause", "--and", "annotate why so"});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.err, HasSubstr("paused"));
  const Json node = praxis({"tree", "last", "--json"}).last_item();
  EXPECT_TRUE(json_bool(node, "paused"));
  EXPECT_EQ(json_string(node, "comment"), "why so");
  EXPECT_THAT(praxis({"show", "last", "--json"}).out, HasSubstr("Be brief"));
  const CommandResult wrong = praxis({"tree", "steer", "last", "x", "--and", "pause now"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("pause accepts no TEXT"));
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

TEST_F(CliAgain, SteeringARunAtRest_NamesTheCommandThatDeliversIt) {
  file("more.jsonl", "{\"text\": \"One.\"}\n{\"text\": \"Two.\"}\n");
  ASSERT_EQ(praxis({"run", "--model", "script:more.jsonl", "Go"}).status, 0);
  const CommandResult steered = praxis({"tree", "steer", "last", "Be brief"});
  EXPECT_EQ(steered.status, 0);
  const std::string mark = "no process runs it now: ";
  const auto at = steered.err.find(mark);
  ASSERT_NE(at, std::string::npos) << steered.err;
  const auto begin = at + mark.size();
  const CommandResult resumed = shell(steered.err.substr(begin, steered.err.find('\n', begin) - begin));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Two.\n");
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("Be brief"));
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
