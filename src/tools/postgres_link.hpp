// One connection to a PostgreSQL server for the statements of one call. A stop or a deadline ends what it
// waits for, on the server too.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "journal/libpq.hpp"
#include "praxis/tools/sql_tool.hpp"
#include "tools/postgres_valve.hpp"

namespace praxis {

/// When a call ends early. Lives as long as the call; used by its thread.
class CallEnd {
 public:
  enum class Wake { kReady, kStopped, kLate };

  CallEnd(const SqlStop& stop, std::chrono::milliseconds timeout);
  CallEnd(const CallEnd&) = delete;
  CallEnd& operator=(const CallEnd&) = delete;

  /// Waits until the file is ready for the events of `poll`, or the call must end.
  Wake wait(int file, short events) const;
  /// From here on a stop does not end the call, and the deadline is moved by `longer`.
  void finish_within(std::chrono::milliseconds longer);
  std::chrono::milliseconds left() const;

 private:
  struct WakeFile {
    WakeFile();
    ~WakeFile();
    WakeFile(const WakeFile&) = delete;
    WakeFile& operator=(const WakeFile&) = delete;
    int file;
  };

  WakeFile wake_;  // outlives the callback
  bool heeds_stop_ = true;
  std::chrono::steady_clock::time_point deadline_;
  std::stop_callback<std::function<void()>> on_stop_;
};

struct ClearAnswer {
  const pq::Library* library = nullptr;
  void operator()(pq::Answer* answer) const { library->clear(answer); }
};
/// An answer to a statement, or one row of it; null: there is no more.
using PostgresAnswer = std::unique_ptr<pq::Answer, ClearAnswer>;

/// A parameter of a statement.
struct PostgresParameter {
  std::optional<std::string> value;  ///< none: null
  bool is_binary = false;
};

/// Used by one thread. An error about the end of the call, about the connection or about a statement means
/// that the transaction of the link has changed nothing, as long as no `COMMIT` was sent.
class PostgresLink {
 public:
  /// Connects before `end`, which must outlive the link. An answer, or one row of it, may have `max_answer`
  /// bytes. The error repeats the address.
  static Result<PostgresLink> open(const std::string& address, bool reads_only, const CallEnd& end,
                                   std::size_t max_answer);

  /// Sends one statement and waits for its answer. Values are text.
  Result<PostgresAnswer> ask(const std::string& sql, const std::vector<PostgresParameter>& values = {});
  /// The parameters and columns of a statement that was prepared under this name.
  Result<PostgresAnswer> describe(const char* name);
  /// Sends a prepared statement; `next` gives its rows one by one, then an answer without rows, then null.
  Status start(const char* name, const std::vector<PostgresParameter>& values);
  Result<PostgresAnswer> next();
  /// Ends the statement that the server runs.
  void cancel();

  const pq::Library& library() const { return *library_; }
  std::string text(const PostgresAnswer& answer, int row, int column) const;

 private:
  struct Finish {
    const pq::Library* library;
    void operator()(pq::Connection* handle) const { library->finish(handle); }
  };

  PostgresLink(const pq::Library* library, pq::Connection* handle, const std::string& address,
               const CallEnd& end, std::size_t max_answer)
      : library_(library),
        handle_(handle, Finish{library}),
        address_(address),
        end_(&end),
        max_answer_(max_answer) {}
  Status connect();
  Status wait(short events);
  Status flush();
  Result<PostgresAnswer> only_answer(int sent);
  Error lost_error() const;
  Error statement_error(pq::Answer* answer) const;

  const pq::Library* library_;
  std::optional<PostgresValve> valve_;  // outlives the connection, whose end it passes on
  std::unique_ptr<pq::Connection, Finish> handle_;
  std::string address_;
  const CallEnd* end_;
  std::size_t max_answer_;
  std::size_t arrived_ = 0;  // bytes of the answer that is not complete yet
};

}  // namespace praxis
