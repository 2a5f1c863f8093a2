// The SQL connector on SQLite: what statements return, change and cost.
#include "praxis/tools/sql_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "praxis/base/reach.hpp"
#include "tools/testing/shop.hpp"
#include "tools/testing/sql_asking.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kEndless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) ";

class SqlConnector : public ::testing::Test, protected SqlAsking {
 protected:
  std::shared_ptr<SqlClient> client(SqlOptions options = {}) const override {
    return sqlite_client(shop_.path(), std::move(options)).value();
  }

  const Shop shop_;
};

TEST_F(SqlConnector, Query_ReturnsColumnsAndTypedValues) {
  const auto result = query("SELECT id, item, price, photo, NULL AS none FROM orders WHERE id = 1");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->columns, ElementsAre("id", "item", "price", "photo", "none"));
  EXPECT_EQ(to_json_text(Json(result->rows[0])), R"([1,"green tea",4.5,{"base64":"AP8="},null])");
  EXPECT_FALSE(result->is_cut);
  EXPECT_EQ(rows("SELECT 9e999, -9e999"), R"(["Infinity","-Infinity"])");
  EXPECT_EQ(rows("SELECT * FROM spent; -- the end"), "[1,16.5][2,900]");
  EXPECT_EQ(rows("SELECT body FROM texts WHERE texts MATCH 'tea' ORDER BY rank"),
            R"(["green tea and milk"])");
}

TEST_F(SqlConnector, Parameters_AreValuesNeverText) {
  EXPECT_EQ(rows("SELECT ?, ?2, ?1", {"a", 2}), R"(["a",2,"a"])");
  EXPECT_EQ(rows("SELECT :a, @b, $c", {{"a", 1}, {"b", true}, {"c", nullptr}}), "[1,1,null]");
  EXPECT_EQ(rows("SELECT hex(?)", JsonArray{{{"base64", "AP8="}}}), R"(["00FF"])");
  EXPECT_EQ(rows("SELECT count(*) FROM orders WHERE item = ?", JsonArray{"x' OR 1=1 --"}), "[0]");
  const std::string strange("a'\"\0%_\\", 7);
  EXPECT_EQ(rows("SELECT hex(?)", JsonArray{Json(strange)}), R"(["61272200255F5C"])");
  const std::string large(1000 * 1000, 'x');
  EXPECT_EQ(rows("SELECT length(?)", JsonArray{Json(large)}), "[1000000]");
  EXPECT_EQ(rows("SELECT sum(value) FROM json_each(?)", JsonArray{"[1,2,3]"}), "[6]");
}

TEST_F(SqlConnector, ParametersThatDoNotFit_AreNamed) {
  EXPECT_THAT(error("SELECT ?, ?", JsonArray{1}).message, HasSubstr("parameter ?2 has no value"));
  EXPECT_THAT(error("SELECT :a", JsonObject{{"b", 1}}).message, HasSubstr("parameter :a has no value"));
  EXPECT_THAT(error("SELECT 1", JsonArray{1}).message, HasSubstr("has 0 parameters, but 1 values"));
  EXPECT_THAT(error("SELECT ?", parse_json("[[1]]").value()).message, HasSubstr("must not be an array"));
  EXPECT_THAT(error("SELECT ?", JsonArray{JsonObject{{"x", 1}}}).message, HasSubstr("base64"));
  EXPECT_THAT(error("SELECT ?", JsonArray{std::uint64_t{1} << 63}).message, HasSubstr("too large"));
  EXPECT_EQ(error("SELECT ?", "text").code, ErrorCode::kInput);
}

