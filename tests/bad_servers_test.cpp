// Servers of models that misbehave, as a person meets them: real HTTP servers, the real binary. Each case
// says which exit status and which messages follow, how often the server was asked, and what was shown
// meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kEventStream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
constexpr const char* kStreamDelta = R"(data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]})"
                                     "\n\n";
constexpr const char* kStreamEnd = R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
                                   "\n\ndata: [DONE]\n\n";

std::string http_chunk(const std::string& bytes) {
  std::ostringstream size;
  size << std::hex << bytes.size();
  return size.str() + "\r\n" + bytes + "\r\n";
}

void give_answer(TestConnection& to) {
  to.write(kEventStream + "Transfer-Encoding: chunked\r\n\r\n" +
           http_chunk(std::string(kStreamDelta) + kStreamEnd) + "0\r\n\r\n");
}
void open_stream(TestConnection& to) { to.write(kEventStream + "Transfer-Encoding: chunked\r\n\r\n"); }
void cut_in_answer(TestConnection& to) {
  open_stream(to);
  to.write(http_chunk(kStreamDelta));
  to.cut();
}
void stall_in_answer(TestConnection& to) {
  open_stream(to);
  to.write(http_chunk(kStreamDelta));
  to.wait_for_close();
}
std::string refusal(const std::string& type, const std::string& message) {
  return R"({"error":{"type":")" + type + R"(","message":")" + message + R"("}})";
}

/// What a server does with its first request; later ones get an answer if `recovers`.
struct BadServer {
  std::string name;
  std::function<void(TestConnection&)> act;
  bool recovers = false;
  int status = 6;
  std::vector<std::string> shown;  ///< on standard error, in this order
  std::size_t asked = 1;           ///< requests, at least; exactly if it is 1
  std::string scheme = {};         ///< of the address, if not that of the server
  std::vector<std::string> options = {};
  bool listens = true;
};

std::function<void(TestConnection&)> replies(int status, const std::string& body,
                                             const std::string& headers = {}) {
  return [=](TestConnection& to) { to.write(http_reply(status, body, headers)); };
}

const std::string kBadGateway = "<html><body>Bad gateway</body></html>";
const std::string kIsHtml = "Content-Type: text/html\r\n";

/// Refusals, which are final.
std::vector<BadServer> refusing() {
  return {
      {"key is wrong",
       replies(401, refusal("authentication_error", "no such key")),
       false,
       6,
       {"no such key", "the key is from OPENAI_API_KEY", "resume: praxis resume "}},
      {"key may not", replies(403, refusal("permission_error", "not for you")), false, 6, {"not for you"}},
      {"no credit", replies(402, refusal("billing", "pay first")), false, 6, {"pay first"}},
      {"path is wrong",
       replies(404, kBadGateway, kIsHtml),
       false,
       6,
       {"not_found (status 404)", "the address is http://127.0.0.1:", "from OPENAI_BASE_URL"}},
      {"model is unknown", replies(404, refusal("model_not_found", "no model m")), false, 6, {"no model m"}},
      {"request is wrong",
       replies(400, refusal("invalid_request_error", "no field x")),
       false,
       1,
       {"no field x"}},
      {"moved", replies(302, "", "Location: http://127.0.0.1:1/\r\n"), false, 6, {"status 302"}},
      {"rate limit for an hour",
       replies(429, refusal("rate_limit", "later"), "Retry-After: 3600\r\n"),
       false,
       6,
       {"later; the server asks to wait 3600 s, which exceeds what is left of the patience of 1 s"}},
      {"captive portal", replies(200, "<html>Log in</html>", kIsHtml), false, 6, {"Log in"}},
  };
}

