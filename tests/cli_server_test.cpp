// The commands with `--server`: they show of a run at a server what they show of one of a journal, and decide
// its steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <regex>
#include <set>
#include <thread>

#include "net/testing/test_server.hpp"
#include "published_schema.hpp"
#include "served_command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class CliServer : public ServedCommandLine {
 protected:
  CliServer() {
    agent("chat", R"({"text":"Hello there.","chunk":4})", "");
    agent("ask",
          R"({"text":"Noting.","tool_calls":[{"name":"kv","arguments":{"op":"put","key":"a","value":"b"}}]})"
          "\n"
          R"({"text":"Noted."})",
          "[tools.kv]\n[policy]\nask = [\"kv\"]\n");
    agent("lead",
          R"({"tool_calls":[{"name":"below","arguments":{"prompt":"Go"}}]})"
          "\n"
          R"({"text":"Done."})",
          "[agents.below]\ndescription = \"Does it\"\nfile = \"ask.toml\"\n");
    agent("denied",
          R"({"tool_calls":[{"name":"kv","arguments":{"op":"put","key":"a","value":"b"}}]})"
          "\n"
          R"({"text":"It may not."})",
          "[tools.kv]\n[policy]\ndeny = [\"kv\"]\n");
    agent("slow", R"({"text":"At last.","delay_ms":600000})", "");
  }

  void agent(const std::string& name, const std::string& script, const std::string& more) const {
    file(name + ".jsonl", script + "\n");
    file("config/praxis/agents/" + name + ".toml", "model = \"script:" + name + ".jsonl\"\n" + more);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  Words at_server(Words words) const {
    words.insert(words.end(), {"--server", url(), "--token-file", "token"});
    return words;
  }
  CommandResult there(const Words& words) const { return praxis(at_server(words)); }
  CommandResult here(Words words) const {
    words.insert(words.end(), {"--journal", "runs.db"});
    return praxis(words);
  }
  /// Waits until the server counts that many connections that follow runs.
  void await_observers(int count) const {
    const std::string line = "praxis_observers " + std::to_string(count) + "\n";
    while (call("GET /metrics").find(line) == std::string::npos) {
    }
  }
  /// The run that a command names on standard error.
  static std::string run_in(const CommandResult& result) {
    std::smatch found;
    return std::regex_search(result.err, found, std::regex("(^|\n)run (\\w+)")) ? found[2].str() : "";
  }
  /// Without what differs between two runs: ids, times and where they are.
  static std::string without_places(std::string text) {
    for (const char* varying : {" --server \\S+ --token-file \\S+", " --journal \\S+",
                                "\\b[0-9A-Z]{26}\\b|\\bK[0-9a-f]{24}\\b", "[0-9.]+ m?s\\b"})
      text = std::regex_replace(text, std::regex(varying), "*");
    return std::regex_replace(text, std::regex("\\*+"), "*");
  }
};

// ---- run

TEST_F(CliServer, Run_ShowsWhatALocalRunShows) {
  const auto server = serve();
  struct Case {
    Words words;
    int status;
  };
  for (const auto& [words, status] : std::vector<Case>{{{"run", "chat", "Hi"}, 0},
                                                       {{"run", "work", "Hi", "-v"}, 0},
                                                       {{"run", "work", "Hi", "-q"}, 0},
                                                       {{"run", "ask", "Hi"}, 3},
                                                       {{"run", "lead", "Hi"}, 3},
                                                       {{"run", "denied", "Hi"}, 4},
                                                       {{"run", "denied", "Hi", "--denials-ok"}, 0}}) {
    Words local = words;
    local.insert(local.end(), {"--journal", "local.db"});
    const CommandResult expected = praxis(local), got = there(words);
    EXPECT_EQ(got.status, status) << words[1] << got.err;
    EXPECT_EQ(expected.status, status) << words[1] << expected.err;
    EXPECT_EQ(got.out, expected.out) << words[1];
    EXPECT_EQ(without_places(got.err), without_places(expected.err)) << words[1];
  }
}

