// What a statement of an agent may do on a connection to SQLite: its authoriser, limits and clock.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/tools/sql_tool.hpp"
#include "tools/sql_bounds.hpp"

namespace praxis {

/// The longest value, in bytes. A function such as `instr` takes up to a second for two such values, and
/// cannot be interrupted.
inline constexpr int kMaxSqlValue = 1024 * 1024;

/// Guards one connection. Lives as long as the connection; used by one thread.
class SqliteGuard {
 public:
  enum class Access { kRead, kWrite };

  /// Sets the limits and installs the callbacks.
  SqliteGuard(sqlite3* connection, const SqlOptions& options, Access access, const SqlStop& stop);
  SqliteGuard(const SqliteGuard&) = delete;
  SqliteGuard& operator=(const SqliteGuard&) = delete;

  /// Whether statements of this program run, which may also read the schema and change settings.
  void set_own(bool own) { is_own_ = own; }
  /// The names of all tables and views. Statements may count the rows of other names, which are their own
  /// (WITH).
  void set_known(std::vector<std::string> tables) { known_ = std::move(tables); }
  /// What the authoriser refused first; empty: nothing.
  const std::string& refused() const { return refused_; }
  bool was_stopped() const { return stop_.stop.stop_requested(); }
  bool is_late() const { return std::chrono::steady_clock::now() >= deadline_; }

 private:
  int authorise(int action, const char* first, const char* second, const char* schema);
  /// Empty if the action is allowed, else what it does.
  std::string why_refused(int action, std::string_view first, std::string_view second,
                          std::string_view schema) const;
  bool may_touch(std::string_view table) const;
  bool must_end() const { return was_stopped() || is_late(); }

  const SqlOptions& options_;
  const Access access_;
  const SqlStop& stop_;
  std::chrono::steady_clock::time_point deadline_;
  bool is_own_ = false;
  std::vector<std::string> known_;
  std::string refused_;
};

}  // namespace praxis
