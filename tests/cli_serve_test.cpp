// `praxis serve` as a process: how it starts and ends, and what its clients see when it is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "net/testing/pem_files.hpp"
#include "net/testing/raw_client.hpp"
#include "served_command_line.hpp"
#include "server/testing/served.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using namespace std::chrono_literals;

class CliServe : public ServedCommandLine {
 protected:
  const PemFiles pem_{"localhost"};
};

TEST_F(CliServe, ServesUntilItIsTerminated) {
  const auto server = serve();
  EXPECT_THAT(call("GET /healthz"), HasSubstr("ok"));
  server->signal(SIGTERM);
  EXPECT_EQ(server->finish(), 0);
  EXPECT_THAT(server->errors, HasSubstr("praxis: ending"));
  EXPECT_EQ(server->output, "") << "standard output is for results";
}

TEST_F(CliServe, TakesTheSocketThatSystemdOpened) {
  std::string listen =
      "import os, socket, sys\n"
      "s = socket.socket()\n"
      "s.bind(('127.0.0.1', 0))\n"
      "s.listen()\n"
      "print('opened', s.getsockname()[1], flush=True)\n"
      "os.dup2(s.fileno(), 3)\n"
      "os.set_inheritable(3, True)\n"
      "os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))\n"
      "os.execv(sys.argv[1], sys.argv[1:])\n";
  std::vector<std::string> words{"python3", "-c", std::move(listen)};
  const auto serve = command({"serve", "--journal", "runs.db", "--token-file", "token"});
  words.insert(words.end(), serve.begin(), serve.end());
  Process server(words, options_);
  ASSERT_TRUE(server.prints("opened ") && server.prints("\n"));
  port_ = static_cast<std::uint16_t>(std::atoi(server.output.c_str() + 7));
  ASSERT_TRUE(server.reports("praxis: serving on")) << server.errors;
  EXPECT_THAT(call("GET /healthz"), HasSubstr("ok"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.finish(), 0) << server.errors;
}

TEST_F(CliServe, FirstStartShowsItsTokenOnce) {
  auto arguments = command({"serve", "--journal", "runs.db", "--port", "0"});
  std::string shown;
  for (int start = 0; start < 2; ++start) {
    Process process(arguments, options_);
    ASSERT_TRUE(process.reports("serving on"));
    if (start == 0) {
      EXPECT_THAT(process.errors, HasSubstr("praxis: new token, kept in " + folder_.string() +
                                            "/state/praxis/server-token: praxis-"));
    } else {
      EXPECT_THAT(process.errors, ::testing::Not(HasSubstr("token")));
    }
    process.signal(SIGTERM);
    EXPECT_EQ(process.finish(), 0);
  }
}

TEST_F(CliServe, OpenGivesTheBrowserACodeThatIsGoodOnce) {
  std::filesystem::create_directory(folder_ / "bin");
  const std::filesystem::path browser = folder_ / "bin/xdg-open", pipe = folder_ / "address";
  ASSERT_EQ(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  std::ofstream(browser) << "#!/bin/sh\nprintf %s \"$1\" > " << pipe.string() << "\n";
  std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
  options_.env["PATH"] = (folder_ / "bin").string() + ":/usr/bin:/bin";
  const auto server = serve({"--open"});
  std::string address;
  std::ifstream(pipe) >> address;
  const std::string begin = "http://127.0.0.1:" + std::to_string(port_) + "/#/login/";
  ASSERT_TRUE(address.starts_with(begin)) << address;
  const std::string body = R"({"code":")" + address.substr(begin.size()) + R"("})";
  EXPECT_THAT(call("POST /api/v1/login", body), HasSubstr(kServedToken));
  EXPECT_THAT(call("POST /api/v1/login", body), HasSubstr("the code was used"));
}

TEST_F(CliServe, WithoutABrowserTheAddressIsShown) {
  options_.env["PATH"] = folder_.string();
  const auto server = serve({"--open"});
  EXPECT_TRUE(server->reports("no browser was found; open within a minute: http://127.0.0.1:"));
  const auto refused = praxis({"serve", "--token-file", "token", "--socket", "s", "--open"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("a browser cannot open a Unix socket"));
}

TEST_F(CliServe, ATeamIsRefusedWithTheCommandsThatRunIt) {
  file("config/praxis/agents/desk.toml",
       "model = 'script:a.jsonl'\n[team]\n[team.members.legal]\nfile = 'legal.toml'\n");
  file("config/praxis/agents/legal.toml", "model = 'script:a.jsonl'\n");
  file("a.jsonl", "{\"text\": \"Hello.\"}\n");
  const auto server = serve();
  const std::string refused = call("POST /api/v1/runs", R"({"agent":"desk","prompt":"Hi"})");
  EXPECT_THAT(refused, HasSubstr("only praxis run, resume, approve and chat run teams"));
  EXPECT_THAT(refused, HasSubstr(R"("status":400)"));
  EXPECT_THAT(call("GET /api/v1/runs"), HasSubstr(R"("runs":[])"));
  EXPECT_THAT(call("POST /api/v1/runs", R"({"agent":"legal","prompt":"Hi"})"), HasSubstr(R"("id":)"));
}

TEST_F(CliServe, WrongSettingsAreUsageErrors) {
  std::filesystem::permissions(folder_ / "token",
                               std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
  const auto open = praxis({"serve", "--token-file", "token", "--port", "0"});
  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.err, HasSubstr("token is open to others; chmod 600 it"));
  const auto name = praxis({"serve", "--listen", "example.org", "--port", "0"});
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.err, HasSubstr("example.org is not an IPv4 or IPv6 address to listen on"));
  const auto port = praxis({"serve", "--port", "70000"});
  EXPECT_EQ(port.status, 2);
  std::filesystem::permissions(folder_ / "token", std::filesystem::perms::owner_read);
  const auto first = serve();
  const auto second =
      praxis({"serve", "--token-file", "token", "--port", std::to_string(port_), "--journal", "other.db"});
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, HasSubstr("Address already in use"));
}

TEST_F(CliServe, OtherMachinesAreServedOverTlsUnlessToldOtherwise) {
  const std::vector<std::string> open{"serve", "--token-file", "token", "--port", "0", "--listen", "0.0.0.0"};
  const auto refused = praxis(open);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("others on the network could read what is sent to 0.0.0.0"));
  EXPECT_THAT(refused.err, HasSubstr("--tls-cert and --tls-key, or --plain-http"));
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--plain-http"},
                                               {"--tls-cert", pem_.certificate(), "--tls-key", pem_.key()}}) {
    auto words = open;
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--journal", "runs.db"});
    Process process(command(words), options_);
    EXPECT_TRUE(process.reports("serving on ")) << process.errors;
    process.signal(SIGTERM);
    EXPECT_EQ(process.finish(), 0);
  }
}

