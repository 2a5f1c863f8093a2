// A run that is stopped while a call waits for its answer: what the outside may have done is unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// With the parameter, every session leaves memory whenever it waits.
class CliStop : public CommandLine, public ::testing::WithParamInterface<bool> {
 protected:
  CliStop() : server_([](const TestRequest&, TestConnection& to) { to.wait_for_close(); }) {  // never answers
    options_.env["PRAXIS_SUSPEND"] = GetParam() ? "true" : "false";
    write_agent(server_.url("/pay"), "POST");
  }
  /// An agent whose model sends a request in its first turn.
  void write_agent(const std::string& url, const std::string& method) const {
    const std::string place = "127.0.0.1:" + std::to_string(server_.port());
    file("pay.toml", "id = \"pay\"\nmodel = \"script:pay.jsonl\"\n[tools.http]\nallow = [\"" + place +
                         "\"]\n[policy]\nallow = [\"http\"]\n");
    file("pay.jsonl", R"({"tool_calls":[{"name":"http","id":"c1","arguments":{"method":")" + method +
                          R"(","url":")" + url + "\"}}]}\n" + R"({"text":"I will check."})" + "\n");
  }
  std::vector<std::string> running(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = command({"run", "pay.toml", "Pay", "--json"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// The outcome of the only call, by the result of the run.
  static std::string outcome_in(const std::string& output) {
    const std::size_t line = output.rfind("{\"event\":\"result\"");
    if (line == std::string::npos) return "no result: " + output;
    const auto result = parse_json(output.substr(line, output.find('\n', line) - line));
    return result ? json_string(result->at("actions").at(0), "outcome") : "no JSON";
  }
  /// Checks what the result and the conversation say, and that the run can continue.
  void expect_unknown(const Process& run) const {
    EXPECT_EQ(outcome_in(run.output), "unknown");
    EXPECT_THAT(run.errors, HasSubstr("unknown: http may or may not have taken effect"));
    EXPECT_THAT(praxis({"show", "last"}).out,
                HasSubstr("may or may not have taken effect; check before you repeat it."));
    EXPECT_EQ(praxis({"replay", "last"}).status, 0);
    const CommandResult more = praxis({"resume", "last", "And now?"});
    EXPECT_EQ(more.out, "I will check.\n") << more.err;
    EXPECT_EQ(server_.requests().size(), 1U) << "nothing is repeated";
  }

  TestServer server_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSuspension, CliStop, ::testing::Bool());

TEST_P(CliStop, SignalAfterTheRequest_LeavesTheOutcomeUnknown) {
  Process run(running(), options_);
  server_.wait_for_requests(1);
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 130) << run.errors;
  expect_unknown(run);
}

TEST_P(CliStop, HangUpAfterTheRequest_IsRecordedLikeOtherSignals) {
  const auto before = std::signal(SIGHUP, SIG_DFL);  // the test itself may run under nohup
  Process run(running(), options_);
  std::signal(SIGHUP, before);
  server_.wait_for_requests(1);
  run.signal(SIGHUP);
  EXPECT_EQ(run.finish(), 129) << run.errors;
  EXPECT_THAT(run.output, HasSubstr(R"("termination":"cancelled")"));
  expect_unknown(run);
}

TEST_P(CliStop, HangUpThatIsIgnored_StaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as by nohup
  Process run(running(), options_);
  std::signal(SIGHUP, before);
  server_.wait_for_requests(1);
  run.signal(SIGHUP);
  run.signal(SIGTERM);
  EXPECT_EQ(run.finish(), 143) << run.errors;
}

TEST_P(CliStop, TimeLimitAfterTheRequest_LeavesTheOutcomeUnknown) {
  Process run(running({"--timeout", "1s"}), options_);
  EXPECT_EQ(run.finish(), 5) << run.errors;
  ASSERT_EQ(server_.requests().size(), 1U);
  EXPECT_THAT(run.output, HasSubstr(R"("termination":"time_limit")"));
  expect_unknown(run);
}

TEST_P(CliStop, CommandAfterTheRequest_LeavesTheOutcomeUnknown) {
  Process run(running(), options_);
  server_.wait_for_requests(1);
  EXPECT_EQ(praxis({"tree", "stop", last_run()}).status, 0);
  EXPECT_EQ(run.finish(), 1) << run.errors;
  expect_unknown(run);
}

TEST_P(CliStop, CallThatWasNeverSent_IsCancelled) {
  // The server waits for a request and never begins the TLS handshake.
  write_agent("https" + server_.url("/pay").substr(4), "POST");
  options_.env["PRAXIS_CANCEL_GRACE"] = "1m";  // on a loaded machine the call may take long to report
  Process run(running(), options_);
  ASSERT_TRUE(run.prints(R"("event":"tool.started")"));
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 130) << run.errors;
  EXPECT_EQ(outcome_in(run.output), "cancelled");
  EXPECT_THAT(run.errors, Not(HasSubstr("may or may not")));
}

TEST_P(CliStop, CallThatOnlyReads_IsCancelled) {
  write_agent(server_.url("/balance"), "GET");
  options_.env["PRAXIS_CANCEL_GRACE"] = "1m";
  Process run(running(), options_);
  server_.wait_for_requests(1);
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 130) << run.errors;
  EXPECT_EQ(outcome_in(run.output), "cancelled");
}

}  // namespace
}  // namespace praxis::testing
