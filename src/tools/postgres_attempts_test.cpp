// Attempts to get more out of a PostgreSQL connector that only reads than it allows: to write, to leave its
// transaction, to act on the server outside of it. None succeeds, and the database is as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <optional>

#include "praxis/tools/sql_tool.hpp"
#include "tools/testing/postgres_shop.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

/// What a connector that may write runs, once each and in this order.
constexpr const char* kPostgresChanges[] = {
    "INSERT INTO orders (customer) VALUES (1)",
    "INSERT INTO orders (customer) VALUES (1) RETURNING id",
    "INSERT INTO orders (id, customer) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET customer = 2",
    "INSERT INTO orders (customer) SELECT customer FROM orders LIMIT 1",
    "WITH x(a) AS (SELECT 1) INSERT INTO orders (customer) SELECT a FROM x",
    "WITH x AS (INSERT INTO customers VALUES (7, 'x') RETURNING id) SELECT id FROM x",
    "WITH x AS (UPDATE orders SET price = 1 RETURNING id) SELECT count(*) FROM x",
    "WITH x AS (DELETE FROM customers WHERE id = 7 RETURNING id) TABLE x",
    "/* SELECT */ INSERT INTO orders (customer) VALUES (1)",
    "-- SELECT\nINSERT INTO orders (customer) VALUES (1)",
    "iNsErT\tiNtO\n\"orders\" (customer) VALUES (1)",
    "UPDATE orders SET price = 0",
    "UPDATE orders SET price = 0 FROM customers WHERE customers.id = customer",
    "UPDATE orders SET price = 0 WHERE id = 1 RETURNING *",
    "SELECT * FROM orders FOR UPDATE",
    "SELECT * FROM orders FOR NO KEY UPDATE",
    "SELECT * FROM orders FOR SHARE",
    "SELECT * FROM orders FOR KEY SHARE",
    "SELECT nextval('orders_id_seq')",
    "SELECT setval('orders_id_seq', 900)",
    "MERGE INTO orders o USING customers c ON o.customer = c.id WHEN MATCHED THEN UPDATE SET price = 2",
    "DELETE FROM orders WHERE id = 2 RETURNING id",
    "DELETE FROM orders USING customers WHERE customers.id = customer",
    "DELETE FROM orders",
};

