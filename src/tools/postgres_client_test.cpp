// What is particular to the SQL connector on PostgreSQL: its types, how it ends, its address and password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "praxis/base/reach.hpp"
#include "praxis/tools/sql_tool.hpp"
#include "tools/postgres_text.hpp"
#include "tools/testing/call.hpp"
#include "tools/testing/postgres_shop.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PostgresConnector : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    shop_.emplace();
  }
  std::string rows(const std::string& text, Json parameters = {}) const {
    const auto result =
        postgres_client(shop_->address("reader")).value()->query({text, std::move(parameters)});
    if (!result) return result.error().message;
    std::string all;
    for (const JsonArray& row : result->rows) all += to_json_text(row);
    return all;
  }
  /// Waits at most a minute for something that the server tells to those who ask only.
  bool comes(const std::function<bool()>& condition) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      if (condition()) return true;
      usleep(10'000);
    }
    return false;
  }
  bool is_running(const std::string& marker) const {
    return shop_->value(
               "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%" +
               marker + "%' AND pid <> pg_backend_pid()") != "0";
  }

  std::optional<PostgresShop> shop_;
};

TEST_F(PostgresConnector, Values_KeepWhatJsonCanHold) {
  EXPECT_EQ(rows("SELECT true, 1::int2, -2::int4, 9223372036854775807, 7::oid"),
            "[true,1,-2,9223372036854775807,7]");
  EXPECT_EQ(rows("SELECT 1.5::float4, 0.1::float8, 'NaN'::float8, '-Infinity'::float8"),
            R"([1.5,0.1,"NaN","-Infinity"])");
  EXPECT_EQ(
      rows("SELECT 4.50::numeric, 900::numeric, 12345678901234567890, 0.12345678901234567, 'NaN'::numeric"),
      R"([4.5,900,"12345678901234567890","0.12345678901234567","NaN"])");
  EXPECT_EQ(rows("SELECT '\\x00ff'::bytea, ''::bytea, NULL::bytea"),
            R"([{"base64":"AP8="},{"base64":""},null])");
  EXPECT_EQ(rows("SELECT '2026-11-27 10:00:00.5'::timestamp, '2026-11-27'::date, '1 day 2 hours'::interval"),
            R"(["2026-11-27 10:00:00.5","2026-11-27","P1DT2H"])");
  EXPECT_EQ(rows("SELECT '2026-11-27 10:00:00+00'::timestamptz AT TIME ZONE 'UTC', '{1,NULL,3}'::int[], "
                 "'{\"a\": 1}'::jsonb, ROW(1, 'x')"),
            R"x(["2026-11-27 10:00:00","{1,NULL,3}","{\"a\": 1}","(1,x)"])x");
}

TEST_F(PostgresConnector, Parameters_TakeTheTypeThatTheStatementGives) {
  EXPECT_EQ(rows("SELECT $1::int + 1, $2::bool, $3::numeric, $4::bytea, $5::text",
                 {41, true, "12345678901234567890", {{"base64", "AP8="}}, nullptr}),
            R"([42,true,"12345678901234567890",{"base64":"AP8="},null])");
  EXPECT_EQ(rows("SELECT count(*) FROM orders WHERE id = ANY ($1::int[])", JsonArray{"{1,2}"}), "[2]");
  EXPECT_THAT(rows("SELECT $1::int", JsonArray{"x"}), HasSubstr("invalid input syntax"));
  EXPECT_THAT(rows("SELECT $1::text", JsonArray{JsonObject{{"base64", "AP8="}}}),
              HasSubstr("takes no bytea"));
  EXPECT_THAT(rows("SELECT $1::text", JsonArray{Json(std::string("a\0b", 3))}), HasSubstr("NUL"));
  EXPECT_EQ(
      rows(
          "SELECT ':a', \":b\", :c, $x$ :d $x$, 1::int /* :e /* */ :f */ -- :g\n FROM (SELECT 2 AS \":b\") t",
          {{"c", "v"}}),
      R"([":a",2,"v"," :d ",1])");
}

