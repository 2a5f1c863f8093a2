#include "journal/postgres_batch.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "journal/chain.hpp"
#include "journal/postgres_inbox.hpp"
#include "journal/postgres_store.hpp"

namespace praxis {
namespace {

/// A session's row as this transaction leaves it.
struct BatchRow {
  std::int64_t id = 0;
  std::int64_t owner = 0;
  Head head;
  bool is_intact = true;  ///< its last entry has the hash of the row
};

struct BatchMessage {
  std::int64_t session = 0;
  bool answered = false;
};

class Batch {
 public:
  Batch(PostgresConnection& connection, std::int64_t owner, std::span<const PostgresWrite* const> writes)
      : connection_(connection), owner_(owner), writes_(writes) {}

  Status run(std::vector<Status>& outcomes) {
    if (auto read = lock_and_read(); !read) return read;
    std::vector<std::size_t> admitted;
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      outcomes[i] = judge(i);
      if (outcomes[i]) admitted.push_back(i);
    }
    send_all(admitted);
    return {};
  }

 private:
  /// What one admitted write puts into the row.
  struct Judged {
    std::int64_t session = 0;
    std::vector<Head> heads;  ///< after each entry
  };

  Status lock_and_read() {
    std::set<std::string> names;
    std::vector<std::string> messages;
    std::map<std::string, std::size_t> created;  // sorted, as all processes lock them
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const Append& append = writes_[i]->append;
      names.insert(append.lease.session.str());
      if (append.on_behalf_of) names.insert(append.on_behalf_of->session.str());
      for (const InboxAnswer& answer : append.answers) messages.push_back(std::to_string(answer.message));
      if (writes_[i]->creates) created.emplace(append.lease.session.str(), i);
    }
    std::vector<std::pair<std::size_t, std::size_t>> insertions;  // answer, write
    for (const auto& [name, i] : created) insertions.emplace_back(send_creation(*writes_[i]), i);
    const PostgresValue all = PostgresValue::array({names.begin(), names.end()});
    const auto rows_at = connection_.send(
        "SELECT id, name, lease_owner, lease_token, head_seq, head_hash FROM praxis_sessions WHERE name = "
        "ANY($1::text[]) ORDER BY name FOR NO KEY UPDATE",
        {all});
    // A statement of its own sees what was committed while the one above waited.
    const auto ends_at = connection_.send(
        "SELECT s.name FROM praxis_sessions s JOIN praxis_entries e ON e.session = s.id AND e.seq = "
        "s.head_seq AND e.hash = s.head_hash WHERE s.name = ANY($1::text[])",
        {all});
    std::optional<std::size_t> mail_at;
    if (!messages.empty()) {
      mail_at = connection_.send(
          "SELECT id, session, answered IS NOT NULL FROM praxis_mail WHERE id = ANY($1::bigint[]) ORDER BY "
          "id "
          "FOR UPDATE",
          {PostgresValue::array(messages)});
    }
    if (auto finished = connection_.finish(); !finished) return finished;
    for (const auto& [answer, i] : insertions) {
      if (connection_.answers()[answer].changed() == 1) created_.insert(i);
    }
    note_rows(connection_.answers()[rows_at], connection_.answers()[ends_at]);
    if (mail_at) note_mail(connection_.answers()[*mail_at]);
    return {};
  }

  std::size_t send_creation(const PostgresWrite& write) {
    const Lease& lease = write.append.lease;
    return connection_.send(
        "INSERT INTO praxis_sessions (name, created, updated, head_seq, head_hash, lease_token, lease_owner) "
        "VALUES ($1, $2, $2, 0, $3, $4, $5) ON CONFLICT (name) DO NOTHING",
        {lease.session.str(), write.creates->value, chain_start(lease.session), lease.token, owner_});
  }

