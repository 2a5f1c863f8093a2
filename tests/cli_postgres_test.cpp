// The commands with a journal in PostgreSQL: runs that are killed, and servers that share a database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "journal/testing/postgres_server.hpp"
#include "praxis/base/environment.hpp"
#include "served_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliPostgres : public ServedCommandLine {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    address_ = PostgresServer::shared()->new_schema();
    options_.env["PRAXIS_JOURNAL"] = address_;
  }
  std::unique_ptr<Process> serve_database(std::uint16_t &port) {
    auto process =
        std::make_unique<Process>(command({"serve", "--token-file", "token", "--port", "0"}), options_);
    EXPECT_TRUE(process->reports("praxis: serving on http://127.0.0.1:") && process->reports("\n"))
        << process->errors;
    const auto at = process->errors.rfind(':');
    port = static_cast<std::uint16_t>(std::atoi(process->errors.c_str() + at + 1));
    return process;
  }
  /// Checks that the run has ended, with each of its five calls made once.
  void check_whole(const std::string &run) const {
    const CommandResult shown = praxis({"show", run, "--json"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    const CommandResult exported = praxis({"export", run});
    for (int call = 1; call <= 5; ++call) {
      const std::string intent = R"("kind":"tool","name":"kv","call":"call_)" + std::to_string(call) + "_1";
      EXPECT_THAT(exported.out, HasSubstr(intent));
    }
    EXPECT_THAT(exported.out, HasSubstr("Done."));
    EXPECT_EQ(praxis({"replay", run}).status, 0);
  }

  std::string address_;
};

TEST_F(CliPostgres, CommandsWorkOnADatabase) {
  const CommandResult ran = praxis({"run", "work", "go", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string run = json_string(ran.last_line(), "run_id");
  options_.env.erase("PRAXIS_JOURNAL");
  EXPECT_NE(praxis({"show", run}).status, 0) << "the usual journal does not have it";
  file("config/praxis/config.toml", "journal = \"" + address_ + "\"\n");
  EXPECT_EQ(praxis({"show", run}).status, 0) << "as configured";
  EXPECT_THAT(praxis({"runs", "--json"}).out, HasSubstr(run));
  const CommandResult doctor = praxis({"doctor"});
  EXPECT_THAT(doctor.out, HasSubstr(address_ + ", newest runs verified: 1"));
  EXPECT_EQ(praxis({"runs", "rm", run, "--yes"}).status, 0);
  EXPECT_THAT(praxis({"runs", "--json"}).out, Not(HasSubstr(run)));
}

TEST_F(CliPostgres, MemoryWithAnEmbedder_FindsByMeaning) {
  file("config/praxis/config.toml", "embedder = \"hashing\"\nmemory = \"" + address_ + "\"\n");
  const CommandResult added = praxis({"memory", "add", "The kettles are in the kitchen", "--key", "kettle"});
  ASSERT_EQ(added.status, 0) << added.err;
  EXPECT_THAT(praxis({"memory", "search", "kettle kitchenette", "--json"}).out, HasSubstr(R"("meaning":1)"));
}

TEST_F(CliPostgres, PasswordInTheAddressIsRefusedAndNotShown) {
  const CommandResult refused = praxis({"runs", "--journal", "postgres://me:secret@127.0.0.1/d"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("~/.pgpass"));
  EXPECT_THAT(refused.out + refused.err, Not(HasSubstr("secret")));
}

TEST_F(CliPostgres, ServerThatIsNotThereIsNamed) {
  const CommandResult refused = praxis({"run", "work", "go", "--journal", "postgres:///d?host=/nonexistent"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("/nonexistent"));
}

TEST_F(CliPostgres, KilledRunIsResumedByAnotherProcessWithoutLossOrRepetition) {
  for (int kill_after = 1; kill_after <= 4; ++kill_after) {
    Process process(command({"run", "work", "go", "--json"}), options_);
    const std::string wanted = "k" + std::to_string(kill_after);
    ASSERT_TRUE(process.prints(wanted)) << process.output << process.errors;
    process.signal(SIGKILL);
    process.finish();
    const std::string run = last_run();
    const CommandResult resumed = praxis({"resume", run});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    check_whole(run);
  }
}

TEST_F(CliPostgres, RunsOfAKilledServerAreTakenOverByAnother) {
  std::uint16_t first_port = 0, second_port = 0;
  auto first = serve_database(first_port);
  auto second = serve_database(second_port);
  port_ = first_port;
  const std::string run = json_string(
      parse_json(call("POST /api/v1/runs", R"({"agent":"work","prompt":"go"})")).value_or(nullptr), "id");
  ASSERT_FALSE(run.empty());
  // The answer does not wait until the run is durable.
  for (int tries = 0; tries < 2000; ++tries) {
    if (call("GET /api/v1/runs/" + run).find("\"status\":\"") != std::string::npos) break;
  }
  first->signal(SIGKILL);
  first->finish();
  port_ = second_port;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  std::string status;
  while (status != "completed" && std::chrono::steady_clock::now() < until)
    status = json_string(praxis({"runs", "--json", "-n", "1"}).last_item(), "status");
  const Json shown = parse_json(call("GET /api/v1/runs/" + run)).value_or(nullptr);
  EXPECT_EQ(json_string(shown, "status"), "completed") << second->errors;
  ASSERT_TRUE(json_at(shown, "actions").is_array());
  EXPECT_EQ(json_at(shown, "actions").as_array().size(), 5U) << "each call once";
  check_whole(run);
}

TEST_F(CliPostgres, ScheduleIsCarriedOutOnceByAllServers) {
  const CommandResult added =
      praxis({"schedule", "add", "0 * * * *", "work", "Good morning", "--zone", "UTC"});
  ASSERT_EQ(added.status, 0) << added.err;
  auto database = PostgresConnection::open(address_, false);
  ASSERT_TRUE(database) << database.error().message;
  const auto missed = [&] {
    const auto late = database->holds("SELECT done + 3660000 < $1 FROM praxis_schedules",
                                      {system_environment()->now().value});
    return !late || *late;
  };
  std::uint16_t port = 0;
  const auto first = serve_database(port), second = serve_database(port);
  // Again and again, as if the server that started the run had died before it noted that.
  for (int firing = 0; firing < 4; ++firing) {
    ASSERT_TRUE(database->execute("UPDATE praxis_schedules SET done = done - 7200000"));
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (missed() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_FALSE(missed()) << first->errors << second->errors;
  }
  EXPECT_EQ(praxis({"runs", "--json"}).items().size(), 1U);
  EXPECT_THAT(praxis({"schedule", "list", "--json"}).out, HasSubstr("Good morning"));
  EXPECT_EQ(praxis({"schedule", "rm", added.out.substr(0, added.out.find('\n'))}).status, 0);
}

}  // namespace
}  // namespace praxis::testing