TEST_F(CliServe, WrongTlsFilesAreUsageErrors) {
  const auto refusal = [&](const std::string& certificate, const std::string& key) {
    const auto done = praxis(
        {"serve", "--token-file", "token", "--port", "0", "--tls-cert", certificate, "--tls-key", key});
    EXPECT_EQ(done.status, 2);
    return done.err;
  };
  EXPECT_THAT(refusal("missing.pem", pem_.key()), HasSubstr("missing.pem"));
  EXPECT_THAT(refusal(pem_.certificate(), "token"), HasSubstr("token holds no key in PEM form"));
  std::filesystem::permissions(pem_.key(), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(refusal(pem_.certificate(), pem_.key()), HasSubstr("open to others; chmod 600 it"));
  const auto half = praxis({"serve", "--port", "0", "--tls-cert", pem_.certificate()});
  EXPECT_EQ(half.status, 2);
  EXPECT_THAT(half.err, HasSubstr("give both --tls-cert and --tls-key"));
}

TEST_F(CliServe, PythonReachesAServerWithTls) {
  const auto server = serve({"--tls-cert", pem_.certificate(), "--tls-key", pem_.key()}, "https");
  ProcessOptions options = options_;
  options.env["PRAXIS_TOKEN"] = kServedToken;
  options.env["SSL_CERT_FILE"] = pem_.certificate();
  Process client({"python3", PRAXIS_SOURCE_DIR "/examples/http/client.py",
                  "https://localhost:" + std::to_string(port_), "work", "go"},
                 options);
  EXPECT_EQ(client.finish(), 0) << client.errors;
  EXPECT_THAT(client.output, HasSubstr("Done."));
}

TEST_F(CliServe, AccessLogHasALineForEachAnswerAndNoSecret) {
  const auto server = serve({"--access-log"});
  call("GET /api/v1/runs?q=secret");
  ASSERT_TRUE(server->reports("\"path\":\"/api/v1/runs\""));
  EXPECT_THAT(
      server->errors,
      HasSubstr("\"principal\":\"owner\",\"method\":\"GET\",\"path\":\"/api/v1/runs\",\"status\":200"));
  EXPECT_THAT(server->errors, ::testing::Not(::testing::AnyOf(HasSubstr("secret"), HasSubstr(kServedToken))));
}

TEST_F(CliServe, OtherCommandsSeeTheRunsOfTheServer) {
  const auto server = serve();
  const Json made =
      parse_json(call("POST /api/v1/runs", R"({"agent":"work","prompt":"go"})")).value_or(nullptr);
  const std::string run = json_string(made, "id");
  ASSERT_FALSE(run.empty());
  RawClient client(port_);
  client.send(request("GET /api/v1/runs/" + run + "/events", "", ""));
  client.read_until("event: turn.completed");
  const auto listed = praxis({"runs", "--journal", "runs.db", "--json"});
  EXPECT_EQ(json_string(listed.last_item(), "id"), run);
  EXPECT_EQ(json_string(listed.last_item(), "status"), "completed");
  EXPECT_EQ(praxis({"replay", run, "--journal", "runs.db"}).status, 0);
}

TEST_F(CliServe, BoundsAreSetByName) {
  const auto server = serve({"--bound", "requests=50", "--bound", "turns=1", "--bound", "total-turns=200",
                             "--bound", "memory=4GiB"});
  const std::string wanted = R"({"agent":"work","prompt":"go"})";
  EXPECT_THAT(call("POST /api/v1/runs", wanted), HasSubstr("\"id\":"));
  const std::string refused = call("POST /api/v1/runs", wanted);
  EXPECT_THAT(refused, HasSubstr("\"status\":429"));
  EXPECT_THAT(refused, HasSubstr("this token has as many turns at work as allowed, 1"));
  const auto wrong = praxis({"serve", "--bound", "speed=3"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--bound \"speed=3\" must be NAME=N"));
}

// ---- praxis api

TEST_F(CliServe, ApiCallsTheServerForScripts) {
  const auto server = serve();
  const std::string url = "http://127.0.0.1:" + std::to_string(port_);
  const auto api = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "api");
    words.insert(words.end(), {"--server", url, "--token-file", "token"});
    return praxis(words);
  };
  const auto made = api({"post", "/api/v1/runs", "--data", R"({"agent":"work","prompt":"go"})", "--header",
                         "Idempotency-Key: k1"});
  EXPECT_EQ(made.status, 0) << made.err;
  const std::string run = json_string(parse_json(made.out).value_or(nullptr), "id");
  ASSERT_FALSE(run.empty()) << made.out;
  ProcessOptions piped = options_;
  piped.input = R"({"agent":"work","prompt":"go"})";
  const auto again = praxis({"api", "POST", "/api/v1/runs", "--data", "-", "--header", "Idempotency-Key: k1",
                             "--server", url + "/", "--token-file", "token"},
                            piped);
  EXPECT_EQ(json_string(parse_json(again.out).value_or(nullptr), "id"), run) << again.out << again.err;

  Process stream(
      command({"api", "GET", "/api/v1/runs/" + run + "/events", "--server", url, "--token-file", "token"}),
      options_);
  EXPECT_TRUE(stream.prints("event: turn.completed")) << "a stream is printed as it comes";
  stream.signal(SIGINT);
  EXPECT_EQ(stream.finish(), 130);

  const auto missing = api({"GET", "/api/v1/runs/missing"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(json_int(parse_json(missing.out).value_or(nullptr), "status"), 404) << "the body is the output";
  EXPECT_THAT(missing.err, HasSubstr("the server answered 404"));
  EXPECT_EQ(api({"DELETE", "/api/v1/runs"}).status, 2);
}

TEST_F(CliServe, ApiSendsTheTokenOnlyWhereItBelongs) {
  const auto server = serve();
  const std::string url = "http://127.0.0.1:" + std::to_string(port_);
  std::filesystem::create_directories(folder_ / "state/praxis");
  std::ofstream(folder_ / "state/praxis/server-token") << "another-token-of-this-machine\n";
  const auto wrong = praxis({"api", "GET", "/api/v1/runs", "--server", url});
  EXPECT_EQ(wrong.status, 4) << "the token of the local server is not that of this one";
  EXPECT_THAT(wrong.err, HasSubstr("the server answered 401"));
  options_.env["PRAXIS_TOKEN"] = kServedToken;
  EXPECT_EQ(praxis({"api", "GET", "/api/v1/runs", "--server", url}).status, 0);
  options_.env.erase("PRAXIS_TOKEN");
  const auto elsewhere = praxis({"api", "GET", "/", "--server", "https://praxis.example.org"});
  EXPECT_EQ(elsewhere.status, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("that of the local server is not sent to others"));
  server->signal(SIGTERM);
  server->finish();
  const auto gone = praxis({"api", "GET", "/api/v1/runs", "--server", url, "--token-file", "token"});
  EXPECT_EQ(gone.status, 6);
  EXPECT_THAT(gone.err, HasSubstr("praxis serve starts a server"));
}

// ---- the clients in examples/http

TEST_F(CliServe, ClientOfPythonComesBackAfterAKill) {
  auto server = serve();
  ProcessOptions options = options_;
  options.env["PRAXIS_TOKEN"] = kServedToken;
  Process client({"python3", PRAXIS_SOURCE_DIR "/examples/http/client.py",
                  "http://localhost:" + std::to_string(port_), "work", "go"},
                 options);
  ASSERT_TRUE(client.prints("Step."));
  server->signal(SIGKILL);
  server->finish();
  server = serve();
  EXPECT_EQ(client.finish(), 0) << client.errors;
  std::string text = client.output;
  std::erase(text, '\n');
  EXPECT_EQ(text, "Step.Step.Step.Step.Step.Done.");
  EXPECT_THAT(client.errors, HasSubstr("completed: "));
}

// ---- kills

/// A client that reads the events of a run to their end, and comes back with the id of its last event
/// whenever the server is gone.
class Reader {
 public:
  Reader(std::uint16_t port, std::string run) : port_(port), run_(std::move(run)) {}

  std::vector<std::string> ids;
  bool finished = false;
  int lives = 0;

  void read(const std::function<std::string(const std::string& line, const std::string& headers)>& request) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!finished && std::chrono::steady_clock::now() < until) {
      RawClient client(port_);
      if (!client.connected()) {
        std::this_thread::sleep_for(5ms);
        continue;
      }
      ++lives;
      const std::string last = ids.empty() ? "" : "Last-Event-ID: " + ids.back() + "\r\n";
      client.send(request("GET /api/v1/runs/" + run_ + "/events?deltas=false", last));
      std::vector<server::testing::Sent> events;
      do {
        events = server::testing::events_in(client.received());  // whole ones only, as in a browser
        finished = !events.empty() &&
                   std::ranges::find(events, "turn.completed", &server::testing::Sent::event) != events.end();
      } while (!finished && client.read_more());
      for (const auto& sent : events) {
        if (!sent.id.empty()) ids.push_back(sent.id);
        if (sent.event == "turn.completed") break;
      }
    }
  }

 private:
  const std::uint16_t port_;
  const std::string run_;
};