  void note_rows(const PostgresRows& rows, const PostgresRows& ends) {
    for (int i = 0; i < rows.size(); ++i) {
      BatchRow& row = rows_[rows.text(i, 1)];
      row.id = rows.integer(i, 0);
      row.owner = rows.integer(i, 2);
      row.head = {rows.number(i, 4), rows.digest(i, 5), rows.number(i, 3), row.owner == owner_};
      row.is_intact = row.head.seq == 0;
    }
    for (int i = 0; i < ends.size(); ++i) rows_[ends.text(i, 0)].is_intact = true;
  }

  void note_mail(const PostgresRows& rows) {
    for (int i = 0; i < rows.size(); ++i) mail_[rows.number(i, 0)] = {rows.integer(i, 1), rows.boolean(i, 2)};
  }

  Status check_lease(const Lease& lease) const {
    const auto found = rows_.find(lease.session.str());
    if (found == rows_.end()) return fail(no_such_session(lease.session));
    return admit(lease, found->second.head);
  }

  /// Removes again what was inserted for a session whose first append is refused.
  Status refuse(std::size_t i, Error error) {
    if (created_.contains(i)) {
      const auto found = rows_.find(writes_[i]->append.lease.session.str());
      removed_.push_back(std::to_string(found->second.id));
      rows_.erase(found);
    }
    return fail(std::move(error));
  }

  Status judge(std::size_t i) {
    const PostgresWrite& write = *writes_[i];
    const Append& append = write.append;
    const SessionId& session = append.lease.session;
    if (append.on_behalf_of) {
      if (auto good = check_lease(*append.on_behalf_of); !good) return refuse(i, std::move(good.error()));
    }
    if (write.creates && !created_.contains(i)) return fail(session_exists(session));
    const auto found = rows_.find(session.str());
    if (write.releases) {
      release(append.lease);
      return {};
    }
    if (found == rows_.end()) return fail(no_such_session(session));
    BatchRow& row = found->second;
    if (!row.is_intact) return fail(untrusted_from(session, row.head.seq));
    if (auto good = admit(append, row.head); !good) return refuse(i, std::move(good.error()));
    if (auto good = take_answers(append.answers, row.id); !good) return refuse(i, std::move(good.error()));
    Judged judged{row.id, {}};
    for (const auto& [kind, time, body] : append.entries) {
      row.head.hash = chain_next(row.head.hash, ++row.head.seq, time, kind, body);
      judged.heads.push_back(row.head);
    }
    judged_.emplace(i, std::move(judged));
    return {};
  }

  void release(const Lease& lease) {
    const auto found = rows_.find(lease.session.str());
    if (found == rows_.end() || !admit(lease, found->second.head)) return;
    found->second.owner = 0;
    found->second.head.held = false;
    released_.push_back(std::to_string(found->second.id));
  }

  /// All or none of them.
  Status take_answers(const std::vector<InboxAnswer>& answers, std::int64_t session) {
    std::set<InboxId> now;
    for (const InboxAnswer& answer : answers) {
      if (auto good = admit_outcome(answer); !good) return good;
      const auto message = mail_.find(answer.message);
      const bool is_answered = message != mail_.end() && message->second.answered;
      if (is_answered || !now.insert(answer.message).second) return fail(already_answered(answer.message));
      if (message == mail_.end() || message->second.session != session)
        return fail(no_such_message(answer.message));
    }
    for (const InboxId message : now) mail_[message].answered = true;
    return {};
  }

