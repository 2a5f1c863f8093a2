// A SQLite database for the tests of the SQL connector, with orders that may be read and secrets that may
// not.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "store/sqlite_memory.hpp"
#include "tools/testing/call.hpp"

namespace praxis {

/// What no statement may return.
inline constexpr const char* kCanary = "canary-5d2f";

inline constexpr const char* kShopTables = R"(
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers(id),
                       item TEXT, price REAL, photo BLOB);
  INSERT INTO customers VALUES (1, 'Anna'), (2, 'Bob');
  INSERT INTO orders VALUES (1, 1, 'green tea', 4.5, x'00ff'), (2, 2, 'bike', 900, NULL), (3, 1, 'pot', 12, NULL);
  CREATE INDEX by_item ON orders (item);
  CREATE VIEW spent AS SELECT customer, sum(price) AS total FROM orders GROUP BY customer;
  CREATE VIRTUAL TABLE texts USING fts5(body);
  INSERT INTO texts VALUES ('green tea and milk'), ('black coffee');
  CREATE TABLE secret (word TEXT);
  INSERT INTO secret VALUES ('canary-5d2f');
  CREATE VIEW leak AS SELECT word FROM secret;
  CREATE VIRTUAL TABLE notes USING fts5(body);
  INSERT INTO notes VALUES ('canary-5d2f'))";

class Shop {
 public:
  Shop() {
    watch_sqlite_memory();
    run(kShopTables);
  }

  std::string path() const { return folder_.str("shop.db"); }
  const ScratchFolder& folder() const { return folder_; }

  /// Runs statements without any bounds.
  void run(const std::string& script, const std::string& file = "shop.db") const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(folder_.str(file).c_str(), &database), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(database, ("PRAGMA synchronous = OFF;" + script).c_str(), nullptr, nullptr, nullptr),
        SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

 private:
  ScratchFolder folder_;
};

}  // namespace praxis
