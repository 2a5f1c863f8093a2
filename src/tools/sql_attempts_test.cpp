// Attempts to get more out of a connector that only reads than it allows: to write, to attach files, to load
// extensions, to read what is not listed, to exceed the limits. None succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <map>
#include <stdexcept>

#include "praxis/base/digest.hpp"
#include "praxis/tools/sql_tool.hpp"
#include "tools/testing/shop.hpp"

namespace praxis {
namespace {

constexpr const char* kWrites[] = {
    "INSERT INTO orders (customer) VALUES (1)",
    "INSERT INTO orders DEFAULT VALUES",
    "INSERT OR REPLACE INTO orders (id, customer) VALUES (1, 2)",
    "INSERT OR IGNORE INTO orders (customer) VALUES (1)",
    "INSERT INTO orders SELECT * FROM orders",
    "INSERT INTO orders (customer) VALUES (1) RETURNING id",
    "INSERT INTO orders (id, customer) VALUES (1, 1) ON CONFLICT DO UPDATE SET customer = 2",
    "WITH x(a) AS (SELECT 1) INSERT INTO orders (customer) SELECT a FROM x",
    "/* SELECT */ INSERT INTO orders (customer) VALUES (1)",
    "-- SELECT\nINSERT INTO orders (customer) VALUES (1)",
    "iNsErT\tiNtO\n\"orders\" (customer) VALUES (1)",
    "INSERT INTO main.orders (customer) VALUES (1)",
    "INSERT INTO [orders] (customer) VALUES (1)",
    "INSERT INTO `orders` (customer) VALUES (1)",
    "INSERT INTO spent VALUES (1, 2)",
    "INSERT INTO texts VALUES ('more')",
    "INSERT INTO texts (texts) VALUES ('optimize')",
    "INSERT INTO texts (texts) VALUES ('rebuild')",
    "INSERT INTO texts (texts) VALUES ('delete-all')",
    "INSERT INTO texts_data VALUES (99, x'00')",
    "INSERT INTO sqlite_sequence VALUES ('orders', 99)",
    "INSERT INTO sqlite_master VALUES ('table', 't', 't', 2, 'CREATE TABLE t (a)')",
    "INSERT INTO sqlite_schema VALUES ('table', 't', 't', 2, 'CREATE TABLE t (a)')",
    "REPLACE INTO orders (id, customer) VALUES (1, 2)",
    "UPDATE orders SET price = 0",
    "UPDATE OR REPLACE orders SET id = 2 WHERE id = 1",
    "UPDATE orders SET price = 0 RETURNING *",
    "UPDATE orders SET price = 0 FROM customers WHERE customers.id = customer",
    "UPDATE texts SET body = ''",
    "UPDATE sqlite_master SET sql = ''",
    "UPDATE sqlite_schema SET name = 'x' WHERE name = 'orders'",
    "UPDATE main.orders SET price = 0",
    "UPDATE json_each SET value = 1",
    "WITH x AS (SELECT 1) UPDATE orders SET price = 0",
    "DELETE FROM orders",
    "DELETE FROM orders WHERE id = 1 RETURNING id",
    "DELETE FROM texts",
    "DELETE FROM sqlite_master",
    "DELETE FROM spent",
    "WITH x AS (SELECT 1) DELETE FROM orders",
    "EXPLAIN DELETE FROM orders",
    "EXPLAIN QUERY PLAN DELETE FROM orders",
    "CREATE TABLE t (a)",
    "CREATE TABLE IF NOT EXISTS t (a)",
    "CREATE TABLE t AS SELECT * FROM orders",
    "CREATE TEMP TABLE t (a)",
    "CREATE TEMPORARY TABLE t AS SELECT 1",
    "CREATE TABLE temp.t (a)",
    "CREATE INDEX i ON orders (price)",
    "CREATE UNIQUE INDEX i ON orders (id)",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TEMP VIEW v AS SELECT * FROM secret",
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
    "CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE v USING fts5(a)",
    "CREATE VIRTUAL TABLE v USING rtree(id, a, b)",
    "CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, 'notes', row)",
    "DROP TABLE orders",
    "DROP TABLE IF EXISTS orders",
    "DROP VIEW spent",
    "DROP TABLE texts",
    "ALTER TABLE orders ADD COLUMN more TEXT",
    "ALTER TABLE orders RENAME TO others",
    "ALTER TABLE orders RENAME COLUMN item TO thing",
    "ALTER TABLE orders DROP COLUMN photo",
    "REINDEX",
    "REINDEX orders",
    "ANALYZE",
    "ANALYZE orders",
    "VACUUM",
    "BEGIN",
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "COMMIT",
    "ROLLBACK",
    "END",
    "SAVEPOINT s",
    "RELEASE s",
    "SELECT 1; DELETE FROM orders",
    "SELECT 1;; DELETE FROM orders --",
    "SELECT 1; /* */ DROP TABLE orders",
    ";DELETE FROM orders",
};

constexpr const char* kPragmas[] = {
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA writable_schema(1)",
    "PRAGMA main.writable_schema = RESET",
    "PRAGMA trusted_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA journal_mode = OFF",
    "PRAGMA journal_mode = WAL",
    "PRAGMA user_version = 7",
    "PRAGMA application_id = 7",
    "PRAGMA schema_version = 7",
    "PRAGMA auto_vacuum = FULL",
    "PRAGMA incremental_vacuum",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA optimize",
    "PRAGMA secure_delete = OFF",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA data_store_directory = '/tmp'",
    "PRAGMA cache_size = 1000000",
    "PRAGMA mmap_size = 1000000000",
    "PRAGMA max_page_count = 1000000",
    "PRAGMA soft_heap_limit = 0",
    "PRAGMA hard_heap_limit = 1",
    "PRAGMA threads = 8",
    "PRAGMA busy_timeout = 100000000",
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA case_sensitive_like = ON",
    "PRAGMA database_list",
    "PRAGMA table_info(secret)",
    "PRAGMA shrink_memory",
    "PRAGMA key = 'x'",
    "PRAGMA data_version = 3",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_table_info('secret')",
    "SELECT * FROM pragma_table_list",
    "SELECT * FROM pragma_compile_options",
    "SELECT * FROM pragma_wal_checkpoint",
    "SELECT * FROM pragma_optimize",
    "SELECT * FROM pragma_user_version(7)",
    "SELECT * FROM pragma_table_xinfo('secret')",
};

constexpr const char* kFilesAndExtensions[] = {
    "ATTACH 'other.db' AS other",
    "ATTACH DATABASE ':memory:' AS m",
    "ATTACH '' AS m",
    "ATTACH ? AS other",
    "ATTACH 'file:other.db?mode=rwc' AS other",
    "ATTACH 'file:/proc/self/mem' AS m",
    "ATTACH 'new.db' AS n KEY 'k'",
    "DETACH main",
    "DETACH temp",
    "SELECT 1; ATTACH 'other.db' AS other",
    "VACUUM INTO 'copy.db'",
    "VACUUM main INTO 'copy.db'",
    "SELECT load_extension('libc.so.6')",
    "SELECT load_extension('./evil', 'sqlite3_evil_init')",
    "SELECT LOAD_EXTENSION('/tmp/evil.so') FROM orders",
    "SELECT \"load_extension\"('evil')",
    "SELECT 1 WHERE load_extension('evil') IS NULL",
    "WITH x AS (SELECT load_extension('evil')) SELECT * FROM x",
    "SELECT fts3_tokenizer('evil', x'4141414141414141')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT readfile('other.db')",
    "SELECT writefile('copy.db', 'x')",
    "SELECT edit('x')",
    "SELECT sqlite_log(1, 'x')",
    "SELECT * FROM fsdir('.')",
    "SELECT * FROM csv('other.db')",
};

constexpr const char* kOtherTables[] = {
    "SELECT * FROM secret",
    "SELECT word FROM main.secret",
    "SELECT word FROM \"SECRET\"",
    "SELECT word FROM [secret]",
    "SELECT word FROM 'secret'",
    "SELECT count(*) FROM secret",
    "SELECT rowid FROM secret",
    "SELECT (SELECT word FROM secret)",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM secret)",
    "SELECT item FROM orders WHERE item IN secret",
    "SELECT item FROM orders ORDER BY (SELECT word FROM secret)",
    "SELECT item FROM orders UNION SELECT word FROM secret",
    "SELECT o.item, s.word FROM orders o, secret s",
    "SELECT item FROM orders LEFT JOIN secret ON word = item",
    "WITH orders AS (SELECT word FROM secret) SELECT * FROM orders",
    "WITH spent AS (SELECT word FROM secret) SELECT * FROM spent",
    "WITH RECURSIVE spent(w) AS (SELECT word FROM secret UNION ALL SELECT w FROM spent) SELECT w FROM spent",
    "SELECT * FROM (SELECT * FROM secret) AS orders",
    "SELECT * FROM leak",
    "SELECT word FROM leak AS spent",
    "WITH spent AS (SELECT word FROM leak) SELECT * FROM spent",
    "SELECT group_concat(word) OVER () FROM secret",
    "SELECT json_group_array(word) FROM secret",
    "EXPLAIN SELECT word FROM secret",
    "SELECT * FROM notes",
    "SELECT * FROM notes('canary')",
    "SELECT * FROM notes_content",
    "SELECT * FROM notes_data",
    "SELECT * FROM notes_config",
    "SELECT snippet(notes, 0, '', '', '', 9) FROM notes",
    "SELECT sql FROM sqlite_master",
    "SELECT sql FROM sqlite_schema",
    "SELECT name FROM main.sqlite_master WHERE name = 'secret'",
    "SELECT * FROM sqlite_temp_master",
    "SELECT * FROM temp.sqlite_schema",
    "SELECT * FROM sqlite_sequence",
    "SELECT * FROM sqlite_stat1",
    "SELECT data FROM sqlite_dbpage",
    "SELECT * FROM sqlite_dbpage('main')",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_stmt",
    "SELECT * FROM bytecode('SELECT 1')",
    "SELECT * FROM tables_used('SELECT * FROM secret')",
};

/// `%` stands for the start of an endless query.
constexpr const char* kExcesses[] = {
    "%SELECT count(*) FROM c",
    "%SELECT max(x) FROM c WHERE x < 0",
    "%SELECT x FROM c ORDER BY x DESC",
    "%SELECT x FROM c WHERE x = 0",
    "%SELECT DISTINCT x % 3 FROM c LIMIT 9",
    "%SELECT x, count(*) FROM c GROUP BY x",
    "%SELECT randomblob(1000000) FROM c ORDER BY 1",
    "%SELECT hex(randomblob(100000)) AS h, row_number() OVER (ORDER BY x) FROM c",
    "%SELECT group_concat(x, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') FROM c",
    "%SELECT json_group_array(x) FROM c",
    "%SELECT count(*) FROM c a, c b",
    "SELECT zeroblob(2000000)",
    "SELECT randomblob(2000000)",
    "SELECT group_concat(hex(zeroblob(400000))) FROM orders",
    "SELECT replace(hex(zeroblob(50000)), '0', hex(zeroblob(50000)))",
    "SELECT hex(zeroblob(1000000))",
    "SELECT zeroblob(1000000) || zeroblob(1000000)",
    "SELECT quote(zeroblob(1000000))",
    "SELECT ?, ?2, ?1001",
};

class SqlAttempts : public ::testing::Test {
 protected:
  SqlAttempts() {
    shop_.run("CREATE TABLE t (word TEXT); INSERT INTO t VALUES ('canary-5d2f')", "other.db");
    before_ = state();
    SqlOptions options;
    options.tables = {"orders", "customers", "spent", "texts"};
    options.timeout = std::chrono::milliseconds(100);
    options.max_temporary = std::size_t{16} * 1024 * 1024;
    connector_ = sqlite_client(shop_.path(), options).value();
    const auto allowed = connector_->query(
        {"WITH c AS (SELECT 1) SELECT item, (SELECT count(*) FROM c), (SELECT count(*) FROM spent) "
         "FROM orders, json_each('[1]'), texts"});
    if (!allowed) throw std::runtime_error("the connector reads nothing at all: " + allowed.error().message);
  }
  ~SqlAttempts() override { EXPECT_EQ(state(), before_) << "an attempt changed a file"; }