TEST_F(CliServer, Run_WritesTheAnswerToAFileAndSendsFurtherMessages) {
  agent("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}", "");
  const auto server = serve();
  const auto done = there({"run", "chat", "Hi", "-o", "answer.md", "--then", "And now?"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "One.\nTwo.\n");
  EXPECT_EQ(contents("answer.md"), "Two.\n");
}

TEST_F(CliServer, Run_JsonLinesAreThoseOfALocalRun) {
  const PublishedSchema schema;
  const auto server = serve();
  const auto names = [&](const CommandResult& result) {
    std::vector<std::string> events;
    for (const Json& line : result.lines()) {
      schema.check(line, "praxis run");
      const std::string name = json_string(line, "event");
      if (name != "agent.status" && !name.ends_with(".delta")) events.push_back(name);
    }
    return events;
  };
  for (const char* agent : {"chat", "lead", "denied"}) {
    const auto got = there({"run", agent, "Hi", "--json"});
    const auto expected = praxis({"run", agent, "Hi", "--json", "--journal", "local.db"});
    EXPECT_EQ(names(got), names(expected)) << agent;
    const Json ours = got.last_line(), theirs = expected.last_line();
    ASSERT_TRUE(ours.is_object() && theirs.is_object()) << got.err;
    std::vector<std::string> our_keys, their_keys;
    for (const auto& [key, value] : ours.get_object()) our_keys.emplace_back(key);
    for (const auto& [key, value] : theirs.get_object()) their_keys.emplace_back(key);
    EXPECT_EQ(our_keys, their_keys);
    for (const char* key :
         {"command", "exit_status", "success", "result", "termination", "status", "denials"})
      EXPECT_EQ(json_at(ours, key), json_at(theirs, key)) << agent << ' ' << key;
  }
}

TEST_F(CliServer, Run_ComesBackAfterAKillAndShowsEachEventOnce) {
  auto server = serve();
  Process client(command(at_server({"run", "work", "go", "--json"})), options_);
  ASSERT_TRUE(client.prints("tool.completed"));
  for (int kill = 0; kill < 2; ++kill) {
    server->signal(SIGKILL);
    server->finish();
    server = serve();
    ASSERT_TRUE(client.prints("\"step\":" + std::to_string(3 + kill))) << client.errors;
  }
  EXPECT_EQ(client.finish(), 0) << client.errors;
  const CommandResult result{0, client.output, client.errors};
  std::set<std::string> seen;
  std::string text;
  for (const Json& line : result.lines()) {
    const std::string name = json_string(line, "event");
    if (name == "assistant.text") text += json_string(line, "text") + ' ';
    const bool is_durable = !name.ends_with(".delta") && name != "agent.status" && name != "result";
    EXPECT_TRUE(!is_durable || seen.insert(to_json_text(line)).second) << to_json_text(line);
  }
  EXPECT_EQ(text, "Step. Step. Step. Step. Step. Done. ");
  EXPECT_EQ(json_string(result.last_line(), "result"), "Done.");
}

TEST_F(CliServer, Run_OnATerminalShowsTheTextOnceOverAKill) {
  auto server = serve();
  TerminalSession client(command(at_server({"run", "work", "go"})), options_, {200, 50});
  ASSERT_TRUE(client.shows("step 1"));
  server->signal(SIGKILL);
  server->finish();
  server = serve();
  EXPECT_EQ(client.finish(), 0) << client.screen();
  const std::string screen = client.screen();
  int steps = 0;
  for (std::size_t at = 0; (at = screen.find("Step.", at)) != screen.npos; ++at) ++steps;
  EXPECT_THAT(steps, AnyOf(5, 6)) << "an answer that no record had is made again\n" << screen;
  EXPECT_EQ(screen.find("Done."), screen.rfind("Done.")) << screen;
}

TEST_F(CliServer, Run_InterruptLeavesTheRunAndNamesTheCommands) {
  const auto server = serve();
  Process client(command(at_server({"run", "slow", "go"})), options_);
  std::string run;
  while (run.empty()) {
    const Json listed = there({"tree", "--json"}).last_item();
    if (json_string(listed, "status") == "running") run = json_string(listed, "id");
  }
  client.signal(SIGINT);
  EXPECT_EQ(client.finish(), 130);
  EXPECT_THAT(client.errors, AllOf(HasSubstr("run " + run + " continues at the server"),
                                   HasSubstr("follow: praxis resume " + run + " --server " + url()),
                                   HasSubstr("stop: praxis tree stop " + run + " --server " + url())));
  EXPECT_EQ(json_string(there({"tree", "--json"}).last_item(), "status"), "running");

  // The server still counts the first client until it sees that the connection is closed.
  await_observers(0);
  Process follower(command(at_server({"resume", run})), options_);
  await_observers(1);
  const auto stopped = there({"tree", "stop", run});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr(run + " stopped"));
  EXPECT_EQ(follower.finish(), 1);
  EXPECT_THAT(follower.errors, HasSubstr("cancelled: "));
}

