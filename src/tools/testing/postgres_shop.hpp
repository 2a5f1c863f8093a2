// A PostgreSQL database for the tests of the SQL connector, with orders that may be read and secrets that may
// not, and the roles of its connectors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "journal/testing/postgres_server.hpp"

namespace praxis {

inline constexpr const char* kPostgresShopTables = R"(
  CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL);
  CREATE TABLE orders (id serial PRIMARY KEY, customer integer NOT NULL REFERENCES customers(id),
                       item text, price double precision, photo bytea);
  INSERT INTO customers VALUES (1, 'Anna'), (2, 'Bob');
  INSERT INTO orders (customer, item, price, photo)
    VALUES (1, 'green tea', 4.5, '\x00ff'), (2, 'bike', 900, NULL), (1, 'pot', 12, NULL);
  CREATE VIEW spent AS SELECT customer, sum(price) AS total FROM orders GROUP BY customer;
  CREATE TABLE secret (word text);
  INSERT INTO secret VALUES ('canary-5d2f');
  CREATE VIEW leak AS SELECT word FROM secret;
)";

class PostgresShop {
 public:
  PostgresShop() : address_(testing::PostgresServer::shared()->new_schema()) {
    const std::size_t begin = address_.find("%3D") + 3;
    name_ = address_.substr(begin);
    const std::string reader = role("reader"), writer = role("writer");
    run(std::string(kPostgresShopTables) + "CREATE ROLE " + reader + " LOGIN; CREATE ROLE " + writer +
        " LOGIN; GRANT USAGE ON SCHEMA " + name_ + " TO " + reader + "; GRANT ALL ON SCHEMA " + name_ +
        " TO " + writer + "; GRANT SELECT ON orders, customers, spent TO " + reader +
        "; ALTER TABLE orders OWNER TO " + writer + "; ALTER TABLE customers OWNER TO " + writer +
        "; ALTER VIEW spent OWNER TO " + writer);
  }

  /// As the owner of everything, a superuser.
  std::string address() const { return address_; }
  /// As the role of a connector, which has no rights on secret and leak: `reader` may read the other tables,
  /// `writer` owns them and may make more.
  std::string address(const std::string& which) const {
    std::string address = address_;
    return address.replace(address.find("user=praxis"), 11, "user=" + role(which));
  }
  std::string role(const std::string& which) const { return which + '_' + name_; }
  std::string schema() const { return name_; }

  /// Runs statements without any bounds.
  void run(const std::string& script) const {
    auto connection = PostgresConnection::open(address_, false);
    ASSERT_TRUE(connection) << connection.error().message;
    const auto done = connection->execute(script);
    EXPECT_TRUE(done) << done.error().message;
  }
  /// The first value that a query gives, a text.
  std::string value(const std::string& query) const {
    auto connection = PostgresConnection::open(address_, false);
    if (!connection) return connection.error().message;
    const auto rows = connection->run(query);
    return rows ? rows->text(0, 0) : rows.error().message;
  }
  /// A digest of all rows, definitions and rights of the schema, large objects, sequences, roles and
  /// settings.
  std::string state() const {
    return value(R"(SELECT md5(concat_ws('/', (SELECT string_agg(o::text, '|' ORDER BY o.id) FROM orders o),
      (SELECT string_agg(c::text, '|' ORDER BY c.id) FROM customers c), (SELECT string_agg(word, '|') FROM secret),
      (SELECT last_value FROM orders_id_seq),
      (SELECT string_agg(concat(c.oid, c.relname, c.relnatts, c.relacl), '|' ORDER BY c.oid)
         FROM pg_class c WHERE c.relkind NOT IN ('t', 'i')),
      (SELECT string_agg(p.oid::text, '|' ORDER BY p.oid) FROM pg_proc p WHERE p.oid > 16384),
      (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_namespace),
      (SELECT string_agg(concat(rolname, rolsuper), '|' ORDER BY oid) FROM pg_roles),
      (SELECT count(*) FROM pg_db_role_setting), (SELECT count(*) FROM pg_replication_slots),
      (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'))))");
  }

 private:
  std::string address_, name_;
};

}  // namespace praxis