  /// The names and contents of all files.
  std::string state() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(shop_.folder().path())) {
      const std::string name = entry.path().filename();
      files[name] = digest_of(shop_.folder().read(name)).hex(16);
    }
    std::string all;
    for (const auto& [name, digest] : files) all += name + ' ' + digest + '\n';
    return all;
  }

  void fails(const std::string& text, const Json& parameters = {}) const {
    const auto result = connector_->query({text, parameters});
    EXPECT_FALSE(result) << text << "\nreturned " << (result ? result->rows.size() : 0) << " rows";
    const std::string message = result ? "" : result.error().message;
    EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr(kCanary))) << text;
  }
  template <std::size_t N>
  void all_fail(const char* const (&attempts)[N]) const {
    for (const char* attempt : attempts) fails(attempt);
  }

  const Shop shop_;
  std::string before_;
  std::shared_ptr<SqlClient> connector_;
};

TEST_F(SqlAttempts, AreAtLeastTwoHundred) {
  EXPECT_GE(std::size(kWrites) + std::size(kPragmas) + std::size(kFilesAndExtensions) +
                std::size(kOtherTables) + std::size(kExcesses),
            200U);
}

TEST_F(SqlAttempts, ToWrite_Fail) { all_fail(kWrites); }

TEST_F(SqlAttempts, ToChangeSettings_Fail) { all_fail(kPragmas); }