TEST_F(CliServer, Run_InterruptBeforeTheAnswerNamesTheRunToo) {
  std::promise<const Process*> started;
  TestServer server([client = started.get_future().share()](const TestRequest& got, TestConnection& to) {
    if (got.method != "POST") {
      to.write(http_reply(200, R"({"agents":[]})"));
      return;
    }
    client.get()->signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // a program that the signal ends is gone
    to.write(http_reply(201, R"({"id":"R1"})"));
  });
  port_ = server.port();
  Process client(command(at_server({"run", "go"})), options_);
  started.set_value(&client);
  EXPECT_EQ(client.finish(), 130);
  EXPECT_THAT(client.errors, HasSubstr("run R1 continues at the server\nfollow: praxis resume R1 --server "));
}

TEST_F(CliServer, Resume_InterruptBeforeTheAnswerNamesTheRunToo) {
  struct Case {
    const char* path;
    const char* is_open;
    Words words;
  };
  for (const Case& one : std::vector<Case>{{"/messages", "false", {"resume", "R1", "and now?"}},
                                           {"/resume", "true", {"resume", "R1"}}}) {
    std::promise<const Process*> started;
    const std::string shown = R"({"run_id":"R1","status":"idle","held":false,"resumable":)";
    TestServer server([&, client = started.get_future().share()](const TestRequest& got, TestConnection& to) {
      if (got.method == "POST") {
        EXPECT_TRUE(got.target.ends_with(one.path)) << got.target;
        client.get()->signal(SIGINT);
        // A program that the signal ends is gone then.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      to.write(http_reply(200, shown + one.is_open + "}"));
    });
    port_ = server.port();
    Process client(command(at_server(one.words)), options_);
    started.set_value(&client);
    EXPECT_EQ(client.finish(), 130);
    EXPECT_THAT(client.errors,
                AllOf(HasSubstr("run R1 continues at the server\nfollow: praxis resume R1 --server "),
                      HasSubstr("stop: praxis tree stop R1 --server ")));
  }
}

TEST_F(CliServer, Resume_KeepsTheSchemaOfTheRun) {
  agent("city",
        "{\"text\":\"{\\\"city\\\":\\\"Rome\\\"}\"}\n{\"text\":\"Oslo\"}\n{\"text\":\"{\\\"city\\\":"
        "\\\"Oslo\\\"}\"}",
        "");
  file("city.json", R"({"type":"object","required":["city"]})");
  const auto server = serve();
  EXPECT_EQ(there({"run", "city", "Which?", "--schema", "city.json"}).status, 0);
  const auto resumed = there({"resume", "last", "And now?", "--json"});
  EXPECT_EQ(resumed.last_line().at("structured"), Json(JsonObject{{"city", "Oslo"}})) << resumed.err;
}

TEST_F(CliServer, Run_RefusesWhatItCannotDo) {
  struct Case {
    Words words;
    int status;
    std::string message, hint;
  };
  const auto server = serve();
  for (const auto& [words, status, message, hint] : std::vector<Case>{
           {{"run", "wrok", "Hi"},
            2,
            "the server has no agent \"wrok\"; did you mean \"work\"?",
            "it has: ask, chat"},
           {{"run", "work.toml", "Hi"}, 2, "\"work.toml\" is a file", "praxis api GET /api/v1/agents"},
           {{"run", "work"}, 2, "no prompt given", ""},
           {{"run", "work", "Hi", "--journal", "x.db"},
            2,
            "--journal does not work with --server",
            "own journal"},
           {{"run", "work", "Hi", "--record", "x"}, 2, "--record does not work with --server", ""},
           {{"run", "work", "Hi", "--attach", "token"}, 2, "--attach does not work with --server", ""},
           {{"resume", "last", "--force"}, 2, "--force does not work with --server", ""},
           {{"resume", "missing"}, 2, "there is no run \"missing\"", ""},
           {{"approve", "p1", "--always"}, 2, "--always does not work with --server", ""},
           {{"tree", "-C", "/"}, 2, "-C does not work with --server", ""},
           {{"tree", "missing"}, 2, "there is no run \"missing\"", ""}}) {
    const auto refused = there(words);
    EXPECT_EQ(refused.status, status) << words[0] << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(message), HasSubstr(hint)));
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_THAT(there({"tree", "--json"}).items(), ::testing::IsEmpty()) << "nothing was started";
}

