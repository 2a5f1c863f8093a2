#include "journal/postgres_writer.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "journal/chain.hpp"

namespace praxis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostWrites = 256;              // of one transaction
constexpr std::size_t kMostBytes = 16 * 1024 * 1024;  // likewise
constexpr std::chrono::milliseconds kFirstPause{20}, kLongestPause{1'000};

std::size_t size_of(const Append& append) {
  std::size_t size = 0;
  for (const NewEntry& entry : append.entries) size += entry.body.size();
  for (const Blob& blob : append.blobs) size += blob.bytes.size();
  return size;
}

}  // namespace

Result<PostgresConnection> PostgresRoute::connect(Clock::time_point since) const {
  auto pause = kFirstPause;
  for (bool noticed = false;; pause = std::min(pause * 2, kLongestPause)) {
    auto connection = PostgresConnection::open(address, reads_only);
    if (connection || !is_transient(connection.error())) return connection;
    if (Clock::now() + pause - since > patience || stop.stop_requested()) return connection;
    if (!std::exchange(noticed, true) && on_wait) on_wait("waiting for " + connection.error().message);
    std::this_thread::sleep_for(pause);
  }
}

std::shared_ptr<PostgresWriter> PostgresWriter::start(PostgresRoute route, PostgresConnection connection,
                                                      std::int64_t owner) {
  std::shared_ptr<PostgresWriter> writer(new PostgresWriter(std::move(route), std::move(connection), owner));
  const std::lock_guard lock(writer->mutex_);
  writer->thread_ = std::thread([writer] { writer->work(); });
  writer->server_ = writer->thread_.get_id();
  return writer;
}

bool PostgresWriter::serves_here() {
  const std::lock_guard lock(mutex_);
  return server_ == std::this_thread::get_id();
}

void PostgresWriter::push(PostgresWrite write, Done done) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(write), nullptr, std::move(done)});
  }
  wake_.notify_one();
}

Status PostgresWriter::run(const Change& change) {
  std::promise<Status> outcome;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({{}, &change, [&](Status status) { outcome.set_value(std::move(status)); }});
  }
  // No transaction is open while a `done` runs, so a `done` that waits commits the queue itself.
  if (serves_here()) {
    commit_queued();
  } else {
    wake_.notify_one();
  }
  return outcome.get_future().get();
}

void PostgresWriter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (serves_here()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void PostgresWriter::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return connection_.reset();
    }
    commit_queued();
    while (!settled_.empty()) {
      auto [done, outcome] = std::move(settled_.front());
      settled_.pop_front();
      done(std::move(outcome));
    }
  }
}

void PostgresWriter::commit_queued() {
  std::vector<Queued> group;
  {
    const std::lock_guard lock(mutex_);
    group.swap(queue_);
  }
  for (std::size_t first = 0; first < group.size();) {
    std::size_t end = first, bytes = 0;
    for (; end < group.size() && group[end].change == nullptr && end - first < kMostWrites; ++end) {
      bytes += size_of(group[end].write.append);
      if (bytes > kMostBytes && end > first) break;
    }
    if (end > first) {
      commit_batch(std::span(group).subspan(first, end - first));
      first = end;
    } else {
      group[first].done(transact(*group[first].change));
      ++first;
    }
  }
}

void PostgresWriter::commit_batch(std::span<Queued> batch) {
  std::vector<const PostgresWrite*> writes;
  for (const Queued& each : batch) writes.push_back(&each.write);
  std::vector<Status> outcomes(batch.size());
  const Status committed = transact(
      [&](PostgresConnection& connection) { return write_batch(connection, owner_, writes, outcomes); });
  if (!committed && batch.size() > 1 && !is_transient(committed.error())) {
    // One of them may be the reason: too large, or text that the database does not accept.
    for (std::size_t i = 0; i < batch.size(); ++i) commit_batch(batch.subspan(i, 1));
    return;
  }
  if (!committed) std::ranges::fill(outcomes, committed);
  for (std::size_t i = 0; i < batch.size(); ++i)
    settled_.push_back({std::move(batch[i].done), std::move(outcomes[i])});
}

Status PostgresWriter::transact(const Change& change) {
  const auto since = Clock::now();
  for (;;) {
    if (connection_ && connection_->is_lost()) connection_.reset();
    if (!connection_) {
      auto connection = route_.connect(since);
      if (!connection) return fail(std::move(connection.error()));
      connection_.emplace(std::move(*connection));
    }
    bool in_doubt = false;
    Status done = attempt(change, in_doubt);
    if (done || !is_transient(done.error())) return done;
    if (in_doubt) {
      const PostgresConnection lost = std::move(*connection_);
      const auto committed = was_committed(lost, since);
      if (!committed) return fail(std::move(done.error()));
      if (*committed) return {};
    }
    if (Clock::now() - since > route_.patience || route_.stop.stop_requested()) return done;
  }
}

/// `in_doubt`: the commit was sent, and no answer came.
Status PostgresWriter::attempt(const Change& change, bool& in_doubt) {
  connection_->begin();
  Status done = change(*connection_);
  if (done) {
    // Without its name, the transaction would have to be taken for one that failed.
    if (connection_->transaction().empty()) done = connection_->finish();
  }
  if (done) {
    connection_->send("COMMIT");
    done = connection_->finish();
    in_doubt = !done && connection_->is_lost();
  }
  if (!done) {
    if (auto rest = connection_->finish(); !rest && connection_->is_lost()) done = rest;
    connection_->roll_back();
  }
  return done;
}

Result<bool> PostgresWriter::was_committed(const PostgresConnection& lost, Clock::time_point since) {
  for (;;) {
    auto connection = route_.connect(since);
    if (!connection) return fail(std::move(connection.error()));
    connection_.emplace(std::move(*connection));
    const auto status = connection_->run(
        "SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) THEN "
        "pg_xact_status($1::text::xid8) ELSE 'aborted' END",
        {lost.transaction()});
    if (status && (status->is_null(0, 0) || status->bytes(0, 0) != "in progress")) {
      if (status->bytes(0, 0) != "committed") return false;
      const auto is_there = lost.proof() ? lost.proof()(*connection_) : Result<bool>(true);
      if (is_there) return is_there;
    }
    if (Clock::now() - since > route_.patience) {
      return fail(journal_error(
          ErrorKind::kIo,
          "journal " + route_.address + ": the server has not said whether it took the last write"));
    }
    std::this_thread::sleep_for(kFirstPause);
  }
}

}  // namespace praxis
