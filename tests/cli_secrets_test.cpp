// `praxis secrets`, and runs whose tools use secrets: no value is in a file, an output or a command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kValue = "canary-4fT9wQz71LmXv83b";

class CliSecrets : public CommandLine {
 protected:
  CliSecrets() {
    file("config/praxis/token", std::string(kValue) + "\n");
    std::filesystem::permissions(folder_ / "config/praxis/token", std::filesystem::perms::owner_read);
  }

  void configure(const std::string& hosts) const {
    file("config/praxis/config.toml", "[secrets.it]\nfrom = \"file:token\"\nhosts = [" + hosts + "]\n");
  }
  /// Whether a process of this machine has the value among its arguments.
  static bool is_in_a_command_line() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream in(entry.path() / "cmdline");
      const std::string words{std::istreambuf_iterator<char>(in), {}};
      if (words.contains(kValue)) return true;
    }
    return false;
  }
  /// The files of the state folder that hold the value.
  std::string files_with_value() const {
    std::string found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "state")) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.contains(kValue)) found += entry.path().string() + ' ';
    }
    return found;
  }
  void expect_nowhere(const CommandResult& run) const {
    EXPECT_EQ(files_with_value(), "");
    EXPECT_THAT(run.out + run.err, Not(HasSubstr(kValue)));
    for (const std::string format : {"records", "json", "markdown", "html"})
      EXPECT_THAT(praxis({"export", "last", "--format", format}).out, Not(HasSubstr(kValue))) << format;
    EXPECT_THAT(praxis({"logs", "last", "--json"}).out, AllOf(HasSubstr("[key]"), Not(HasSubstr(kValue))));
  }
};

TEST_F(CliSecrets, ListAndCheck_ShowNoValue) {
  EXPECT_THAT(praxis({"secrets"}).err, HasSubstr("no secrets"));
  file("config/praxis/config.toml",
       "[secrets.github]\nfrom = \"file:token\"\nhosts = [\"api.github.com\"]\n[secrets.other]\nfrom = "
       "\"command:echo " +
           std::string(kValue) + "; exit 1\"\n");
  const CommandResult list = praxis({"secrets"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("github"), HasSubstr("/token  for api.github.com"),
                              HasSubstr("command  for no host"), Not(HasSubstr(kValue))));
  const CommandResult check = praxis({"secrets", "check"});
  EXPECT_EQ(check.status, 2);
  EXPECT_THAT(check.out, AllOf(HasSubstr("ok       github"), HasSubstr("failed   other"),
                               HasSubstr("status 1"), Not(HasSubstr(kValue))));
  EXPECT_EQ(praxis({"secrets", "check", "github"}).status, 0);
  const CommandResult json = praxis({"secrets", "check", "--json"});
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"ok\":false"), Not(HasSubstr(kValue))));
  EXPECT_THAT(praxis({"doctor"}).out, HasSubstr("github, other"));
  EXPECT_THAT(praxis({"config", "show"}).out, Not(HasSubstr(kValue)));
  EXPECT_EQ(praxis({"secrets", "check", "githib"}).status, 2);
}

TEST_F(CliSecrets, ValueIsInNoFileNoOutputAndNoCommandLine) {
  std::atomic<bool> was_seen = false;
  std::atomic<int> had_it = 0;
  TestServer server([&](const TestRequest& request, TestConnection& to) {
    const std::string sent(find_header(request.headers, "Authorization").value_or("nothing"));
    had_it += sent == std::string("Bearer ") + kValue;
    was_seen = was_seen || is_in_a_command_line();
    to.write(http_reply(200, "you sent " + sent));
  });
  configure('"' + ("127.0.0.1:" + std::to_string(server.port())) + '"');
  file("agent.toml",
       "model = \"script:s.jsonl\"\n[tools.http]\nallow = [\"127.0.0.1:" + std::to_string(server.port()) +
           "\"]\nheaders = { Authorization = \"Bearer secret:it\" }\n");
  file("s.jsonl", R"({"tool_calls": [{"name": "http", "arguments": {"url": ")" + server.url() + "\"}}]}\n" +
                      R"({"text": "done"})" + "\n");
  const CommandResult run = praxis({"run", "agent.toml", "go", "-v"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(had_it, 1);
  EXPECT_FALSE(was_seen);
  expect_nowhere(run);
}

TEST_F(CliSecrets, ProgramGetsTheValue_AndItsOutputIsHidden) {
  if (!probe_sandbox().full())
    PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
  configure("");
  file("agent.toml",
       "model = \"script:s.jsonl\"\n[tools.shell]\nenvironment = [\"TOKEN=secret:it\"]\n[policy]\nallow = "
       "[\"shell\"]\n");
  file("s.jsonl",
       R"({"tool_calls": [{"name": "shell", "arguments": {"argv": ["sh", "-c", "echo ${#TOKEN} $TOKEN"]}}]})"
       "\n{\"text\": \"done\"}\n");
  const CommandResult run = praxis({"run", "agent.toml", "go", "-v"});
  EXPECT_EQ(run.status, 0) << run.err;
  expect_nowhere(run);
  EXPECT_THAT(praxis({"logs", "last", "--json"}).out,
              HasSubstr(std::to_string(std::string(kValue).size()) + " [key]"));
}

TEST_F(CliSecrets, ServerOfMcp_GetsTheValueInItsEnvironment_AndItsResultsAreHidden) {
  if (!probe_sandbox().full())
    PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
  configure("");
  const std::string servers = PRAXIS_SOURCE_DIR "/tests/mcp";
  std::filesystem::create_directories(folder_ / "notes");
  file("agent.toml",
       "model = \"script:s.jsonl\"\n[policy]\nallow = [\"fix__*\"]\n[tools.mcp.fix]\ncommand = "
       "[\"python3\", \"" +
           servers + "/server.py\", \"usual\", \"" + (folder_ / "notes/calls").string() + "\"]\nread = [\"" +
           servers + "\"]\nwrite = [\"notes\"]\nenvironment = [\"TOKEN=secret:it\"]\n");
  EXPECT_THAT(praxis({"mcp", "call", "agent.toml", "fix__environment"}).out, HasSubstr("TOKEN"));
  const std::string echoed = to_json_text(JsonObject{{"text", std::string("it is ") + kValue}});
  EXPECT_EQ(praxis({"mcp", "call", "agent.toml", "fix__echo", echoed}).out, "it is [key]\n");
}

}  // namespace
}  // namespace praxis::testing