TEST_F(CliServer, WrongServersAndTokensHaveTheirExitStatus) {
  std::filesystem::create_directories(folder_ / "state/praxis");
  file("state/praxis/server-token", "another-token-of-this-machine\n");
  std::filesystem::permissions(folder_ / "state/praxis/server-token", std::filesystem::perms::owner_read);
  {
    const auto server = serve();
    for (const Words& words : {Words{"run", "work", "Hi"}, {"resume", "last"}, {"approve"}, {"tree"}}) {
      Words wrong = words;
      wrong.insert(wrong.end(), {"--server", url()});
      const auto refused = praxis(wrong);
      EXPECT_EQ(refused.status, 4) << words[0] << ": the token of the local server is not that of this one";
      EXPECT_THAT(refused.err, AllOf(HasSubstr("the server answered 401"), HasSubstr("PRAXIS_TOKEN")));
      wrong.back() = "https://praxis.example.org";
      const auto elsewhere = praxis(wrong);
      EXPECT_EQ(elsewhere.status, 2);
      EXPECT_THAT(elsewhere.err, HasSubstr("that of the local server is not sent to others"));
    }
    options_.env["PRAXIS_TOKEN"] = kServedToken;
    EXPECT_EQ(praxis({"run", "chat", "Hi", "--server", url()}).out, "Hello there.\n");
  }
  for (const Words& words : {Words{"run", "work", "Hi"}, {"resume", "last"}, {"approve"}, {"tree"}}) {
    const auto gone = there(words);
    EXPECT_EQ(gone.status, 6) << words[0];
    EXPECT_THAT(gone.err, HasSubstr("praxis serve starts a server"));
  }
  EXPECT_EQ(praxis({"tree", "--server", "nonsense"}).status, 2);
  EXPECT_EQ(praxis({"tree", "--token-file", "token"}).status, 2) << "without --server it has no meaning";
}

// ---- tree

TEST_F(CliServer, Tree_ShowsWhatThatOfTheJournalShows) {
  const auto server = serve();
  EXPECT_THAT(there({"tree"}).err, HasSubstr("no runs yet"));
  EXPECT_EQ(there({"run", "chat", "Hi"}).status, 0);
  const auto waiting = there({"run", "lead", "Hi"});
  const std::string run = run_in(waiting);
  ASSERT_FALSE(run.empty()) << waiting.err;
  for (const Words& words : {Words{"tree"}, {"tree", run}, {"tree", "last"}, {"tree", "--all"}}) {
    const auto got = there(words), expected = here(words);
    EXPECT_EQ(without_places(got.out), without_places(expected.out));
    EXPECT_THAT(got.out, HasSubstr(" --server " + url() + " --token-file token"))
        << "commands name the server";
    Words json = words;
    json.emplace_back("--json");
    EXPECT_EQ(there(json).items(), here(json).items());
  }
}

TEST_F(CliServer, Tree_WatchEndsWhenAllAgentsAreIdle) {
  const auto server = serve();
  const std::string run = json_string(
      parse_json(call("POST /api/v1/runs", R"({"agent":"work","prompt":"go"})")).value_or(nullptr), "id");
  const auto watched = there({"tree", run, "--watch"});
  EXPECT_EQ(watched.status, 0) << watched.err;
  EXPECT_THAT(watched.out, HasSubstr("completed"));
}

// ---- approve and resume