TEST_F(PostgresConnector, Stop_ReachesTheServer) {
  std::stop_source source;
  Result<SqlRows> result;
  {
    std::jthread runner([&] {
      result = postgres_client(shop_->address("reader"), {.timeout = std::chrono::minutes(10)})
                   .value()
                   ->query({"SELECT pg_sleep(590), 'stop-marker'"}, {source.get_token()});
    });
    EXPECT_TRUE(comes([&] { return is_running("stop-marker"); }));
    source.request_stop();
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(result.error()), Reach::kNotSent);
  EXPECT_TRUE(comes([&] { return !is_running("stop-marker"); })) << "the server still runs the statement";
}

TEST_F(PostgresConnector, Limits_EndTheStatementOnTheServer) {
  const auto few =
      postgres_client(shop_->address("reader"), {.timeout = std::chrono::minutes(10), .max_rows = 3});
  const auto rows = (*few)->query({"SELECT generate_series(1, 1000000000000), 'rows-marker'"});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->rows.size(), 3U);
  EXPECT_TRUE(comes([&] { return !is_running("rows-marker"); }));
  // The deadline of the call, of which the server does not know.
  const SqlStop stop{{}, std::chrono::steady_clock::now() + std::chrono::seconds(3)};
  EXPECT_EQ((*few)->query({"SELECT pg_sleep(590), 'late-marker'"}, stop).error().kind(), ErrorKind::kTimeout);
  EXPECT_TRUE(comes([&] { return !is_running("late-marker"); }));
}

