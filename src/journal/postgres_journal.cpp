// The journal of several machines. Changes go through the writer's connection; readers have others.
#include "praxis/journal/postgres_journal.hpp"

#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "journal/chain.hpp"
#include "journal/open_leases.hpp"
#include "journal/postgres_inbox.hpp"
#include "journal/postgres_store.hpp"
#include "journal/postgres_watch.hpp"
#include "journal/postgres_writer.hpp"

namespace praxis {
namespace {

constexpr std::size_t kIdleConnections = 4;

class PostgresJournal final : public Journal, public Inbox {
 public:
  /// `writing` is the connection of the writer; none: the journal is read-only.
  PostgresJournal(PostgresRoute route, PostgresSelf self, std::optional<PostgresConnection> writing,
                  std::chrono::milliseconds patience)
      : route_(std::move(route)), self_(std::move(self)) {
    if (!writing) return;
    writer_ = PostgresWriter::start(route_, std::move(*writing), self_.number);
    watch_.emplace(route_, self_, patience);
  }
  ~PostgresJournal() override {
    if (writer_) writer_->stop();
  }

  /// Does not write the session at once, as the journal in SQLite.
  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    if (!writer_) return fail(read_only());
    const auto lease = leases_->begin(session, now);
    if (!lease) return fail(session_exists(session));
    const auto exists =
        reading([&](PostgresConnection& connection) { return has_session(connection, session); });
    leases_->free(*lease);
    if (exists && !*exists) return *lease;
    leases_->drop(*lease);
    return fail(exists ? session_exists(session) : exists.error());
  }

  Result<Lease> acquire(const SessionId& session, bool force) override {
    Lease lease;
    auto taken = changing([&](PostgresConnection& connection) -> Status {
      for (const Lease& old : leases_->kept(session)) {
        connection.send(
            "UPDATE praxis_sessions SET lease_owner = 0 WHERE name = $1 AND lease_token = $2 AND lease_owner "
            "= "
            "$3",
            {session.str(), old.token, self_.number});
      }
      if (auto given = connection.finish(); !given) return given;
      auto acquired = acquire_session(connection, session, force, self_);
      if (!acquired) return fail(std::move(acquired.error()));
      lease = *std::move(acquired);
      return {};
    });
    if (!taken) return fail(std::move(taken.error()));
    leases_->forget(session);
    return lease;
  }

  void release(const Lease& lease) override {
    if (!writer_ || leases_->drop(lease)) return;
    PostgresWrite write;
    write.append.lease = lease;
    write.releases = true;
    writer_->push(std::move(write), [lease, leases = leases_](Status given) {
      if (!given) leases->keep(lease);
    });
  }

  void append(Append append, AppendDone done) override {
    if (!writer_) return done(fail(read_only()));
    const Lease lease = append.lease;
    const auto last = append.expected_seq + append.entries.size();
    const auto begun = append.expected_seq == 0 ? leases_->queue(lease) : std::nullopt;
    writer_->push({std::move(append), false, begun},
                  [done = std::move(done), last, begun, lease, leases = leases_](Status status) mutable {
                    if (begun) status ? leases->made(lease.session) : leases->free(lease);
                    done(status ? Result<std::uint64_t>(last) : fail(std::move(status.error())));
                  });
  }

  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    await_made(session);
    return reading([&](auto& connection) { return read_entries(connection, session, from, limit); });
  }
  Result<std::string> blob(const Digest& digest) override {
    return reading([&](auto& connection) { return read_blob(connection, digest); });
  }
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override {
    await_made(SessionId{});
    return reading([&](auto& connection) { return read_sessions(connection, limit, self_); });
  }
  Result<SessionRow> session(const SessionId& session) override {
    await_made(session);
    return reading([&](auto& connection) { return read_session(connection, session, self_); });
  }
  Result<std::vector<SessionRow>> children(const SessionId& parent) override {
    await_made(SessionId{});
    return reading([&](auto& connection) { return read_children(connection, parent, self_); });
  }
  Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) override {
    await_made(SessionId{});
    return reading([&](auto& connection) { return read_changes(connection, after, limit); });
  }
  Result<std::uint64_t> last_position() override {
    await_made(SessionId{});
    return reading([&](auto& connection) { return read_last_position(connection); });
  }

  Status label(const SessionId& session, const LabelChange& change) override {
    await_made(session);
    return changing([&](auto& connection) { return label_session(connection, session, change); });
  }
  Result<std::size_t> remove(const SessionId& session) override {
    await_made(session);
    return changing([&](auto& connection) { return remove_tree(connection, session, self_); });
  }
  Result<Swept> sweep() override {
    if (!writer_) return fail(read_only());
    return sweep_postgres([this](const auto& read) { return reading(read); },
                          [this](const auto& change) { return changing(change); });
  }

  Inbox& inbox() override { return *this; }

  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    await_made(to);
    auto posted = changing([&](auto& connection) { return post_message(connection, to, body, now); });
    if (posted) watch_->stir();
    return posted;
  }
  Result<std::vector<InboxMessage>> messages(InboxId after) override {
    if (watch_ && watch_->is_empty_above(after)) return std::vector<InboxMessage>{};
    const auto look = watch_ ? watch_->begin_look() : 0;
    auto found = reading([&](auto& connection) { return read_messages(connection, after); });
    if (watch_ && found && found->empty()) watch_->note_empty(after, look);
    return found;
  }
  Result<std::vector<InboxMessage>> messages_for(const SessionId& session, InboxId after) override {
    return reading([&](auto& connection) { return read_messages_for(connection, session, after); });
  }
  Status answer(const Lease& lease, InboxId message, std::string outcome) override {
    const InboxAnswer answer{message, std::move(outcome)};
    return changing(
        [&](auto& connection) { return answer_as_owner(connection, lease, answer, self_.number); });
  }
  Result<std::optional<std::string>> outcome(InboxId message) override {
    return reading([&](auto& connection) { return read_outcome(connection, message); });
  }

 private:
  Error read_only() const {
    return journal_error(ErrorKind::kReadOnly, "journal " + route_.address + " is open for reading only");
  }

  /// Waits for the append that creates the session, so that its creator finds it without having waited
  /// itself.
  void await_made(const SessionId& session) {
    if (writer_ && leases_->is_queued(session))
      std::ignore = writer_->run([](PostgresConnection&) { return Status{}; });
  }

  /// Calls `change` in a durable transaction of the writer; returns its result.
  template <class Made>
  std::invoke_result_t<Made, PostgresConnection&> changing(Made change) {
    if (!writer_) return fail(read_only());
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
  const std::shared_ptr<OpenLeases> leases_ = std::make_shared<OpenLeases>();
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
