// What the SQL connectors on SQLite and on PostgreSQL have in common: what statements return, change and
// cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "praxis/base/reach.hpp"
#include "praxis/tools/sql_tool.hpp"
#include "tools/testing/postgres_shop.hpp"
#include "tools/testing/shop.hpp"
#include "tools/testing/sql_asking.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A query without an end, which begins with %.
constexpr const char* kWithoutEnd = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT 1 FROM c) ";

class SqlDatabases : public ::testing::TestWithParam<const char*>, protected SqlAsking {
 protected:
  void SetUp() override {
    if (!is_postgres()) {
      file_.emplace();
      return;
    }
    PRAXIS_NEED_POSTGRES();
    server_.emplace();
  }

  bool is_postgres() const { return std::string_view(GetParam()) == "postgres"; }
  std::shared_ptr<SqlClient> client(SqlOptions options = {}) const override {
    if (!is_postgres()) return sqlite_client(file_->path(), std::move(options)).value();
    return postgres_client(server_->address(options.write ? "writer" : "reader"), std::move(options)).value();
  }
  /// The text with the placeholders of the database for `?1`.
  std::string numbered(std::string text) const {
    if (is_postgres()) std::ranges::replace(text, '?', '$');
    return text;
  }
  void run_unbound(const std::string& script) const {
    if (is_postgres()) server_->run(script);
    if (!is_postgres()) file_->run(script);
  }

  std::optional<Shop> file_;
  std::optional<PostgresShop> server_;
};

TEST_P(SqlDatabases, Query_ReturnsColumnsAndTypedValues) {
  const auto result = query("SELECT id, item, price, photo, NULL AS none FROM orders WHERE id = 1");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->columns, ElementsAre("id", "item", "price", "photo", "none"));
  EXPECT_EQ(to_json_text(Json(result->rows[0])), R"([1,"green tea",4.5,{"base64":"AP8="},null])");
  EXPECT_FALSE(result->is_cut);
  EXPECT_EQ(rows("SELECT * FROM spent ORDER BY customer; -- the end"), "[1,16.5][2,900]");
  const auto none = query("SELECT id, item FROM orders WHERE id = 99");
  ASSERT_TRUE(none);
  EXPECT_THAT(none->columns, ElementsAre("id", "item"));
}

TEST_P(SqlDatabases, Parameters_AreValuesNeverText) {
  const auto one = [&](Json value) { return JsonArray{std::move(value)}; };
  EXPECT_EQ(rows(numbered("SELECT count(*) FROM orders WHERE item = ?1"), one("x' OR 1=1 --")), "[0]");
  EXPECT_EQ(rows("SELECT id FROM orders WHERE price > :least AND item <> :item AND price < :least * 100",
                 {{"least", 5}, {"item", "bike"}}),
            "[3]");
  EXPECT_EQ(rows(numbered("SELECT id FROM orders WHERE photo = ?1"), one({{"base64", "AP8="}})), "[1]");
  EXPECT_EQ(rows(numbered("SELECT count(*) FROM orders WHERE item = ?1"), one(nullptr)), "[0]");
  const std::string strange("a'\"%_\\\xc3\xa4");
  EXPECT_EQ(rows(numbered("SELECT CAST(?1 AS text)"), one(Json(strange))),
            "[" + to_json_text(Json(strange)) + "]");
  const std::string large(1000 * 1000, 'x');
  EXPECT_EQ(rows(numbered("SELECT length(CAST(?1 AS text))"), one(Json(large))), "[1000000]");
}

TEST_P(SqlDatabases, ParametersThatDoNotFit_AreNamed) {
  EXPECT_THAT(error(numbered("SELECT id FROM orders WHERE id = ?1 OR id = ?2"), JsonArray{1}).message,
              HasSubstr(numbered("parameter ?2 has no value")));
  EXPECT_THAT(error("SELECT id FROM orders WHERE id = :a", JsonObject{{"b", 1}}).message,
              HasSubstr("parameter :a has no value"));
  EXPECT_THAT(error("SELECT 1", JsonArray{1}).message, HasSubstr("has 0 parameters, but 1 values"));
  EXPECT_THAT(error("SELECT 1", JsonObject{{"a", 1}}).message, HasSubstr("has 0 parameters, but 1 values"));
  const std::string one = numbered("SELECT id FROM orders WHERE item = ?1");
  EXPECT_THAT(error(one, parse_json("[[1]]").value()).message, HasSubstr("must not be an array"));
  EXPECT_THAT(error(one, JsonArray{JsonObject{{"x", 1}}}).message, HasSubstr("base64"));
  EXPECT_THAT(error(one, JsonArray{JsonObject{{"base64", "?"}}}).message, HasSubstr("not valid base64"));
  EXPECT_EQ(error(one, "text").code, ErrorCode::kInput);
}

