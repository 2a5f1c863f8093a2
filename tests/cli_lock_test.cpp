// Ctrl-C while a run waits for another process that keeps the write lock of the journal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <latch>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

/// Keeps the write lock of a journal for its lifetime, on behalf of this process.
class HeldLock {
 public:
  explicit HeldLock(const std::string& journal) {
    EXPECT_EQ(sqlite3_open(journal.c_str(), &connection_), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection_);
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() {
    sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_close(connection_);
  }

 private:
  sqlite3* connection_ = nullptr;
};

class CliLock : public CommandLine {
 protected:
  CliLock()
      : server_([this](const TestRequest&, TestConnection& to) {
          answers_.wait();
          to.write(http_reply(200, "12"));
        }) {
    const std::string place = "127.0.0.1:" + std::to_string(server_.port());
    file("ask.toml",
         "id = \"ask\"\nmodel = \"script:ask.jsonl\"\nin_doubt = \"tell\"\n[tools.http]\nallow = [\"" +
             place + "\"]\n[policy]\nallow = [\"http\"]\n");
    file("ask.jsonl", R"({"tool_calls":[{"name":"http","id":"c1","arguments":{"method":"GET","url":")" +
                          server_.url("/balance") + "\"}}]}\n" + R"({"text":"It is 12."})" + "\n");
  }
  std::vector<std::string> running() const {
    return command({"run", "ask.toml", "How much?", "--journal", journal_});
  }
  static std::string holder() {
    return "process " + std::to_string(getpid()) + " (whole_test) holds the write lock";
  }

  const std::string journal_ = (folder_ / "j").string();
  std::latch answers_{1};
  TestServer server_;
};

TEST_F(CliLock, SignalWhileTheJournalIsOpened_EndsTheWaitAtOnce) {
  answers_.count_down();
  ASSERT_EQ(praxis({"run", "ask.toml", "How much?", "--journal", journal_}).status, 0);
  const HeldLock lock(journal_);
  Process waits(running(), options_);
  ASSERT_TRUE(waits.reports("waiting for journal")) << waits.errors;
  EXPECT_THAT(waits.errors, HasSubstr(holder()));
  waits.signal(SIGINT);
  EXPECT_EQ(waits.finish(), 130) << waits.errors;
}

TEST_F(CliLock, SignalDuringATurn_EndsItUnsettledAndItResumes) {
  Process waits(running(), options_);
  server_.wait_for_requests(1);
  {
    const HeldLock lock(journal_);
    answers_.count_down();
    ASSERT_TRUE(waits.reports("waiting for journal")) << waits.errors;
    waits.signal(SIGINT);
    EXPECT_EQ(waits.finish(), 1) << waits.errors;
    EXPECT_THAT(waits.errors, HasSubstr("praxis: error: journal"));
    EXPECT_THAT(waits.errors, HasSubstr(holder()));
  }
  const CommandResult resumed = praxis({"resume", "last", "--journal", journal_});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "It is 12.\n");
  EXPECT_EQ(praxis({"replay", "last", "--journal", journal_}).status, 0);
}

TEST_F(CliLock, Force_EndsAProcessThatIsStoppedInACommit) {
  {
    Process run(running(), options_);
    server_.wait_for_requests(1);
    run.signal(SIGKILL);
    run.finish();
  }
  answers_.count_down();
  const pid_t stopped = fork();
  if (stopped == 0) {
    const HeldLock lock(journal_);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(stopped, &status, WUNTRACED), stopped);
  const CommandResult resumed = praxis({"resume", "last", "--force", "--journal", journal_});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("ended process " + std::to_string(stopped)));
  kill(stopped, SIGKILL);
  ASSERT_EQ(waitpid(stopped, &status, 0), stopped);
}

TEST_F(CliLock, SecondSignalDuringATurn_EndsTheProcessAtOnce) {
  Process waits(running(), options_);
  server_.wait_for_requests(1);
  const HeldLock lock(journal_);
  answers_.count_down();
  ASSERT_TRUE(waits.reports("waiting for journal")) << waits.errors;
  waits.signal(SIGINT);
  waits.signal(SIGINT);
  waits.signal(SIGTERM);  // two equal signals may arrive as one
  const int status = waits.finish();
  EXPECT_TRUE(status == 130 || status == 143) << status << waits.errors;
}

}  // namespace
}  // namespace praxis::testing