int kills() {
  const char* const wanted = std::getenv("PRAXIS_SERVE_KILLS");
  return wanted == nullptr ? 4 : std::atoi(wanted);
}

TEST_F(CliServe, KilledServerLosesAndRepeatsNoEventAndNoEffect) {
  auto server = serve();
  std::vector<std::string> runs;
  for (int i = 0; i < 20; ++i)
    runs.push_back(json_string(
        parse_json(call("POST /api/v1/runs", R"({"agent":"work","prompt":"go"})")).value_or(nullptr), "id"));
  std::vector<Reader> readers;
  for (const std::string& run : runs) readers.emplace_back(port_, run);
  const auto ask = [](const std::string& line, const std::string& headers) {
    return request(line, headers, "");
  };
  {
    std::vector<std::jthread> threads;
    for (Reader& reader : readers) threads.emplace_back([&] { reader.read(ask); });
    std::mt19937 random(1);
    for (int kill = 0; kill < kills(); ++kill) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
      server->signal(SIGKILL);
      server->finish();
      server = serve();
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_TRUE(readers[i].finished) << runs[i] << " after " << readers[i].lives
                                     << " connections: " << call("GET /api/v1/runs/" + runs[i])
                                     << server->errors;
    Reader whole(port_, runs[i]);
    whole.read(ask);
    EXPECT_EQ(readers[i].ids, whole.ids) << "each event once, in order";
    const Json shown = parse_json(call("GET /api/v1/runs/" + runs[i])).value_or(nullptr);
    EXPECT_EQ(json_string(shown, "status"), "completed");
    EXPECT_EQ(json_string(shown, "result"), "Done.");
    EXPECT_EQ(json_at(shown, "actions").as_array().size(), 5U) << "each call once";
    EXPECT_EQ(praxis({"replay", runs[i], "--journal", "runs.db"}).status, 0);
  }
}

}  // namespace
}  // namespace praxis::testing