/// Servers that are out of order, which patience covers.
std::vector<BadServer> out_of_order() {
  return {
      {"no server listens",
       {},
       false,
       6,
       {"model failed, retry 2 in ", "gives up in ", "Connection refused", "step 1: retry 3 in ",
        "praxis: error: compatible:m: network: cannot connect", "gave up after ", "with a patience of 1 s",
        "model_failed: 1 step", "resume: praxis resume "},
       0,
       {},
       {},
       false},
      {"plain port asked for TLS",
       replies(200, ""),
       false,
       6,
       {"retry 2 in ", "no connection in time"},
       0,
       "https"},
      {"overloaded for good",
       replies(529, refusal("overloaded_error", "busy")),
       false,
       6,
       {"model failed, retry 2 in ", "overloaded (status 529): busy", "gave up after "},
       2},
      {"never answers",
       [](TestConnection& to) { to.wait_for_close(); },
       false,
       6,
       {"timeout", "gave up after "},
       2},
      {"error and gone",
       replies(500, refusal("server_error", "oops")),
       true,
       0,
       {"model failed, retry 2 of 4 in ", "oops"},
       2},
      {"gateway", replies(502, kBadGateway, kIsHtml), true, 0, {"retry 2 in ", "status 502"}, 2},
      {"unavailable", replies(503, ""), true, 0, {"retry 2 in ", "overloaded (status 503)"}, 2},
      {"rate limit for a moment",
       replies(429, refusal("rate_limit", "slowly"), "Retry-After: 1\r\n"),
       true,
       0,
       {"retry 2 in 1.0 s", "slowly"},
       2,
       {},
       {"--patience", "3s"}},
      {"reset", [](TestConnection& to) { to.reset(); }, true, 0, {"retry 2 in ", "network"}, 2},
  };
}

/// Answers that break off or have no form, which are requested again.
std::vector<BadServer> breaking() {
  return {
      {"cut in the headers",
       [](TestConnection& to) {
         to.write("HTTP/1.1 200 OK\r\nContent-Ty");
         to.cut();
       },
       true,
       0,
       {"retry 2 in ", "network"},
       2},
      {"cut in the answer", cut_in_answer, true, 0, {"retry 2 of 4 in ", "truncated_stream"}, 2},
      {"stalls in the answer", stall_in_answer, true, 0, {"retry 2 in ", "timeout"}, 2},
      {"error within the answer",
       [](TestConnection& to) {
         open_stream(to);
         to.write(http_chunk("data: " + refusal("overloaded_error", "too many") + "\n\n") + "0\r\n\r\n");
       },
       true,
       0,
       {"retry 2 in ", "too many"},
       2},
      {"no end of the answer",
       [](TestConnection& to) {
         open_stream(to);
         to.write(http_chunk(kStreamDelta) + "0\r\n\r\n");
       },
       true,
       0,
       {"retry 2 of 4 in ", "truncated_stream"},
       2},
      {"empty answer",
       replies(200, "", "Content-Type: text/event-stream\r\n"),
       true,
       0,
       {"retry 2 of 4 in "},
       2},
  };
}