TEST_F(PostgresConnector, RowThatIsTooLarge_IsNotReadWhole) {
  const SqlOptions bounds{.timeout = std::chrono::minutes(5), .max_memory = std::size_t{4} << 20U};
  const auto result =
      postgres_client(shop_->address("reader"), bounds).value()->query({"SELECT repeat('x', 200000000)"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kLimit);
  EXPECT_THAT(result.error().message, HasSubstr("a row has more than 4194304 bytes"));
}

TEST_F(PostgresConnector, LargeParameter_ArrivesWhole) {
  const auto client = postgres_client(shop_->address("reader"), {.timeout = std::chrono::minutes(5)}).value();
  const auto result = client->query({"SELECT length($1::text)", JsonArray{std::string(20'000'000, 'x')}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->rows.at(0), JsonArray{20'000'000});
}

TEST_F(PostgresConnector, Locks_AreWaitedForWithinTheLimit) {
  auto other = PostgresConnection::open(shop_->address(), false).value();
  ASSERT_TRUE(other.execute("BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE"));
  const auto brief =
      postgres_client(shop_->address("writer"), {.write = true, .timeout = std::chrono::seconds(2)});
  EXPECT_EQ((*brief)->query({"SELECT 1 FROM orders"}).error().kind(), ErrorKind::kTimeout);
  EXPECT_EQ((*brief)->execute({"DELETE FROM orders"}).error().kind(), ErrorKind::kTimeout);
  ASSERT_TRUE(other.execute("ROLLBACK"));
  EXPECT_EQ(rows("SELECT count(*) FROM orders"), "[3]");
}

TEST_F(PostgresConnector, StoppedChange_IsUndone) {
  std::stop_source source;
  Result<SqlRows> result;
  {
    std::jthread runner([&] {
      result = postgres_client(shop_->address("writer"), {.write = true, .timeout = std::chrono::minutes(10)})
                   .value()
                   ->execute({"INSERT INTO customers SELECT 3, 'change-marker' || pg_sleep(590)"},
                             {source.get_token()});
    });
    EXPECT_TRUE(comes([&] { return is_running("change-marker"); }));
    source.request_stop();
  }
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(rows("SELECT count(*) FROM customers"), "[2]");
}

TEST_F(PostgresConnector, Address_IsNamedInOneClearError) {
  const ScratchFolder folder;
  const auto failure = [](const std::string& address, SqlOptions options = {}) {
    const auto client = postgres_client(address, std::move(options));
    return client ? (*client)->query({"SELECT 1"}).error() : client.error();
  };
  const std::string absent = "postgres:///postgres?user=ann&host=" + folder.str();
  EXPECT_THAT(failure(absent).message, HasSubstr("cannot use the database " + absent));
  EXPECT_THAT(failure(shop_->address("none")).message, HasSubstr("does not exist"));
  EXPECT_EQ(failure("postgres://ann@[/x").code, ErrorCode::kInput);
  for (const char* each : {"postgres://ann:canary@localhost/db", "postgres://localhost/db?password=canary",
                           "postgres://localhost/db?pass%77ord=canary", "postgres://ann:canary@[/db"}) {
    const Error refused = failure(each);
    EXPECT_EQ(refused.code, ErrorCode::kInput) << each;
    EXPECT_THAT(refused.message, Not(HasSubstr("canary")));
  }
  EXPECT_FALSE(postgres_client(shop_->address(), {.max_rows = 0}));
}

TEST_F(PostgresConnector, ServerThatDoesNotAnswer_IsNotWaitedForLonger) {
  const ScratchFolder folder;
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  folder.str(".s.PGSQL.5432").copy(place.sun_path, sizeof place.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
  ASSERT_EQ(listen(listener, 5), 0);
  const auto silent = postgres_client("postgres:///postgres?user=ann&host=" + folder.str(),
                                      {.timeout = std::chrono::milliseconds(200)});
  const Error late = (*silent)->query({"SELECT 1"}).error();
  EXPECT_EQ(late.kind(), ErrorKind::kTimeout);
  EXPECT_THAT(late.message, HasSubstr("does not answer"));
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ((*silent)->query({"SELECT 1"}, {source.get_token()}).error().code, ErrorCode::kCancelled);
  close(listener);
}

TEST_F(PostgresConnector, Password_ComesFromTheEnvironmentAndIsNeverShown) {
  const std::string role = shop_->role("locked");
  shop_->run("CREATE ROLE " + role + " LOGIN PASSWORD 'canary-right'");
  shop_->run("DO $do$ BEGIN EXECUTE format($$COPY (SELECT line FROM (VALUES (1, 'local all " + role +
             " scram-sha-256'), (2, 'local all all trust')) AS v(place, line) ORDER BY place) TO %L$$, "
             "current_setting('hba_file')); END $do$; SELECT pg_reload_conf()");
  const auto answer = [&] {
    const auto rows = postgres_client(shop_->address("locked")).value()->query({"SELECT 1"});
    return rows ? "it ran" : rows.error().message;
  };
  unsetenv("PGPASSWORD");
  EXPECT_TRUE(comes([&] { return answer() != "it ran"; }));
  EXPECT_THAT(answer(), HasSubstr("no password supplied"));
  setenv("PGPASSWORD", "canary-wrong", 1);
  EXPECT_THAT(answer(), HasSubstr("password authentication failed for user"));
  EXPECT_THAT(answer(), Not(HasSubstr("canary")));
  setenv("PGPASSWORD", "canary-right", 1);
  EXPECT_EQ(answer(), "it ran");
  unsetenv("PGPASSWORD");
}

TEST(PostgresText, NamesThatNoTransactionBounds_AreFoundInAnyForm) {
  for (const char* each : {"SELECT pg_terminate_backend(1)", "select PG_Terminate_Backend (1)",
                           "\"lo_export\"(1)", "SELECT 1+pg_advisory_lock(1)", "x.dblink_exec()", "U&\"a\"",
                           "u&\"a\"", "SELECT 1pg_notify", "pg_read_file"}) {
    EXPECT_TRUE(refused_name_in(each)) << each;
  }
  for (const char* each :
       {"SELECT lo_price FROM hello_export", "SELECT xpg_notify, pg_notifyx", "SELECT u & b",
        "SELECT my_set_config", "", "SELECT pg_sleep(1), pg_table_size('x')"}) {
    EXPECT_FALSE(refused_name_in(each)) << each;
  }
}

}  // namespace
}  // namespace praxis