TEST_P(SqlDatabases, MistakesInAStatement_AreExplained) {
  EXPECT_THAT(error("SELECT prize FROM orders").message, HasSubstr("prize"));
  EXPECT_THAT(error("SELEC 1").message, HasSubstr("syntax error"));
  EXPECT_THAT(error(" -- nothing").message, HasSubstr("statement in this text"));
  EXPECT_THAT(error(" ").message, HasSubstr("no statement in this text"));
  EXPECT_THAT(error("SELECT 1; SELECT 2").message, HasSubstr("one statement at a time"));
  EXPECT_EQ(error("SELECT '" + std::string(70'000, 'x') + "'").code, ErrorCode::kLimit);
}

TEST_P(SqlDatabases, RowsAndBytes_AreCapped) {
  const auto few = query("SELECT id FROM orders", {}, {.max_rows = 2});
  EXPECT_EQ(few->rows.size(), 2U);
  EXPECT_TRUE(few->is_cut);
  EXPECT_FALSE(query("SELECT id FROM orders", {}, {.max_rows = 3})->is_cut);
  const std::string zeros(100, '0');
  const SqlOptions small{.timeout = std::chrono::minutes(2), .max_bytes = 1050};
  const auto cut = query(std::string(kWithoutEnd) + "SELECT x, '" + zeros + "' FROM c", {}, small);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->rows.size(), 9U);
  EXPECT_TRUE(cut->is_cut);
  EXPECT_THAT(error("SELECT '" + std::string(2000, '0') + "'", {}, small).message, HasSubstr("substr()"));
}

TEST_P(SqlDatabases, Stop_EndsARunningStatement) {
  const auto connector = client({.timeout = std::chrono::minutes(10)});
  std::stop_source source;
  source.request_stop();
  const auto stopped = connector->query({"SELECT 1"}, {source.get_token()});
  const auto endless = std::string(kWithoutEnd) + "SELECT count(*) FROM c";
  std::stop_source later;
  Result<SqlRows> result;
  {
    std::jthread runner([&] { result = connector->query({endless}, {later.get_token()}); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    later.request_stop();
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(result.error()), Reach::kNotSent);
}

TEST_P(SqlDatabases, TimeLimit_EndsStatements) {
  const SqlOptions brief{.timeout = std::chrono::milliseconds(200)};
  const Error late = error(std::string(kWithoutEnd) + "SELECT count(*) FROM c", {}, brief);
  EXPECT_EQ(late.kind(), ErrorKind::kTimeout) << late.message;
  const auto connector = client({.timeout = std::chrono::minutes(10)});
  const SqlStop stop{{}, std::chrono::steady_clock::now() + std::chrono::milliseconds(200)};
  const auto result = connector->query({std::string(kWithoutEnd) + "SELECT count(*) FROM c"}, stop);
  EXPECT_EQ(result.error().kind(), ErrorKind::kTimeout) << result.error().message;
}

TEST_P(SqlDatabases, Changes_NeedTheOptionAndAreWhole) {
  EXPECT_EQ(client()->execute({"DELETE FROM orders"}).error().code, ErrorCode::kPolicy);
  const auto writer = client({.write = true});
  const auto added = writer->execute(
      {"INSERT INTO orders (customer, item) VALUES (:customer, :item), (2, 'cup') RETURNING id",
       {{"customer", 2}, {"item", "jug"}}});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->changed, 2U);
  EXPECT_EQ(added->rows.size(), 2U);
  EXPECT_EQ(rows("SELECT item FROM orders WHERE id > 3 ORDER BY id"), R"(["jug"]["cup"])");
  EXPECT_EQ(writer->query({"DELETE FROM orders"}).error().code, ErrorCode::kPolicy);
  EXPECT_EQ(rows("SELECT count(*) FROM orders"), "[5]");
  EXPECT_FALSE(writer->execute({"INSERT INTO customers VALUES (3, 'Cleo'), (1, 'twice')"}));
  EXPECT_EQ(rows("SELECT count(*) FROM customers"), "[2]") << "a change that fails is undone";
  const auto cut = client({.write = true, .max_rows = 1})
                       ->execute({"UPDATE orders SET price = 1 WHERE id < 4 RETURNING id"});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_TRUE(cut->is_cut);
  EXPECT_EQ(cut->changed, 3U);
  EXPECT_EQ(rows("SELECT count(*) FROM orders WHERE price = 1"), "[3]")
      << "a result that is cut is a whole change";
}

TEST_P(SqlDatabases, Writer_ChangesNoDefinitions) {
  const auto writer = client({.write = true});
  for (const char* each : {"DROP TABLE orders", "CREATE TABLE t (a int)", "ALTER TABLE orders ADD x int",
                           "CREATE TEMP TABLE t (a int)", "BEGIN", "COMMIT", "VACUUM"}) {
    EXPECT_FALSE(writer->execute({each})) << each;
  }
}

TEST_P(SqlDatabases, Tools_ShowSchemaRowsAndChanges) {
  run_unbound("CREATE TABLE hidden_one (a int)");
  const auto tools = sql_tools(client({.write = true, .tables = {"orders", "customers", "spent"}}));
  ASSERT_EQ(tools.size(), 3U);
  const std::string orders = text_of(call(tools[1], R"({"table": "Orders"})"));
  EXPECT_THAT(orders, HasSubstr("orders (table): id "));
  EXPECT_THAT(orders, HasSubstr(" primary key"));
  EXPECT_THAT(orders, HasSubstr(" not null references customers(id), item "));
  const auto all = text_of(call(tools[1], "{}"));
  EXPECT_THAT(all, HasSubstr("spent (view): customer"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("hidden_one")));
  EXPECT_EQ(text_of(call(tools[1], R"({"table": "no such"})")), "there is no such table");
  EXPECT_EQ(
      text_of(call(
          tools[0],
          R"({"statement": "SELECT id, item FROM orders WHERE price > :p ORDER BY id", "parameters": {"p": 5}})")),
      "[\"id\",\"item\"]\n[2,\"bike\"]\n[3,\"pot\"]\n");
  EXPECT_EQ(text_of(call(tools[2],
                         R"({"statement": "DELETE FROM orders WHERE id = :id", "parameters": {"id": 3}})")),
            "1 rows changed\n");
}

INSTANTIATE_TEST_SUITE_P(All, SqlDatabases, ::testing::Values("sqlite", "postgres"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace praxis
