// The journal of several machines. Changes go through the writer's connection; readers have others.
#include "praxis/journal/postgres_journal.hpp"

#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "journal/postgres_inbox.hpp"
#include "journal/postgres_store.hpp"
#include "journal/postgres_watch.hpp"
#include "journal/postgres_writer.hpp"
#include "journal/stored_journal.hpp"

namespace praxis {
namespace {

constexpr std::size_t kIdleConnections = 4;

class PostgresJournal final : public StoredJournal<PostgresJournal, PostgresConnection> {
 public:
  /// `writing` is the connection of the writer; none: the journal is read-only.
  PostgresJournal(PostgresRoute route, PostgresSelf self, std::optional<PostgresConnection> writing,
                  std::chrono::milliseconds patience)
      : StoredJournal(route.address, writing.has_value()), route_(std::move(route)), self_(std::move(self)) {
    if (!writing) return;
    writer_ = PostgresWriter::start(route_, std::move(*writing), self_.number);
    watch_.emplace(route_, self_, patience);
  }
  ~PostgresJournal() override {
    if (writer_) writer_->stop();
  }

  Result<Lease> acquire(const SessionId& session, bool force) override {
    if (!writer_) return fail(read_only());
    AcquiredLease made;
    auto taken = changing([&](PostgresConnection& connection) -> Status {
      for (const Lease& old : leases().kept(session)) {
        connection.send(
            "UPDATE praxis_sessions SET lease_owner = 0 WHERE name = $1 AND lease_token = $2 AND lease_owner "
            "= "
            "$3",
            {session.str(), old.token, self_.number});
      }
      if (auto given = connection.finish(); !given) return given;
      auto acquired = acquire_session(connection, session, force, self_);
      if (!acquired) return fail(std::move(acquired.error()));
      made = *std::move(acquired);
      return {};
    });
    if (!taken) return fail(std::move(taken.error()));
    leases().forget(session);
    meter().note_lease(session, made.is_takeover);
    return made.lease;
  }

  void release(const Lease& lease) override {
    meter().note_release(lease.session);
    if (!writer_ || leases().drop(lease)) return;
    PostgresWrite write;
    write.append.lease = lease;
    write.releases = true;
    writer_->push(std::move(write), [lease, leases = shared_leases()](Status given) {
      if (!given) leases->keep(lease);
    });
  }

  void append(Append append, AppendDone done) override {
    if (!writer_) return done(fail(read_only()));
    auto [created, settle] = begin_append(append, std::move(done));
    writer_->push({std::move(append), false, created}, std::move(settle));
  }

  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    auto posted = StoredJournal::post(to, std::move(body), now);
    if (posted) watch_->stir();
    return posted;
  }
  Result<std::vector<InboxMessage>> messages(InboxId after) override {
    if (watch_ && watch_->is_empty_above(after)) return std::vector<InboxMessage>{};
    const auto look = watch_ ? watch_->begin_look() : 0;
    auto found = StoredJournal::messages(after);
    if (watch_ && found && found->empty()) watch_->note_empty(after, look);
    return found;
  }

 private:
  friend StoredJournal;

  const PostgresSelf& living() const { return self_; }
  std::int64_t owner() const { return self_.number; }
  void await_queue() {
    std::ignore = writer_->run([](PostgresConnection&) { return Status{}; });
  }

  /// Calls `change` in a durable transaction of the writer; returns its result.
  template <class Made>
  std::invoke_result_t<Made, PostgresConnection&> changing(Made change) {
    std::invoke_result_t<Made, PostgresConnection&> made;
    auto done = writer_->run([&](PostgresConnection& connection) -> Status {
      made = change(connection);
      return made ? Status{} : fail(made.error());
    });
    if (!done) return fail(std::move(done.error()));
    return made;
  }

  /// Calls `select` with a connection that no other thread uses; again if the connection is lost.
  template <class Select>
  std::invoke_result_t<Select, PostgresConnection&> reading(Select select) {
    const auto since = std::chrono::steady_clock::now();
    for (;;) {
      auto connection = take_connection(since);
      if (!connection) return fail(std::move(connection.error()));
      auto result = select(*connection);
      if (!connection->is_lost()) {
        const std::lock_guard lock(mutex_);
        if (idle_.size() < kIdleConnections) idle_.push_back(std::move(*connection));
        return result;
      }
      if (result || std::chrono::steady_clock::now() - since > route_.patience) return result;
    }
  }

  Result<PostgresConnection> take_connection(std::chrono::steady_clock::time_point since) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Result<PostgresConnection> connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return route_.connect(since);
  }

  const PostgresRoute route_;
  const PostgresSelf self_;
  std::optional<PostgresWatch> watch_;  // with the writer; it gives up all leases at the end
  std::shared_ptr<PostgresWriter> writer_;
  std::mutex mutex_;
  std::vector<PostgresConnection> idle_;
};

}  // namespace

bool is_postgres_address(std::string_view journal) {
  return journal.starts_with("postgres://") || journal.starts_with("postgresql://");
}

bool has_password(std::string_view address) {
  const std::size_t begin = address.find("://");
  if (begin == std::string_view::npos) return address.find("password") != std::string_view::npos;
  const std::string_view rest = address.substr(begin + 3);
  const std::string_view place = rest.substr(0, rest.find('?'));
  const std::size_t at = place.rfind('@');
  const bool has_user = at != std::string_view::npos;
  return (has_user && place.find(':') < at) || rest.find("password=") != std::string_view::npos;
}

Result<std::shared_ptr<Journal>> postgres_journal(const std::string& address,
                                                  PostgresJournalOptions options) {
  if (auto good = check_postgres_address(address); !good) return fail(std::move(good.error()));
  PostgresRoute route{address, options.read_only, options.outage, options.on_wait, options.stop_waiting};
  // A server that is not there now is more likely a wrong address than an outage.
  auto connection = PostgresConnection::open(address, options.read_only);
  if (!connection) return fail(std::move(connection.error()));
  const bool creates = options.create && !options.read_only;
  auto tables = creates ? upgrade_tables(*connection, address) : check_tables(*connection, address);
  if (!tables) return fail(std::move(tables.error()));
  PostgresSelf self{PostgresOwner::self(), 0};
  if (options.read_only)
    return std::make_shared<PostgresJournal>(std::move(route), std::move(self), std::nullopt,
                                             options.patience);
  auto number = add_owner(*connection, self.process, options.patience);
  if (!number) return fail(std::move(number.error()));
  self.number = *number;
  return std::make_shared<PostgresJournal>(std::move(route), std::move(self), std::move(*connection),
                                           options.patience);
}

}  // namespace praxis
