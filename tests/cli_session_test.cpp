// A whole session at a pseudo-terminal, as a person types it into a shell: start, put off, approve, stop,
// lose to a kill, look, resume, branch, read, remove.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CliSession : public CommandLine {
 protected:
  CliSession() {
    options_.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
    options_.env["PS1"] = "ready> ";
    file("ask.jsonl",
         R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "home", "value": "Lisbon"}}]})"
         "\n{\"text\": \"It is noted.\"}\n{\"text\": \"In another way.\"}\n");
    file("ask.toml", "model = \"script:ask.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
    file("slow.jsonl", R"({"text": "x", "delay_ms": 60000})");
  }

  std::string statuses() const {
    std::string all;
    for (const Json& run : praxis({"runs", "--json"}).items()) all += json_string(run, "status") + ' ';
    return all;
  }
};

TEST_F(CliSession, WholeDayIsTypedIntoAShell) {
  const std::string prompt = "ready>";
  TerminalSession shell({"bash", "--norc", "--noprofile", "-i"}, options_, {100, 30});
  shell.answer(prompt, "praxis run ask.toml 'I live in Lisbon'\n");
  shell.answer("[l]ater:", "l\n");
  shell.answer(prompt, "echo status $?; praxis approve\n");
  shell.shows("status 3");
  shell.answer("[l]ater:", "y\n");
  shell.answer(prompt, "praxis runs name last diary\n");
  shell.shows("It is noted.");

  shell.answer(prompt, "praxis run --model script:slow.jsonl Wait\n");
  shell.shows(", $0: script:slow.jsonl");  // the status line
  shell.type("\x03");
  shell.answer(prompt, "echo status $?\n");
  shell.shows("status 130");

  shell.answer(
      prompt,
      "praxis run --model script:slow.jsonl Hold -q & until praxis tree | grep -q running; do :; done\n");
  shell.answer(prompt, "kill -9 $!; wait $! 2>/dev/null; clear; praxis tree\n");
  shell.shows("its process has ended; continue with:");
  EXPECT_EQ(statuses(), "interrupted cancelled completed ");
  file("slow.jsonl", R"({"text": "Here again."})");
  shell.answer(prompt, "praxis resume last\n");
  shell.shows("Here again.");

  shell.answer(prompt, "praxis fork diary --prompt 'And otherwise?'\n");
  shell.shows("In another way.");
  shell.answer(prompt, "praxis show last --no-such\n");
  shell.shows("unknown option \"--no-such\"");
  shell.answer(prompt, "praxis runs rm last\n");
  shell.answer("Remove 1 run for good? [y/N]", "y\n");
  shell.answer(prompt, "exit\n");
  EXPECT_EQ(shell.finish(), 0);
  EXPECT_EQ(statuses(), "completed cancelled completed ");
  EXPECT_THAT(
      praxis({"show", "diary"}).out,
      AllOf(HasSubstr("I live in Lisbon"), HasSubstr("**Decision** on p1"), HasSubstr("It is noted.")));
}

}  // namespace
}  // namespace praxis::testing
