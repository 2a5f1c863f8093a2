// The client of A2A against the scripted agent tests/a2a/server.py, which is hostile on request.
#include "tools/a2a_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include "praxis/base/reach.hpp"
#include "praxis/process/process.hpp"

namespace praxis::a2a {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class A2aClientTest : public ::testing::Test {
 protected:
  A2aClientTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_a2a_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~A2aClientTest() override {
    server_.reset();  // it writes into the folder
    std::filesystem::remove_all(folder_);
  }

  /// A client of an agent with this behaviour.
  Client& client(const std::string& behaviour, HttpHeaders headers = {}) {
    ProcessSpec spec;
    spec.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/a2a/server.py", behaviour, (folder_ / "log").string()};
    spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    spec.channel_is_stdio = true;
    auto process = start_process(spec);
    if (!process) throw std::runtime_error(process.error().message);
    std::array<char, 16> port{};
    const ssize_t got = read(process->channel(), port.data(), port.size());
    server_ = std::make_unique<Process>(*std::move(process));
    A2aAgent agent;
    agent.name = "far";
    agent.url = "http://127.0.0.1:" + std::string(port.data(), static_cast<std::size_t>(got - 1)) + "/agent";
    agent.headers = std::move(headers);
    agent.http = http_;
    agent.use_proxy = false;
    agent.allow_address = [](std::string_view address) { return address == "127.0.0.1"; };
    client_ = std::make_unique<Client>(std::move(agent));
    return *client_;
  }
  Patience patience() const {
    return {stop_.get_token(), std::chrono::steady_clock::now() + std::chrono::seconds(20)};
  }
  Result<Answer> send(const std::string& behaviour) {
    return client(behaviour).send({"Hi", "", "", "praxis-1"}, patience());
  }
  std::string log() const {
    std::ifstream in(folder_ / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void open_gate() const { std::ofstream(folder_ / "log.open") << "open"; }

  std::filesystem::path folder_;
  std::stop_source stop_;
  std::shared_ptr<HttpClient> http_ = make_http_client();
  std::unique_ptr<Process> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(A2aClientTest, Task_IsBegunAndAskedFor_InBothBindings) {
  for (const char* behaviour : {"usual", "rest", "tenant"}) {
    const auto sent = send(behaviour);
    ASSERT_TRUE(sent) << behaviour << sent.error().message;
    ASSERT_TRUE(sent->task);
    EXPECT_EQ(sent->task->id, "t1");
    EXPECT_EQ(sent->task->state, "working");
    EXPECT_EQ(client_->task("t1", patience())->state, "working");
    const auto done = client_->task("t1", patience());
    ASSERT_TRUE(done) << behaviour << done.error().message;
    EXPECT_EQ(done->state, "completed");
    EXPECT_EQ(done->text, "Done: Hi\n{\"n\":7}\n[a file that is not passed on: f.bin, x/y]");
    EXPECT_THAT(client_->task("t9", patience()).error().message, Not(HasSubstr("completed")));
  }
  EXPECT_THAT(log(), HasSubstr("tenant acme"));
}

TEST_F(A2aClientTest, Stream_EndsWaiting_WhenTheTaskHasEnded) {
  const auto sent = send("streaming");
  ASSERT_TRUE(sent && sent->task);
  EXPECT_TRUE(client_->streams(patience()).value());
  std::vector<std::string> said;
  const bool changed = client_->await_change("t1", "", patience(), [&](const std::string& text) {
    said.push_back(text);
    open_gate();
  });
  EXPECT_TRUE(changed);
  EXPECT_FALSE(said.empty());
  EXPECT_EQ(client_->task("t1", patience())->state, "completed");
}

TEST_F(A2aClientTest, StoppedWait_ClosesTheStream) {
  ASSERT_TRUE(send("streaming"));
  std::ignore =
      client_->await_change("t1", "", patience(), [&](const std::string&) { stop_.request_stop(); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!log().contains("left") && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_THAT(log(), HasSubstr("left"));
}

TEST_F(A2aClientTest, EndlessStream_EndsAtItsBound) {
  ASSERT_TRUE(send("endless"));
  EXPECT_FALSE(client_->await_change("t1", "", patience(), [](const std::string&) {}));
}

TEST_F(A2aClientTest, HeadersAreSent_AndMissedByName) {
  EXPECT_TRUE(client("guarded", {{"Authorization", "Bearer secret-token"}, {"X-Key", "k"}})
                  .send({"Hi", "", "", "praxis-1"}, patience()));
  const auto without = send("guarded");
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, AllOf(HasSubstr("HTTP 401"), HasSubstr("headers_env")));
  EXPECT_EQ(reach_of(without.error()), Reach::kNotSent);
}

TEST_F(A2aClientTest, SpanOfTheCall_IsSent) {
  Patience patience = this->patience();
  patience.trace = new_trace(1, 2);
  patience.trace.state = "rojo=1";
  EXPECT_TRUE(client("usual").send({"Hi", "", "", "praxis-1"}, patience));
  EXPECT_THAT(log(), HasSubstr("in " + traceparent(patience.trace) + " rojo=1"));
}

TEST_F(A2aClientTest, SpanThatTheHeadersName_IsTheOnlyOne) {
  const std::string own = traceparent(new_trace(3, 4));
  Patience patience = this->patience();
  patience.trace = new_trace(1, 2);
  EXPECT_TRUE(client("usual", {{"Traceparent", own}}).send({"Hi", "", "", "praxis-1"}, patience));
  EXPECT_THAT(log(), HasSubstr("in " + own + " \n"));
}

struct HostileCase {
  const char* behaviour;
  const char* message;
  Reach reach;
};
class HostileAgent : public A2aClientTest, public ::testing::WithParamInterface<HostileCase> {};

TEST_P(HostileAgent, AnswerIsRefusedWithItsReason) {
  const auto& [behaviour, message, reach] = GetParam();
  const auto sent = send(behaviour);
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, AllOf(HasSubstr(message), Not(HasSubstr("\x1b"))));
  EXPECT_LT(sent.error().message.size(), 3000U);
  EXPECT_EQ(reach_of(sent.error()), reach) << sent.error().message;
  EXPECT_EQ(log().contains("SendMessage"), reach != Reach::kNotSent);
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileAgent,
    ::testing::Values(HostileCase{"redirecting", "a redirect to http://169.254.169.254/", Reach::kNotSent},
                      HostileCase{"elsewhere", "another scheme, host or port", Reach::kNotSent},
                      HostileCase{"old", "no interface of version 1", Reach::kNotSent},
                      HostileCase{"extended", "requires the extension https://x.example/pay",
                                  Reach::kNotSent},
                      HostileCase{"large-card", "", Reach::kNotSent},
                      HostileCase{"deep-card", "nothing that the protocol allows", Reach::kNotSent},
                      HostileCase{"refusing", "-32602: no", Reach::kAnswered},
                      HostileCase{"broken", "nothing that the protocol allows", Reach::kSent},
                      HostileCase{"gateway", "HTTP 502", Reach::kSent}, HostileCase{"huge", "", Reach::kSent},
                      HostileCase{"deep", "nothing that the protocol allows", Reach::kSent},
                      HostileCase{"long-id", "not a usable task", Reach::kSent},
                      HostileCase{"bad-id", "not a usable task", Reach::kSent}),
    [](const auto& test) {
      std::string name = test.param.behaviour;
      std::erase(name, '-');
      return name;
    });

TEST_F(A2aClientTest, AnswerAboutAnotherTask_IsRefused) {
  ASSERT_TRUE(send("swapping"));
  EXPECT_THAT(client_->task("t1", patience()).error().message, HasSubstr("another task"));
}

TEST_F(A2aClientTest, LongAnswer_IsCut) {
  ASSERT_TRUE(send("long"));
  std::ignore = client_->task("t1", patience());
  const auto task = client_->task("t1", patience());
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_LT(task->text.size(), client_->agent().result_bytes + 100);
  EXPECT_THAT(task->text, HasSubstr("bytes left out]"));
}

TEST_F(A2aClientTest, InventedState_CountsAsWorking) {
  const auto sent = send("invented");
  ASSERT_TRUE(sent && sent->task);
  EXPECT_EQ(sent->task->state, "unknown");
  EXPECT_EQ(phase_of(sent->task->state), Phase::kWorking);
}

TEST_F(A2aClientTest, AddressThatTheRuleRefuses_IsNotReached) {
  A2aAgent agent = client("usual").agent();
  agent.allow_address = [](std::string_view) { return false; };
  const auto sent = Client(agent).send({"Hi", "", "", "praxis-1"}, patience());
  ASSERT_FALSE(sent);
  EXPECT_EQ(reach_of(sent.error()), Reach::kNotSent);
  EXPECT_EQ(log(), "");
}

TEST(A2aTools, NameAddressAndHeadersAreChecked) {
  const auto why = [](const std::string& name, const std::string& url, HttpHeaders headers) {
    A2aAgent agent;
    agent.name = name;
    agent.url = url;
    agent.headers = std::move(headers);
    agent.http = make_http_client();
    const auto tools = a2a_tools(std::move(agent));
    return tools ? std::string() : tools.error().message;
  };
  EXPECT_EQ(why("far", "https://far.example/a", {}), "");
  EXPECT_THAT(why("a__b", "https://far.example/a", {}), HasSubstr("name of a remote agent"));
  EXPECT_THAT(why("far", "file:///etc/passwd", {}), Not(""));
  EXPECT_THAT(why("far", "https://far.example/?a", {}), HasSubstr("no query"));
  EXPECT_THAT(why("far", "https://far.example/", {{"Host", "x"}}), HasSubstr("set by the client"));
}

}  // namespace
}  // namespace praxis::a2a