TEST_F(SqlConnector, MistakesInAStatement_AreExplained) {
  EXPECT_THAT(error("SELECT prize FROM orders").message, HasSubstr("no such column: prize"));
  EXPECT_THAT(error("SELEC 1").message, HasSubstr("syntax error"));
  EXPECT_THAT(error(" -- nothing").message, HasSubstr("no statement"));
  EXPECT_THAT(error("SELECT 1; SELECT 2").message, HasSubstr("one statement at a time"));
  const auto missing = sqlite_client(shop_.folder().str("none.db")).value()->query({"SELECT 1"});
  EXPECT_THAT(missing.error().message, HasSubstr("there is no database file"));
  EXPECT_FALSE(std::filesystem::exists(shop_.folder().str("none.db")));
  EXPECT_FALSE(sqlite_client("x.db", {.max_rows = 0}));
}

TEST_F(SqlConnector, RowsAndBytes_AreCapped) {
  const auto few = query("SELECT id FROM orders", {}, {.max_rows = 2});
  EXPECT_EQ(few->rows.size(), 2U);
  EXPECT_TRUE(few->is_cut);
  EXPECT_FALSE(query("SELECT id FROM orders", {}, {.max_rows = 3})->is_cut);
  const auto small =
      query(std::string(kEndless) + "SELECT x, printf('%0100d', x) FROM c", {}, {.max_bytes = 1000});
  EXPECT_EQ(small->rows.size(), 9U);
  EXPECT_TRUE(small->is_cut);
  EXPECT_THAT(error("SELECT printf('%02000d', 1)", {}, {.max_bytes = 1000}).message, HasSubstr("substr()"));
}

