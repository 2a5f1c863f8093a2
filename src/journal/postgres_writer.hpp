// The single writer of a PostgreSQL journal in this process: one connection, whose transactions each hold the
// queued appends of many sessions. It connects again when the connection is lost, and finds out whether a
// transaction whose commit was not answered took place.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "journal/open_journals.hpp"
#include "journal/postgres_batch.hpp"
#include "journal/postgres_connection.hpp"

namespace praxis {

/// How to reach the server, and for how long to try when it is lost.
struct PostgresRoute {
  std::string address;
  bool reads_only = false;
  std::chrono::milliseconds patience{20'000};
  std::function<void(const std::string&)> on_wait = {};
  std::stop_token stop = {};

  /// Connects; while the server cannot be reached, tries again until `patience` is over since `since`.
  Result<PostgresConnection> connect(std::chrono::steady_clock::time_point since) const;
};

class PostgresWriter : public std::enable_shared_from_this<PostgresWriter> {
 public:
  /// Changes the database within a transaction. Called again when the transaction must be repeated.
  using Change = std::function<Status(PostgresConnection&)>;
  using Done = std::move_only_function<void(Status)>;

  static std::shared_ptr<PostgresWriter> start(PostgresRoute route, PostgresConnection connection,
                                               std::int64_t owner);
  PostgresWriter(const PostgresWriter&) = delete;
  PostgresWriter& operator=(const PostgresWriter&) = delete;

  /// Queues a write; calls `done` outside any lock once it is durable, one at a time, in the order of the
  /// pushes.
  void push(PostgresWrite write, Done done);
  /// Queues a change in a transaction of its own and waits for it. May be called from a `done`.
  Status run(const Change& change);
  /// Finishes the queue and ends the thread; when called from a `done`, soon after that returns.
  void stop();

 private:
  struct Queued {
    PostgresWrite write;
    const Change* change = nullptr;  ///< not null: a thread waits for it
    Done done;
  };
  struct Settled {
    Done done;
    Status outcome;
  };

  PostgresWriter(PostgresRoute route, PostgresConnection connection, std::int64_t owner)
      : route_(std::move(route)), owner_(owner), connection_(std::move(connection)) {}
  bool serves_here();
  void work();
  void commit_queued();
  void commit_batch(std::span<Queued> batch);
  Status transact(const Change& change);
  Status attempt(const Change& change, bool& in_doubt);
  /// Whether the transaction took place that `lost` was committing.
  Result<bool> was_committed(const PostgresConnection& lost, std::chrono::steady_clock::time_point since);

  const OpenJournal open_ = count_open_journal();
  const PostgresRoute route_;
  const std::int64_t owner_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Queued> queue_;
  bool stopping_ = false;
  std::thread::id server_ = {};  // the thread; set before any write is queued
  std::thread thread_;
  // Used by the thread only.
  std::optional<PostgresConnection> connection_;
  std::deque<Settled> settled_;
};

}  // namespace praxis