/// What no connector runs.
constexpr const char* kPostgresEscapes[] = {
    // other statements
    "CREATE TABLE t (a int)",
    "CREATE TEMP TABLE t (a int)",
    "CREATE TABLE t AS SELECT * FROM orders",
    "SELECT * INTO t FROM orders",
    "SELECT 1 AS a INTO UNLOGGED t",
    "WITH x AS (SELECT 1 AS a) SELECT a INTO t FROM x",
    "SELECT * INTO TEMP t FROM orders",
    "CREATE VIEW v AS SELECT 1",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE ROLE intruder",
    "CREATE EXTENSION dblink",
    "ALTER TABLE orders ADD COLUMN more text",
    "ALTER ROLE CURRENT_USER SET work_mem = '1MB'",
    "DROP TABLE orders",
    "TRUNCATE orders",
    "GRANT SELECT ON orders TO PUBLIC",
    "COMMENT ON TABLE orders IS 'x'",
    "VACUUM orders",
    "ANALYZE orders",
    "REINDEX TABLE orders",
    "CLUSTER",
    "CHECKPOINT",
    "LOCK TABLE orders",
    "LISTEN channel",
    "NOTIFY channel",
    "COPY orders TO STDOUT",
    "COPY orders FROM STDIN",
    "COPY orders TO '/tmp/praxis-attempt-copy'",
    "COPY orders TO PROGRAM 'touch /tmp/praxis-attempt-program'",
    "COPY (SELECT 1) TO PROGRAM 'touch /tmp/praxis-attempt-program'",
    "DO $$ BEGIN DELETE FROM orders; END $$",
    "DO $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM orders; END $$",
    "CALL f()",
    "EXPLAIN ANALYZE DELETE FROM orders",
    "PREPARE p AS DELETE FROM orders",
    "EXECUTE praxis",
    "DEALLOCATE ALL",
    "DECLARE c CURSOR FOR SELECT 1",
    "DISCARD ALL",
    // the transaction
    "BEGIN",
    "BEGIN READ WRITE",
    "COMMIT",
    "COMMIT AND CHAIN",
    "ROLLBACK",
    "SAVEPOINT s",
    "PREPARE TRANSACTION 'x'",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SET transaction_read_only = off",
    "SET default_transaction_read_only = off",
    "SET ROLE NONE",
    "SET SESSION AUTHORIZATION DEFAULT",
    "RESET ALL",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT \"set_config\"('transaction_read_only', 'off', true)",
    "SELECT U&\"set\\005fconfig\"('transaction_read_only', 'off', true)",
    "SELECT U&\"set!005fconfig\" UESCAPE '!' ('transaction_read_only', 'off', true)",
    "UPDATE pg_settings SET setting = 'off' WHERE name = 'transaction_read_only'",
    "UPDATE pg_catalog . pg_settings SET setting = 'off' WHERE name = 'transaction_read_only'",
    // several statements
    "SELECT 1; DELETE FROM orders",
    "SELECT 1;; DELETE FROM orders --",
    "SELECT 1; /* */ DROP TABLE orders",
    "; DELETE FROM orders",
    "COMMIT; DELETE FROM orders",
    "SELECT 1; COMMIT; BEGIN READ WRITE; DELETE FROM orders; COMMIT",
    "SELECT 1 \\; DELETE FROM orders",
    "SELECT $$; DELETE FROM orders; --",
    // functions
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
    "SELECT PG_CATALOG.PG_TERMINATE_BACKEND(1)",
    "SELECT pg_catalog . \"pg_terminate_backend\" (1)",
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "SELECT pg_stat_file('PG_VERSION')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/praxis-attempt-export')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT dblink('dbname=postgres', 'DELETE FROM orders')",
    "SELECT dblink_exec('dbname=postgres', 'DELETE FROM orders')",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_notify('channel', 'x')",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_switch_wal()",
    "SELECT pg_create_restore_point('x')",
    "SELECT pg_create_physical_replication_slot('x')",
    "SELECT pg_logical_emit_message(false, 'x', 'y')",
    "SELECT pg_stat_reset()",
    "SELECT pg_promote()",
    "SELECT query_to_xml('DELETE FROM orders', true, true, '')",
    "SELECT query_to_xml('SELECT pg_term' || 'inate_backend(1)', true, true, '')",
    "SELECT ts_stat('SELECT pg_cancel' || '_backend(1)')",
    "SELECT * FROM crosstab('SELECT pg_term' || 'inate_backend(1)') AS t(a text)",
    // what the role may not read
    "SELECT * FROM secret",
    "TABLE secret",
    "SELECT * FROM leak",
    "SELECT (SELECT word FROM secret)",
    "SELECT 1 FROM orders WHERE EXISTS (SELECT FROM secret)",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM pg_largeobject",
    "SELECT * FROM pg_hba_file_rules",
};

class PostgresAttempts : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    shop_.emplace();
  }

  std::shared_ptr<SqlClient> client(const std::string& which, SqlOptions options = {}) const {
    return postgres_client(shop_->address(which), std::move(options)).value();
  }

  std::optional<PostgresShop> shop_;
};

/// Refused, not merely ended by the time limit.
void expect_failure(const Result<SqlRows>& result, const char* attempt) {
  EXPECT_TRUE(result || result.error().kind() != ErrorKind::kTimeout) << attempt;
  const std::string message = result ? "it returned rows: canary-5d2f" : result.error().message;
  EXPECT_THAT(message, ::testing::Not(HasSubstr("canary-5d2f"))) << attempt;
}

TEST_F(PostgresAttempts, ToWrite_Fail) {
  const std::string before = shop_->state();
  ASSERT_EQ(before.size(), 32U) << before;
  // The role has the rights: only the connector stops it.
  const auto reader = client("writer");
  ASSERT_TRUE(reader->query({"SELECT * FROM orders, customers, spent"}));
  const auto writer = client("writer", {.write = true});
  for (const char* attempt : kPostgresChanges) {
    for (const auto& connector : {reader, writer}) {
      const auto refused = connector->query({attempt});
      expect_failure(refused, attempt);
      EXPECT_TRUE(refused || refused.error().code == ErrorCode::kPolicy) << attempt;
    }
  }
  EXPECT_EQ(shop_->state(), before);
}