TEST_F(SqlConnector, Stop_EndsARunningStatement) {
  std::stop_source source;
  const auto connector = client({.timeout = std::chrono::minutes(10)});
  std::jthread stopper([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const auto begun = std::chrono::steady_clock::now();
  const auto result =
      connector->query({std::string(kEndless) + "SELECT count(*) FROM c"}, {source.get_token()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(result.error()), Reach::kNotSent);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

TEST_F(SqlConnector, TimeLimit_EndsStatementsAndWaitsForLocks) {
  const SqlOptions brief{.write = true, .timeout = std::chrono::milliseconds(20)};
  const Error late = error(std::string(kEndless) + "SELECT count(*) FROM c", {}, brief);
  EXPECT_EQ(late.kind(), ErrorKind::kTimeout);
  sqlite3* other = nullptr;
  sqlite3_open(shop_.path().c_str(), &other);
  sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr);
  EXPECT_THAT(error("SELECT 1 FROM orders", {}, brief).message, HasSubstr("locked by another process"));
  EXPECT_EQ(client(brief)->execute({"DELETE FROM orders"}).error().kind(), ErrorKind::kTimeout);
  sqlite3_close(other);
  EXPECT_EQ(rows("SELECT count(*) FROM orders"), "[3]");
}

TEST_F(SqlConnector, MemoryAndTemporaryFiles_AreCapped) {
  const std::string sort = std::string(kEndless) + "SELECT randomblob(10000), x FROM c ORDER BY 1";
  const Error scratch = error(sort, {}, {.timeout = std::chrono::minutes(1), .max_temporary = 10'000'000});
  EXPECT_EQ(scratch.code, ErrorCode::kLimit);
  EXPECT_THAT(scratch.message, HasSubstr("temporary files"));
  const Error memory = error(sort, {}, {.timeout = std::chrono::minutes(1), .max_memory = 4'000'000});
  EXPECT_EQ(memory.code, ErrorCode::kLimit);
  EXPECT_THAT(memory.message, HasSubstr("bytes of memory"));
}

TEST_F(SqlConnector, Changes_NeedTheOptionAndAreWhole) {
  EXPECT_EQ(client()->execute({"DELETE FROM orders"}).error().code, ErrorCode::kPolicy);
  const auto writer = client({.write = true});
  const auto added = writer->execute(
      {"INSERT INTO orders (customer, item) VALUES (?, ?), (2, 'cup') RETURNING id", {2, "jug"}});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->changed, 2U);
  EXPECT_EQ(added->rows.size(), 2U);
  EXPECT_EQ(rows("SELECT item FROM orders WHERE id > 3"), R"(["jug"]["cup"])");
  const auto late =
      client({.write = true, .timeout = std::chrono::milliseconds(20)})
          ->execute({"INSERT INTO customers (name) " + std::string(kEndless) + "SELECT x FROM c"});
  EXPECT_FALSE(late);
  EXPECT_EQ(rows("SELECT count(*) FROM customers"), "[2]") << "a stopped change is undone";
  EXPECT_EQ(writer->query({"DELETE FROM orders"}).error().code, ErrorCode::kPolicy);
  EXPECT_EQ(writer->execute({"INSERT INTO texts VALUES ('red wine')"})->changed, 1U);
  EXPECT_EQ(rows("SELECT body FROM texts('wine')"), R"(["red wine"])");
}

TEST_F(SqlConnector, Writer_ChangesRowsOfItsTablesOnly) {
  const auto writer = client({.write = true, .tables = {"orders"}});
  for (const char* each : {"DROP TABLE orders", "CREATE TABLE t (a)", "ALTER TABLE orders ADD x",
                           "DELETE FROM customers", "PRAGMA user_version = 3", "ATTACH 'x.db' AS x", "VACUUM",
                           "BEGIN", "CREATE TEMP TABLE t (a)", "UPDATE sqlite_master SET sql = ''",
                           "INSERT INTO orders (customer, item) SELECT 1, word FROM secret"}) {
    EXPECT_FALSE(writer->execute({each})) << each;
  }
  EXPECT_EQ(writer->execute({"UPDATE orders SET price = 1"})->changed, 3U);
}

TEST_F(SqlConnector, HiddenFile_IsNotOpenedUnderAnyName) {
  const std::string hidden = shop_.path(), other = shop_.folder().str("other.db");
  const auto reads = [&](const std::string& path) {
    return sqlite_client(path, {.hide = {hidden}}).value()->query({"SELECT 1"}).has_value();
  };
  EXPECT_FALSE(reads(hidden));
  std::filesystem::create_hard_link(hidden, other);
  EXPECT_FALSE(reads(other));
  std::filesystem::remove(other);
  const auto connector = sqlite_client(other, {}).value();
  std::filesystem::create_symlink(hidden, other);
  EXPECT_FALSE(connector->query({"SELECT 1 FROM orders"})) << "a link appeared after the connector was made";
}

TEST_F(SqlConnector, Tools_ShowSchemaRowsAndChanges) {
  const auto tools = sql_tools(client({.write = true, .tables = {"orders", "customers", "spent", "texts"}}));
  ASSERT_EQ(tools.size(), 3U);
  EXPECT_EQ(text_of(call(tools[1], R"({"table": "orders"})")),
            "orders (table): id INTEGER primary key, customer INTEGER not null references customers(id), "
            "item TEXT, "
            "price REAL, photo BLOB\n");
  const auto all = text_of(call(tools[1], "{}"));
  EXPECT_THAT(all, HasSubstr("spent (view): customer"));
  EXPECT_THAT(all, HasSubstr("texts (virtual): body"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("secret")));
  EXPECT_EQ(
      text_of(call(tools[0],
                   R"({"statement": "SELECT id, item FROM orders WHERE price > ?", "parameters": [5]})")),
      "[\"id\",\"item\"]\n[2,\"bike\"]\n[3,\"pot\"]\n");
  EXPECT_EQ(text_of(call(tools[2],
                         R"({"statement": "DELETE FROM orders WHERE id = :id", "parameters": {"id": 3}})")),
            "1 rows changed\n");
  EXPECT_TRUE(tools[0].definition.safe_by_default);
  EXPECT_FALSE(tools[2].definition.safe_by_default || tools[2].definition.idempotent);
  EXPECT_EQ(sql_tools(client()).size(), 2U) << "a connector that only reads has no sql_execute";
}

}  // namespace
}  // namespace praxis