  void send_all(const std::vector<std::size_t>& admitted) {
    if (!removed_.empty()) {
      connection_.send("DELETE FROM praxis_sessions WHERE id = ANY($1::bigint[])",
                       {PostgresValue::array(removed_)});
    }
    bool has_entries = false, has_answers = false;
    for (const std::size_t i : admitted) {
      if (writes_[i]->releases) continue;
      send_row(i);
      has_entries = has_entries || !writes_[i]->append.entries.empty();
      has_answers = has_answers || !writes_[i]->append.answers.empty();
    }
    if (!released_.empty()) {
      const PostgresValue all = PostgresValue::array(released_);
      connection_.send("UPDATE praxis_sessions SET lease_owner = 0 WHERE id = ANY($1::bigint[])", {all});
      connection_.prove_by([all, owner = owner_](auto& other) {
        return other.holds(
            "SELECT NOT EXISTS (SELECT 1 FROM praxis_sessions WHERE id = ANY($1::bigint[]) AND lease_owner = "
            "$2)",
            {all, owner});
      });
    }
    send_blobs(admitted, has_entries);
    for (const std::size_t i : admitted) {
      for (const InboxAnswer& answer : writes_[i]->append.answers) send_answer(connection_, answer);
    }
    // The last proof counts: an entry is the best one, as nothing takes it away again.
    if (has_entries) connection_.send(kLockPositions);
    for (const std::size_t i : admitted) send_entries(i);
    if (has_answers) send_forgetting(connection_);
  }

  void send_row(std::size_t i) {
    const Append& append = writes_[i]->append;
    const Judged& judged = judged_.at(i);
    const RowChange& row = append.row;
    PostgresValue seq, hash, updated, parent;
    if (!judged.heads.empty()) {
      seq = judged.heads.back().seq;
      hash = judged.heads.back().hash;
      updated = append.entries.back().time.value;
    }
    if (row.parent) parent = row.parent->str();
    connection_.send(
        "UPDATE praxis_sessions SET head_seq = coalesce($2, head_seq), head_hash = coalesce($3, head_hash), "
        "updated = coalesce($4, updated), agent = coalesce($5, agent), model = coalesce($6, model), status = "
        "coalesce($7, status), title = coalesce($8, title), parent = coalesce($9, parent) WHERE id = $1",
        {judged.session, seq, hash, updated, row.agent, row.model, row.status, row.title, parent});
  }

  /// In the order of their digests, so that two processes do not wait for each other.
  void send_blobs(const std::vector<std::size_t>& admitted, bool has_entries) {
    std::map<Digest, const std::string*> blobs;
    for (const std::size_t i : admitted) {
      for (const Blob& blob : writes_[i]->append.blobs) blobs.emplace(blob.digest, &blob.bytes);
    }
    if (has_entries || !blobs.empty()) connection_.send(kLockBlobs);
    for (const auto& [digest, bytes] : blobs) {
      connection_.send("INSERT INTO praxis_blobs (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                       {digest, *bytes});
    }
  }

  void send_entries(std::size_t i) {
    const auto judged = judged_.find(i);
    if (judged == judged_.end()) return;
    const auto& entries = writes_[i]->append.entries;
    for (std::size_t each = 0; each < entries.size(); ++each) {
      const Head& head = judged->second.heads[each];
      connection_.send(
          "INSERT INTO praxis_entries (session, seq, time, kind, body, hash) VALUES ($1, $2, $3, $4, $5, $6)",
          {judged->second.session, head.seq, entries[each].time.value, entries[each].kind, entries[each].body,
           head.hash});
    }
    if (entries.empty()) return;
    connection_.prove_by([session = judged->second.session, end = judged->second.heads.back()](auto& other) {
      return other.holds(
          "SELECT EXISTS (SELECT 1 FROM praxis_entries WHERE session = $1 AND seq = $2 AND hash = $3)",
          {session, end.seq, end.hash});
    });
  }

  PostgresConnection& connection_;
  const std::int64_t owner_;
  const std::span<const PostgresWrite* const> writes_;
  std::map<std::string, BatchRow> rows_;
  std::map<InboxId, BatchMessage> mail_;
  std::set<std::size_t> created_;  // writes whose session was inserted
  std::map<std::size_t, Judged> judged_;
  std::vector<std::string> removed_, released_;  // ids of sessions
};

}  // namespace

Status write_batch(PostgresConnection& connection, std::int64_t owner,
                   std::span<const PostgresWrite* const> writes, std::vector<Status>& outcomes) {
  return Batch(connection, owner, writes).run(outcomes);
}

}  // namespace praxis