TEST_F(SqlAttempts, ToUseFilesAndExtensions_Fail) { all_fail(kFilesAndExtensions); }

TEST_F(SqlAttempts, ToReadOtherTables_Fail) { all_fail(kOtherTables); }

TEST_F(SqlAttempts, ToExceedLimits_Fail) {
  for (std::string attempt : kExcesses) {
    if (attempt.starts_with('%'))
      attempt.replace(0, 1, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) ");
    const auto begun = std::chrono::steady_clock::now();
    fails(attempt);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3)) << attempt;
  }
}

/// `count` times `part`, with `#` for a number.
std::string repeated(const std::string& part, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    for (const char c : part) all += c == '#' ? std::to_string(i) : std::string(1, c);
  }
  return all;
}

TEST_F(SqlAttempts, ToExhaustTheCompiler_Fail) {
  fails("SELECT " + repeated("(", 5000) + "1" + repeated(")", 5000));
  fails("SELECT 1" + repeated(" + 1", 5000));
  fails("SELECT 1" + repeated(" UNION ALL SELECT 1", 500));
  fails("SELECT 1" + repeated(", 1", 3000));
  fails("SELECT '" + std::string(70'000, 'x') + "'");
  fails("SELECT 1 LIKE '" + repeated("%a", 500) + "'");
  fails("SELECT 1" + repeated(" AND ?#", 2000));
  fails(std::string("SELECT 1\0; DELETE FROM orders", 30));
  // Each level doubles what the compiler copies.
  std::string selects = "WITH c AS (SELECT 1 AS x)", sums = selects, aliases = "1";
  for (int i = 0; i < 30; ++i) {
    const std::string before = i == 0 ? "c" : "c" + std::to_string(i - 1), name = "c" + std::to_string(i);
    selects += ", " + name + " AS (SELECT 1 AS x FROM " + before + " a, " + before + " b)";
    sums += ", " + name + " AS (SELECT x + x + id AS x FROM orders, " + before + ")";
  }
  for (int i = 0; i < 6; ++i) {
    const std::string name = "x" + std::to_string(i);
    std::string mentions;
    for (int j = 0; j < 40; ++j) mentions += ", " + name;
    aliases = "(SELECT " + aliases + " AS " + name + " FROM orders WHERE max(1" + mentions + "))";
  }
  for (const std::string& text :
       {selects + " SELECT * FROM c29", sums + " SELECT * FROM c29", "SELECT " + aliases}) {
    const auto result = connector_->query({text});
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("bytes of memory")) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace praxis
