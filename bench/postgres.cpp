// Measures the journal in PostgreSQL against the floor: one insert of the same size that a token guards, in a
// transaction of its own. Argument: the address of a database, in which it makes tables.
//
//   praxis_postgres_bench 'postgres:///bench?host=/run/postgresql'
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "journal/postgres_connection.hpp"
#include "must.hpp"
#include "praxis/journal/postgres_journal.hpp"

namespace {

using praxis::Append;
using praxis::Journal;
using praxis::Lease;
using praxis::postgres_journal;
using praxis::PostgresConnection;
using praxis::Result;
using praxis::SessionId;
using praxis::bench::must;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTime{4};  // of each measurement
constexpr std::size_t kBody = 1'000;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

void print(const char* what, int count, std::vector<double> waits, double took) {
  std::ranges::sort(waits);
  std::printf("%-22s %3d at once: %6.0f a second, %6.2f ms (median), %6.2f ms (99 of 100)\n", what, count,
              static_cast<double>(waits.size()) / took, waits[waits.size() / 2] * 1e3,
              waits[waits.size() * 99 / 100] * 1e3);
}

/// Each client inserts one row after the other.
void measure_inserts(const std::string& address, int clients) {
  std::mutex mutex;
  std::vector<double> waits;
  const auto begun = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i) {
      threads.emplace_back([&, i] {
        auto connection = must(PostgresConnection::open(address, false));
        const std::string body(kBody, 'x');
        std::vector<double> own;
        for (std::int64_t seq = 0; Clock::now() - begun < kTime; ++seq) {
          const auto start = Clock::now();
          must(
              connection.run("INSERT INTO bench_rows SELECT id, $2, $3 FROM bench_leases WHERE id = $1 AND "
                             "token = 1",
                             {std::int64_t{i}, seq, body}));
          own.push_back(seconds_since(start));
        }
        const std::lock_guard lock(mutex);
        waits.insert(waits.end(), own.begin(), own.end());
      });
    }
  }
  print("fenced insert", clients, std::move(waits), seconds_since(begun));
}

/// Each session appends its next record when the previous one is durable.
void measure_records(Journal& journal, int sessions) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<double> waits;
  int ended = 0;
  std::vector<std::function<void(std::uint64_t)>> next(static_cast<std::size_t>(sessions));
  const auto begun = Clock::now();
  for (int i = 0; i < sessions; ++i) {
    const std::string name = "s" + std::to_string(sessions) + "_" + std::to_string(i) + "_" +
                             std::to_string(begun.time_since_epoch().count());
    const Lease lease = must(journal.create(SessionId(name), {1}));
    auto& go = next[static_cast<std::size_t>(i)];
    go = [&, lease](std::uint64_t seq) {
      if (Clock::now() - begun > kTime) {
        const std::lock_guard lock(mutex);
        ++ended;
        return changed.notify_all();
      }
      Append append{.lease = lease, .expected_seq = seq, .entries = {}, .blobs = {}, .row = {}};
      append.entries.push_back({"message_appended", {1}, std::string(kBody, 'x')});
      journal.append(std::move(append), [&, start = Clock::now()](Result<std::uint64_t> last) {
        {
          const std::lock_guard lock(mutex);
          waits.push_back(seconds_since(start));
        }
        go(must(std::move(last)));
      });
    };
    go(0);
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended == sessions; });
  print("durable record", sessions, std::move(waits), seconds_since(begun));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: praxis_postgres_bench ADDRESS\n");
    return 2;
  }
  const std::string address = argv[1];
  auto connection = must(PostgresConnection::open(address, false));
  if (!connection.execute(
          "CREATE TABLE IF NOT EXISTS bench_leases (id bigint PRIMARY KEY, token bigint); "
          "CREATE TABLE IF NOT EXISTS bench_rows (id bigint, seq bigint, body bytea); TRUNCATE "
          "bench_leases, bench_rows; INSERT INTO bench_leases SELECT n, 1 FROM "
          "generate_series(0, 99) n"))
    return 1;
  for (const int count : {1, 8, 32}) measure_inserts(address, count);
  const auto journal = must(postgres_journal(address));
  for (const int count : {1, 8, 32}) measure_records(*journal, count);
}