/// Servers that keep no protocol or never end.
std::vector<BadServer> hostile() {
  return {
      {"speaks no HTTP",
       [](TestConnection& to) { to.write("SSH-2.0-OpenSSH_9.2\r\n"), to.close(); },
       false,
       6,
       {"protocol"}},
      {"answers for ever",
       [](TestConnection& to) {
         open_stream(to);
         while (to.write(http_chunk(kStreamDelta))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
       },
       false,
       5,
       {"time_limit"},
       1,
       {},
       {"--timeout", "500ms"}},
      {"headers for ever",
       [](TestConnection& to) {
         to.write("HTTP/1.1 200 OK\r\n");
         while (to.write("X-Junk: " + std::string(4096, 'x') + "\r\n")) {
         }
       },
       false,
       6,
       {"protocol"}},
  };
}

/// The lines that a terminal got one after the other, also those that were drawn over.
std::vector<std::string> lines_drawn(const std::string& output) {
  static const std::regex kControl("\x1b\\[[0-9;?]*[A-Za-z]");
  std::vector<std::string> lines;
  std::istringstream text(std::regex_replace(output, kControl, "\n"));
  for (std::string line; std::getline(text, line);) {
    std::erase(line, '\r');
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// A server as one meets it at a terminal: what its first request gets, and what is seen until the end.
struct SeenServer {
  BadServer bad;
  bool waits = false;  ///< for seconds, while the terminal shows how long it has taken
};

std::vector<SeenServer> seen() {
  const auto hang = [](TestConnection& to) { to.wait_for_close(); };
  const auto limited = [](const std::string& wait) {
    return replies(429, refusal("rate_limit", "slowly"), "Retry-After: " + wait + "\r\n");
  };
  const std::string busy = refusal("overloaded_error", "busy");
  const std::string asks = ": compatible:m", counts = ": retry ", gone = "gave up after ";
  return {
      {{"key", replies(401, refusal("authentication_error", "no such key")), false, 6, {"OPENAI_API_KEY"}}},
      {{"path", replies(404, kBadGateway, kIsHtml), false, 6, {"not_found", "from OPENAI_BASE_URL"}}},
      {{"hour", limited("3600"), false, 6, {"asks to wait 3600 s"}}},
      {{"no server listens", {}, false, 6, {"Connection refused", counts, gone}, 0, {}, {}, false}, true},
      {{"busy", replies(529, busy), false, 6, {"overloaded (status 529): busy", counts, gone}}, true},
      {{"silent", hang, true, 0, {asks, "timeout", "Hello"}}, true},
      {{"stalls", stall_in_answer, true, 0, {asks, "timeout", "Hello"}}, true},
      {{"cut", cut_in_answer, true, 0, {"retry 2 of 4 in ", "truncated_stream", "Hello"}}},
      {{"moment", limited("4"), true, 0, {": retry 2 in ", "Hello"}}, true},
      {{"endless", hang, false, 5, {asks, "time_limit"}, 1, {}, {"--timeout", "4s"}}, true},
  };
}

/// The durations, in milliseconds, in the lines that `form` finds; its last two groups are number and unit.
std::vector<double> durations(const std::vector<std::string>& lines, const std::regex& form) {
  std::vector<double> all;
  for (const std::string& line : lines) {
    std::smatch found;
    if (std::regex_search(line, found, form))
      all.push_back(std::stod(found[1]) * (found[2] == "s" ? 1000 : 1));
  }
  return all;
}

class BadServers : public CommandLine {
 protected:
  BadServers() {
    options_.env["NO_PROXY"] = "127.0.0.1";
    options_.env["OPENAI_API_KEY"] = "sk-key";
    options_.env["PRAXIS_NETWORK_PATIENCE"] = "1s";
    options_.env["PRAXIS_NETWORK_CONNECT"] = "400ms";
    options_.env["PRAXIS_NETWORK_FIRST_BYTE"] = "400ms";
    options_.env["PRAXIS_NETWORK_IDLE"] = "400ms";
  }

  /// A case in progress.
  struct Play {
    BadServer bad;
    std::unique_ptr<std::atomic<int>> requests = std::make_unique<std::atomic<int>>(0);
    std::unique_ptr<TestServer> server;
    std::unique_ptr<Process> process;
    std::unique_ptr<TerminalSession> terminal;
    int status = -1;  ///< of the terminal's program
    ProcessOptions options = {};
    std::vector<std::string> words = {};
  };

  Play prepare(const BadServer& bad) const {
    Play play;
    play.bad = bad;
    std::string url = "http://127.0.0.1:1/v1";
    if (bad.listens) {
      play.server = std::make_unique<TestServer>(
          [bad, count = play.requests.get()](const TestRequest& /*request*/, TestConnection& to) {
            return ++*count > 1 && bad.recovers ? give_answer(to) : bad.act(to);
          });
      url = play.server->url("/v1");
    }
    if (!bad.scheme.empty()) url.replace(0, url.find(':'), bad.scheme);
    play.options = options_;
    play.options.env["OPENAI_BASE_URL"] = url;
    play.words = {"run", "--journal", bad.name + ".db", "--model", "compatible:m", "Hi"};
    play.words.insert(play.words.end(), bad.options.begin(), bad.options.end());
    return play;
  }
  Play begin(const BadServer& bad) const {
    Play play = prepare(bad);
    play.process = std::make_unique<Process>(command(play.words), play.options);
    return play;
  }
  Play at_terminal(const BadServer& bad) const {
    Play play = prepare(bad);
    play.terminal =
        std::make_unique<TerminalSession>(command(play.words), play.options, TerminalShape{200, 24});
    return play;
  }

  /// On a busy machine some moments are not drawn; those that are come in their order.
  static void check_seen(const SeenServer& server, const Play& play) {
    static const std::regex kTime(R"(^step \d+: ([\d.]+) (s|ms), )"), kLeft(": retry 2 in ([\\d.]+) (s|ms)");
    const std::vector<std::string> lines = lines_drawn(play.terminal->output());
    std::string drawn;
    for (const std::string& line : lines) drawn += line + '\n';
    SCOPED_TRACE(server.bad.name + ":\n" + drawn);
    EXPECT_EQ(play.status, server.bad.status);
    std::size_t at = 0;
    for (const std::string& text : server.bad.shown) {
      at = drawn.find(text, at);
      ASSERT_NE(at, std::string::npos) << "missing, or out of order: " << text;
    }
    const std::vector<double> times = durations(lines, kTime), left = durations(lines, kLeft);
    EXPECT_TRUE(std::ranges::is_sorted(times)) << "the time that it has taken went back";
    EXPECT_TRUE(std::ranges::is_sorted(left, std::greater())) << "the time that is left went up";
    if (!server.waits) return;
    ASSERT_FALSE(times.empty()) << "no time was shown";
    EXPECT_GE(times.back(), 1000) << "nothing was shown after the first second";
    EXPECT_LT(times.front(), times.back()) << "it stood still";
  }

  static void check(Play& play) {
    const BadServer& bad = play.bad;
    const int status = play.process->finish();
    const std::string& shown = play.process->errors;
    SCOPED_TRACE(bad.name + ":\n" + shown);
    EXPECT_EQ(status, bad.status);
    EXPECT_EQ(play.process->output, bad.recovers ? "Hello\n" : "");
    std::size_t at = 0;
    for (const std::string& text : bad.shown) {
      at = shown.find(text, at);
      ASSERT_NE(at, std::string::npos) << "missing, or out of order: " << text;
    }
    EXPECT_THAT(shown, Not(HasSubstr("sk-key")));
    if (bad.status == 0) return;
    EXPECT_EQ(shown.find("praxis: error:"), shown.rfind("praxis: error:")) << "shown once";
    if (bad.asked == 0) {
      EXPECT_EQ(*play.requests, 0) << "never reached";
    } else if (bad.asked == 1) {
      EXPECT_EQ(*play.requests, 1) << "asked once";
      EXPECT_THAT(shown, Not(HasSubstr("retry ")));
    } else {
      EXPECT_GE(*play.requests, static_cast<int>(bad.asked));
    }
  }

  /// Plays all cases at the same time.
  void play(const std::vector<BadServer>& all) const {
    std::vector<Play> plays;
    for (const BadServer& bad : all) plays.push_back(begin(bad));
    for (Play& each : plays) check(each);
  }
};

TEST_F(BadServers, Refusals_AreToldOnceWithTheirOriginAndNotRetried) { play(refusing()); }

TEST_F(BadServers, Outages_AreWaitedOutAndShown) { play(out_of_order()); }

TEST_F(BadServers, BrokenAnswers_AreRequestedAgainAndNeverShown) { play(breaking()); }

TEST_F(BadServers, ServersWithoutProtocolOrEnd_AreLeft) { play(hostile()); }

TEST_F(BadServers, TlsServerThatNobodyTrusts_IsNotUsed) {
  const TestCertificate certificate("127.0.0.1");
  const TestServer server([](const TestRequest& /*request*/, TestConnection& to) { give_answer(to); },
                          &certificate);
  ProcessOptions options = options_;
  options.env["PRAXIS_NETWORK_CONNECT"] = "30s";  // a busy machine is not what is tested
  const auto asked = [&](const std::string& url) {
    options.env["OPENAI_BASE_URL"] = url;
    return praxis({"run", "--model", "compatible:m", "Hi"}, options);
  };
  const CommandResult strange = asked(server.url("/v1"));
  EXPECT_EQ(strange.status, 6);
  EXPECT_THAT(strange.err, AllOf(HasSubstr("self-signed certificate"), Not(HasSubstr("retry "))));
  const CommandResult plain = asked("http" + server.url("/v1").substr(std::string("https").size()));
  EXPECT_EQ(plain.status, 6);
  EXPECT_TRUE(server.requests().empty());
  options.env["PRAXIS_NETWORK_FIRST_BYTE"] = "30s";
  options.env["SSL_CERT_FILE"] = certificate.file();
  EXPECT_EQ(asked(server.url("/v1")).out, "Hello\n");
}

TEST_F(BadServers, RateLimitThatAnAnswerStates_IsWaitedForAndNamed) {
  std::atomic<int> requests = 0;
  const TestServer server([&](const TestRequest& /*request*/, TestConnection& to) {
    if (++requests > 1) return give_answer(to);
    const std::string call =
        R"({"id":"c","type":"function","function":{"name":"kv","arguments":"{\"op\":\"list\"}"}})";
    to.write(http_reply(200,
                        R"({"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[)" + call +
                            R"(]},"finish_reason":"tool_calls"}]})",
                        "Content-Type: application/json\r\nx-ratelimit-remaining-requests: 0\r\n"
                        "x-ratelimit-reset-requests: 600ms\r\n"));
  });
  options_.env["OPENAI_BASE_URL"] = server.url("/v1");
  file("kv.toml", "model = \"compatible:m\"\n[tools.kv]\n");
  const CommandResult run = praxis({"run", "kv.toml", "Hi", "--no-stream"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("waits for the server's rate limit, "));
}

TEST_F(BadServers, TurnThatAnOutageEnded_ContinuesWithAnotherModelKeyAndLimits) {
  std::atomic<bool> works = false;
  const TestServer server([&](const TestRequest& /*request*/, TestConnection& to) {
    if (works) return give_answer(to);
    to.write(http_reply(401, refusal("authentication_error", "no such key")));
  });
  options_.env["OPENAI_BASE_URL"] = server.url("/v1");
  ASSERT_EQ(praxis({"run", "--model", "compatible:m", "--max-steps", "7", "Hi"}).status, 6);
  works = true;
  options_.env["OPENAI_API_KEY"] = "sk-better";
  const CommandResult resumed = praxis({"resume", "last", "--model", "compatible:n", "--max-steps", "9",
                                        "--max-usd", "1.5", "--timeout", "1h", "--patience", "5s"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Hello\n");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(find_header(requests[1].headers, "authorization"), "Bearer sk-better");
  EXPECT_THAT(requests[1].body, AllOf(HasSubstr(R"("model":"n")"), HasSubstr("Hi")));
  const std::string records = praxis({"show", "last", "--json"}).out;
  EXPECT_THAT(records,
              AllOf(HasSubstr("set_agent"), HasSubstr(R"("max_steps":9)"), HasSubstr(R"("max_usd":1.5)"),
                    HasSubstr(R"("timeout":3600000)"), HasSubstr(R"("patience":5000)")))
      << "the journal has what changed";
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(BadServers, WaitBeforeARetry_IsShownOnTheTerminalAndInTheTree) {
  const TestServer server([](const TestRequest& /*request*/, TestConnection& to) {
    to.write(http_reply(429, refusal("rate_limit", "slowly"), "Retry-After: 30\r\n"));
  });
  options_.env["OPENAI_BASE_URL"] = server.url("/v1");
  TerminalSession terminal(command({"run", "--model", "compatible:m", "--patience", "1m", "Hi"}), options_);
  ASSERT_TRUE(terminal.shows("retry 2 in 30 s"));
  EXPECT_TRUE(terminal.shows("retry 2 in 29 s")) << "the line counts down";
  const CommandResult tree = praxis({"tree", "last"});
  EXPECT_THAT(tree.out, AllOf(HasSubstr("waits: retry 2 in 2"), HasSubstr("slowly")));
  const Json node = praxis({"tree", "last", "--json"}).last_item();
  EXPECT_EQ(json_string(json_at(node, "waits"), "reason"), "retry");
  const CommandResult logs = praxis({"logs", "last"});
  EXPECT_THAT(logs.out, HasSubstr("model.waiting"));
}

TEST_F(BadServers, TenMisbehaviours_AreShownAtATerminalWhileTheyLast) {
  options_.env["PRAXIS_NETWORK_PATIENCE"] = "10s";
  options_.env["PRAXIS_NETWORK_CONNECT"] = "4s";
  options_.env["PRAXIS_NETWORK_FIRST_BYTE"] = "4s";
  options_.env["PRAXIS_NETWORK_IDLE"] = "4s";
  const std::vector<SeenServer> all = seen();
  ASSERT_EQ(all.size(), 10U);
  std::vector<Play> plays;
  for (const SeenServer& each : all) plays.push_back(at_terminal(each.bad));
  std::vector<std::thread> readers;  // a program whose terminal is not read stops
  for (Play& each : plays) readers.emplace_back([&each] { each.status = each.terminal->finish(); });
  for (std::thread& each : readers) each.join();
  for (std::size_t i = 0; i < all.size(); ++i) check_seen(all[i], plays[i]);
}

}  // namespace
}  // namespace praxis::testing
