// What journals in a database have in common: reading, changes that are waited for, and sessions that their
// first append creates. How a connection is found and a change is queued is the affair of each.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "journal/chain.hpp"
#include "journal/journal_meter.hpp"
#include "journal/open_leases.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// `Own`, the class derived from this, has
/// - `reading(select)`: calls `select(Connection&)` with a connection that no other thread uses,
/// - `changing(change)`: calls `change(Connection&)` within a durable transaction, again after a rollback;
/// - `living()`: what tells whether the owner of a lease is alive, as the `select_*` of `Connection` take it;
/// - `owner()`: its number as an owner of leases;
/// - `await_queue()`: waits for all writes that are queued now.
template <class Own, class Connection>
class StoredJournal : public Journal, public Inbox, public MeasuredJournal {
 public:
  /// Does not write the session at once: that would cost each a transaction, and its caller a wait.
  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    if (!is_writable_) return fail(read_only());
    const auto lease = leases_->begin(session, now);
    if (!lease) return fail(session_exists(session));
    const auto exists = own().reading([&](auto& connection) { return has_session(connection, session); });
    leases_->free(*lease);
    if (exists && !*exists) {
      meter_->note_lease(session, false);
      return *lease;
    }
    leases_->drop(*lease);
    return fail(exists ? session_exists(session) : exists.error());
  }

  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    await_made(session);
    return own().reading([&](auto& connection) { return select_entries(connection, session, from, limit); });
  }
  Result<std::string> blob(const Digest& digest) override {
    return own().reading([&](auto& connection) { return select_blob(connection, digest); });
  }
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override {
    await_made(SessionId{});
    return own().reading(
        [&](auto& connection) { return select_sessions(connection, limit, own().living()); });
  }
  Result<SessionRow> session(const SessionId& session) override {
    await_made(session);
    return own().reading(
        [&](auto& connection) { return select_session(connection, session, own().living()); });
  }
  Result<std::vector<SessionRow>> children(const SessionId& parent) override {
    await_made(SessionId{});
    return own().reading(
        [&](auto& connection) { return select_children(connection, parent, own().living()); });
  }
  Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) override {
    await_made(SessionId{});
    return own().reading([&](auto& connection) { return select_changes(connection, after, limit); });
  }
  Result<std::uint64_t> last_position() override {
    await_made(SessionId{});
    return own().reading([&](auto& connection) { return select_last_position(connection); });
  }

  Status label(const SessionId& session, const LabelChange& change) override {
    return change_made(session, [&](auto& connection) { return label_session(connection, session, change); });
  }
  Result<std::size_t> remove(const SessionId& session) override {
    return change_made(session,
                       [&](auto& connection) { return remove_tree(connection, session, own().living()); });
  }
  Result<Swept> sweep() override {
    if (!is_writable_) return fail(read_only());
    return sweep_blobs(
        [this](const std::function<Status(Connection&)>& read) { return own().reading(read); },
        [this](const std::function<Status(Connection&)>& change) { return own().changing(change); });
  }

  Inbox& inbox() override { return *this; }
  JournalFigures figures() const override { return meter_->figures(); }

  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    return change_made(to, [&](auto& connection) { return insert_message(connection, to, body, now); });
  }
  Result<std::vector<InboxMessage>> messages(InboxId after) override {
    return own().reading([&](auto& connection) { return select_messages(connection, after); });
  }
  Result<std::vector<InboxMessage>> messages_for(const SessionId& session, InboxId after) override {
    return own().reading([&](auto& connection) { return select_messages_for(connection, session, after); });
  }
  Status answer(const Lease& lease, InboxId message, std::string outcome) override {
    if (!is_writable_) return fail(read_only());
    const InboxAnswer answer{message, std::move(outcome)};
    return own().changing(
        [&](auto& connection) { return answer_as_owner(connection, lease, answer, own().owner()); });
  }
  Result<std::optional<std::string>> outcome(InboxId message) override {
    return own().reading([&](auto& connection) { return select_outcome(connection, message); });
  }

 protected:
  /// `name` stands in errors.
  StoredJournal(std::string name, bool is_writable) : name_(std::move(name)), is_writable_(is_writable) {}

  const std::string& name() const { return name_; }
  bool is_writable() const { return is_writable_; }
  OpenLeases& leases() { return *leases_; }
  /// For queued writes, which may outlive the journal.
  const std::shared_ptr<OpenLeases>& shared_leases() const { return leases_; }
  JournalMeter& meter() { return *meter_; }

  Error read_only() const {
    return journal_error(ErrorKind::kReadOnly, "journal " + name_ + " is open for reading only");
  }

  /// An append whose session may have to be created with it.
  struct Begun {
    std::optional<UnixMillis> created;  ///< when this append is the one that creates the session
    std::move_only_function<void(Status)>
        done;  ///< settles the lease and reports the number of the last entry
  };
  Begun begin_append(const Append& append, AppendDone done) {
    const auto last = append.expected_seq + append.entries.size();
    const auto created = append.expected_seq == 0 ? leases_->queue(append.lease) : std::nullopt;
    meter_->begin_append();
    auto settle = [done = std::move(done), last, created, lease = append.lease, leases = leases_,
                   meter = meter_, begun = std::chrono::steady_clock::now()](Status status) mutable {
      meter->end_append(std::chrono::steady_clock::now() - begun, status.has_value());
      if (!status && status.error().kind() == ErrorKind::kLeaseLost) meter->note_release(lease.session);
      if (created) status ? leases->made(lease.session) : leases->free(lease);
      done(status ? Result<std::uint64_t>(last) : fail(std::move(status.error())));
    };
    return {created, std::move(settle)};
  }

 private:
  Own& own() { return static_cast<Own&>(*this); }

  /// Waits for the append that creates the session (if empty: any session), so that its creator finds it
  /// without having waited itself.
  void await_made(const SessionId& session) {
    if (is_writable_ && leases_->is_queued(session)) own().await_queue();
  }

  template <class Made>
  std::invoke_result_t<Made, Connection&> change_made(const SessionId& session, Made change) {
    if (!is_writable_) return fail(read_only());
    await_made(session);
    return own().changing(change);
  }

  const std::string name_;
  const bool is_writable_;
  const std::shared_ptr<OpenLeases> leases_ = std::make_shared<OpenLeases>();
  const std::shared_ptr<JournalMeter> meter_ = std::make_shared<JournalMeter>();  // as `leases_`
};

}  // namespace praxis
