// What `praxis serve` has acknowledged survives a kill that follows the acknowledgement at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "net/testing/raw_client.hpp"
#include "served_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class CliServeKills : public ServedCommandLine {
 protected:
  CliServeKills() {
    std::ofstream(folder_ / "ask.jsonl")
        << R"({"tool_calls":[{"name":"kv","arguments":{"op":"put","key":"k","value":"v"}}]})" << '\n'
        << R"({"delay_ms":60000,"text":"Done."})" << '\n';
    std::ofstream(folder_ / "config/praxis/agents/ask.toml")
        << "model = \"script:ask.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n";
  }
  static int rounds() {
    const char* const wanted = std::getenv("PRAXIS_ACKNOWLEDGED_KILLS");
    return wanted == nullptr ? 20 : std::atoi(wanted);
  }
  /// Sends a request, and kills the server once the status of the answer has arrived. Returns the answer.
  std::string call_and_kill(Process& server, const std::string& line, const std::string& body,
                            const std::string& status) {
    RawClient client(port_);
    client.send(request(line, "", body));
    std::string answer = client.read_until("\r\n\r\n");
    server.signal(SIGKILL);
    server.finish();
    while (client.read_more()) continue;  // what the system had sent
    answer = client.received();
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 " + status));
    return answer;
  }
  std::string records(const std::string& run) { return call("GET /api/v1/runs/" + run + "/records"); }
  static std::string id_in(const std::string& answer) {
    const auto split = answer.find("\r\n\r\n");
    return split == answer.npos ? ""
                                : json_string(parse_json(answer.substr(split + 4)).value_or(nullptr), "id");
  }
};

TEST_F(CliServeKills, RunThatWasAcknowledgedExistsAfterAKill) {
  auto server = serve({"--no-take-up"});
  for (int round = 0; round < rounds(); ++round) {
    const std::string prompt = "Prompt " + std::to_string(round) + ".";
    const std::string answer =
        call_and_kill(*server, "POST /api/v1/runs", R"({"agent":"ask","prompt":")" + prompt + R"("})", "201");
    const std::string run = id_in(answer);
    server = serve({"--no-take-up"});
    ASSERT_FALSE(run.empty()) << answer;
    ASSERT_THAT(records(run), HasSubstr(prompt)) << "round " << round;
  }
}

TEST_F(CliServeKills, CommandsAndDecisionsThatWereAcknowledgedExistAfterAKill) {
  auto server = serve();
  const std::string run = json_string(
      parse_json(call("POST /api/v1/runs", R"({"agent":"ask","prompt":"go"})")).value_or(nullptr), "id");
  const std::string path = "POST /api/v1/runs/" + run;
  for (const std::string verb : {"steer", "enqueue", "annotate"}) {
    const std::string text = "Please " + verb;
    call_and_kill(*server, path + "/commands",
                  R"({"commands":[{"verb":")" + verb + R"(","text":")" + text + R"("}]})", "202");
    server = serve();
    ASSERT_THAT(records(run), HasSubstr(text));
  }
  while (!call("GET /api/v1/pending").contains(run)) std::this_thread::sleep_for(2ms);
  call_and_kill(*server, path + "/steps/p1", R"({"decision":"allow"})", "200");
  server = serve({"--no-take-up"});
  EXPECT_THAT(records(run), HasSubstr("\"decided\""));
}

}  // namespace
}  // namespace praxis::testing