TEST_F(PostgresAttempts, ToEscape_Fail) {
  EXPECT_GE(std::size(kPostgresChanges) + std::size(kPostgresEscapes), 120U);
  const std::string before = shop_->state();
  const auto reader = client("writer");
  for (const char* attempt : kPostgresEscapes) expect_failure(reader->query({attempt}), attempt);
  EXPECT_EQ(shop_->state(), before);
}

TEST_F(PostgresAttempts, ToEscapeAWriter_Fail) {
  const std::string before = shop_->state();
  const auto writer = client("writer", {.write = true});
  for (const char* attempt : kPostgresEscapes) expect_failure(writer->execute({attempt}), attempt);
  EXPECT_EQ(shop_->state(), before);
}

TEST_F(PostgresAttempts, ToWrite_SucceedIfAllowed) {
  const auto writer = client("writer", {.write = true});
  for (const char* change : kPostgresChanges) {
    const auto done = writer->execute({change});
    EXPECT_TRUE(done) << change << '\n' << (done ? "" : done.error().message);
  }
  EXPECT_EQ(shop_->value("SELECT count(*)::text FROM orders"), "0");
}

/// The guard of the server against a transaction that becomes one that writes, without the names that the
/// connector refuses: a function of the database itself tries it.
TEST_F(PostgresAttempts, FunctionsOfTheDatabase_CannotMakeTheTransactionWrite) {
  shop_->run(
      "CREATE FUNCTION free() RETURNS text LANGUAGE sql VOLATILE AS "
      "$$ SELECT set_config('transaction_read_only', 'off', false) $$;"
      "CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql VOLATILE AS "
      "$$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM orders; END $$;"
      "CREATE FUNCTION commits() RETURNS void LANGUAGE plpgsql VOLATILE AS "
      "$$ BEGIN COMMIT; DELETE FROM orders; END $$");
  const std::string before = shop_->state();
  for (const char* each : {"SELECT free()", "SELECT change()", "SELECT commits()"})
    expect_failure(client("writer")->query({each}), each);
  EXPECT_EQ(shop_->state(), before);
}

TEST_F(PostgresAttempts, RolesThatNoTransactionBounds_AreRefused) {
  const auto refusal = [&](const std::string& address) {
    const auto rows = postgres_client(address).value()->query({"SELECT 1"});
    return rows ? "it ran" : rows.error().message;
  };
  EXPECT_THAT(refusal(shop_->address()),
              HasSubstr("the role praxis of the database has the rights of a superuser"));
  for (const char* group : {"pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"}) {
    const std::string role = shop_->role("member");
    shop_->run("CREATE ROLE " + role + " LOGIN NOINHERIT; GRANT " + group + " TO " + role);
    EXPECT_THAT(refusal(shop_->address("member")), HasSubstr("files and programs of the server")) << group;
    shop_->run("DROP ROLE " + role);
  }
}

TEST_F(PostgresAttempts, Tables_AreBoundByTheRightsOfTheRole) {
  const SqlOptions listed{.tables = {"orders", "customers", shop_->schema() + ".spent"}};
  EXPECT_TRUE(client("reader", listed)->query({"SELECT * FROM spent, orders"}));
  const auto few = client("reader", {.tables = {"orders"}});
  const Error refused = few->query({"SELECT 1"}).error();
  EXPECT_EQ(refused.code, ErrorCode::kPolicy);
  EXPECT_THAT(refused.message, HasSubstr("customers, " + shop_->schema() + ".spent"));
  EXPECT_EQ(few->schema().error().code, ErrorCode::kPolicy);
  // Rights on one column, and those of a role that it may take on, count.
  shop_->run("GRANT SELECT (word) ON secret TO " + shop_->role("reader"));
  EXPECT_THAT(client("reader", listed)->query({"SELECT 1"}).error().message, HasSubstr(".secret"));
  shop_->run("REVOKE ALL ON secret FROM " + shop_->role("reader") + "; CREATE ROLE " + shop_->role("more") +
             "; GRANT USAGE ON SCHEMA " + shop_->schema() + " TO " + shop_->role("more") +
             "; GRANT SELECT ON leak TO " + shop_->role("more") + "; ALTER ROLE " + shop_->role("reader") +
             " NOINHERIT; GRANT " + shop_->role("more") + " TO " + shop_->role("reader"));
  EXPECT_THAT(client("reader", listed)->query({"SELECT 1"}).error().message, HasSubstr(".leak"));
}

}  // namespace
}  // namespace praxis