TEST_F(CliServer, Approve_LetsTheRunFinish) {
  const auto server = serve();
  const std::string run = run_in(there({"run", "lead", "Hi"}));
  const auto listed = there({"approve"});
  const auto local = here({"approve"});
  EXPECT_EQ(without_places(listed.out), without_places(local.out));
  const std::string step = json_string(there({"approve", "--json"}).last_item(), "id");
  ASSERT_THAT(step, HasSubstr("/p1"));
  EXPECT_THAT(listed.out,
              HasSubstr("praxis approve " + step + " --server " + url() + " --token-file token --allow"));
  const auto decided = there({"approve", step, "--allow"});
  EXPECT_EQ(decided.status, 0) << decided.err;
  EXPECT_EQ(decided.out, "Done.\n");
  EXPECT_THAT(decided.err, HasSubstr(step + " is decided"));
  EXPECT_THAT(there({"approve"}).err, HasSubstr("no step awaits a human"));
  const auto again = there({"approve", step, "--allow"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("it may be decided already"));
}

TEST_F(CliServer, Approve_DeniesAndEdits) {
  file("arguments.json", R"({"op":"put","key":"edited","value":"c"})");
  const auto server = serve();
  for (const Words& how : {Words{"--deny", "-m", "not today"}, {"--edit", "arguments.json"}}) {
    const std::string run = run_in(there({"run", "ask", "Hi"}));
    Words words{"approve", run + "/p1"};
    words.insert(words.end(), how.begin(), how.end());
    const auto decided = there(words);
    EXPECT_EQ(decided.status, 0) << decided.err;
    EXPECT_THAT(here({"show", run}).out, HasSubstr(how[0] == "--deny" ? "not today" : "edited"));
  }
}

TEST_F(CliServer, Run_AsksAtTheTerminal) {
  const auto server = serve();
  TerminalSession client(command(at_server({"run", "ask", "Hi"})), options_, {200, 50});
  client.answer("[l]ater:", "y\n");
  EXPECT_EQ(client.finish(), 0) << client.screen();
  EXPECT_THAT(client.screen(), AllOf(HasSubstr("Noted."), Not(HasSubstr("[a]lways"))));
}

TEST_F(CliServer, Approve_AsksAtTheTerminal) {
  const auto server = serve();
  const std::string run = run_in(there({"run", "ask", "Hi"}));
  TerminalSession client(command(at_server({"approve"})), options_, {200, 50});
  client.answer("[l]ater:", "y\n");
  EXPECT_EQ(client.finish(), 0) << client.screen();
  EXPECT_THAT(client.screen(), AllOf(HasSubstr("1 of 1: " + run + "/p1"), HasSubstr("Noted.")));
}

TEST_F(CliServer, Resume_DecidesContinuesAndStartsTheNextTurn) {
  agent("ask",
        R"({"text":"Noting.","tool_calls":[{"name":"kv","arguments":{"op":"put","key":"a","value":"b"}}]})"
        "\n"
        R"({"text":"Noted."})"
        "\n"
        R"({"text":"Again."})",
        "[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  const auto server = serve();
  const std::string run = run_in(there({"run", "ask", "Hi"}));
  const auto waits = there({"resume", run});
  EXPECT_EQ(waits.status, 3);
  EXPECT_THAT(waits.err, HasSubstr("praxis resume " + run + " --server " + url()));
  const auto early = there({"resume", run, "And now?"});
  EXPECT_EQ(early.status, 2);
  EXPECT_THAT(early.err, HasSubstr("waits for a human before it takes a prompt"));
  const auto decided = there({"resume", run, "--allow", "p1"});
  EXPECT_EQ(decided.status, 0) << decided.err;
  EXPECT_EQ(decided.out, "Noted.\n");
  const auto over = there({"resume", run});
  EXPECT_EQ(over.status, 2);
  EXPECT_THAT(over.err, HasSubstr("has no turn to resume"));
  const auto next = there({"resume", run, "And now?"});
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_EQ(next.out, "Again.\n");
}

TEST_F(CliServer, Resume_ContinuesWhatAServerLeft) {
  auto server = serve();
  Process client(command(at_server({"run", "work", "go"})), options_);
  ASSERT_TRUE(client.reports("step 1"));
  server->signal(SIGKILL);
  server->finish();
  client.signal(SIGINT);
  EXPECT_EQ(client.finish(), 130);
  server = serve({"--no-take-up"});
  const auto resumed = there({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Done.\n");
}

}  // namespace
}  // namespace praxis::testing
