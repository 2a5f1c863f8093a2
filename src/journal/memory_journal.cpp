// A journal in memory, which ends with the process. One mutex guards everything: an append takes about a
// microsecond, most of it for hashing.
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>

#include "journal/blob_names.hpp"
#include "journal/chain.hpp"
#include "journal/labels.hpp"
#include "journal/memory_inbox.hpp"

namespace praxis {
namespace {

/// An `Entry` without the fields that its position implies, in one allocation. Nothing can alter it, so
/// reading verifies nothing.
struct StoredEntry {
  UnixMillis time;
  Digest hash;
  std::size_t kind_size;
  std::string kind_and_body;
};

struct StoredSession {
  SessionRow row;
  std::size_t age = 0;  // grows with each created session
  Head head;
  std::vector<StoredEntry> entries;
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) value = value << 8 | digest.bytes[i];
    return value;
  }
};

void change(SessionRow& row, RowChange change) {
  if (change.agent) row.agent = std::move(*change.agent);
  if (change.model) row.model = std::move(*change.model);
  if (change.status) row.status = std::move(*change.status);
  if (change.title) row.title = std::move(*change.title);
  if (change.parent) row.parent = std::move(*change.parent);
}

SessionRow row_of(const StoredSession& session) {
  SessionRow row = session.row;
  row.held = session.head.held;
  return row;
}

class MemoryJournal final : public Journal, public Inbox {
 public:
  Result<Lease> create(const SessionId& id, UnixMillis now) override {
    std::lock_guard lock(mutex_);
    auto [found, inserted] = sessions_.try_emplace(id);
    if (!inserted) return fail(session_exists(id));
    auto& session = found->second;
    session.row.id = id;
    session.age = next_age_++;
    session.row.created = session.row.updated = now;
    session.head = {.seq = 0, .hash = chain_start(id), .token = 1, .held = true};
    by_age_.push_back(&session);
    return Lease{id, 1};
  }

  Result<Lease> acquire(const SessionId& id, bool force) override {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return fail(no_such_session(id));
    auto& head = found->second.head;
    if (head.held && !force) return fail(lease_held(id, getpid()));
    head.held = true;
    return Lease{id, ++head.token};
  }

  void release(const Lease& lease) override {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(lease.session);
    if (found != sessions_.end() && found->second.head.token == lease.token) found->second.head.held = false;
  }

  void append(Append append, AppendDone done) override { done(store(std::move(append))); }

  Result<std::vector<Entry>> read(const SessionId& id, std::uint64_t from, std::size_t limit) override {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return fail(no_such_session(id));
    const auto& stored = found->second.entries;
    const auto first = from == 0 ? 0 : static_cast<std::size_t>(from - 1);
    if (first >= stored.size()) return std::vector<Entry>{};
    const auto count = limit == 0 ? stored.size() - first : std::min(limit, stored.size() - first);
    std::vector<Entry> entries;
    entries.reserve(count);
    for (auto i = first; i < first + count; ++i) {
      const auto& [time, hash, kind_size, text] = stored[i];
      entries.push_back({i + 1, text.substr(0, kind_size), time, text.substr(kind_size), hash});
    }
    return entries;
  }

  Result<std::string> blob(const Digest& digest) override {
    std::lock_guard lock(mutex_);
    const auto found = blobs_.find(digest);
    if (found == blobs_.end()) return fail(no_such_blob(digest));
    return found->second;
  }

  Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) override {
    std::lock_guard lock(mutex_);
    std::vector<Change> out;
    for (auto i = static_cast<std::size_t>(after); i < order_.size(); ++i) {
      if (limit != 0 && out.size() == limit) break;
      if (order_[i].first == nullptr) continue;
      out.push_back({i + 1, order_[i].first->row.id, order_[i].second});
    }
    return out;
  }
  Result<std::uint64_t> last_position() override {
    std::lock_guard lock(mutex_);
    return order_.size();
  }

  Result<std::vector<SessionRow>> sessions(std::size_t limit) override {
    std::lock_guard lock(mutex_);
    std::vector<SessionRow> rows;
    for (auto next = by_age_.rbegin(); next != by_age_.rend(); ++next) {
      if (limit != 0 && rows.size() == limit) break;
      rows.push_back(row_of(**next));
    }
    return rows;
  }

  Result<SessionRow> session(const SessionId& id) override {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return fail(no_such_session(id));
    return row_of(found->second);
  }

  Result<std::vector<SessionRow>> children(const SessionId& parent) override {
    std::lock_guard lock(mutex_);
    std::vector<SessionRow> rows;
    for (auto next = children_.lower_bound({parent, 0});
         next != children_.end() && next->first.first == parent; ++next) {
      rows.push_back(row_of(*next->second));
    }
    return rows;
  }

  Status label(const SessionId& id, const LabelChange& change) override {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return fail(no_such_session(id));
    SessionRow& row = found->second.row;
    if (change.name && !change.name->empty()) {
      for (const auto& [other, session] : sessions_) {
        if (other != id && session.row.name == *change.name) return fail(name_taken(*change.name, other));
      }
    }
    auto labels = changed({row.name, row.tags}, change);
    if (!labels) return fail(std::move(labels.error()));
    std::tie(row.name, row.tags) = std::tie(labels->name, labels->tags);
    return {};
  }

  Result<std::size_t> remove(const SessionId& id) override {
    std::lock_guard lock(mutex_);
    if (!sessions_.contains(id)) return fail(no_such_session(id));
    std::vector<SessionId> tree{id};
    for (std::size_t next = 0; next < tree.size(); ++next) {
      if (sessions_.at(tree[next]).head.held) return fail(lease_held(tree[next], getpid()));
      for (auto child = children_.lower_bound({tree[next], 0});
           child != children_.end() && child->first.first == tree[next]; ++child)
        tree.push_back(child->second->row.id);
    }
    for (const SessionId& each : tree) {
      const auto found = sessions_.find(each);
      children_.erase({found->second.row.parent, found->second.age});
      std::erase(by_age_, &found->second);
      for (auto& [session, seq] : order_) {
        if (session == &found->second) session = nullptr;
      }
      sessions_.erase(found);
    }
    return tree.size();
  }

  Result<Swept> sweep() override {
    std::lock_guard lock(mutex_);
    std::set<Digest> named;
    const auto note = [&](const Digest& digest) { named.insert(digest); };
    for (const auto& [id, session] : sessions_) {
      for (const StoredEntry& entry : session.entries) for_each_digest(entry.kind_and_body, note);
    }
    Swept swept;
    std::erase_if(blobs_, [&](const auto& blob) {
      if (named.contains(blob.first)) return false;
      ++swept.blobs;
      swept.bytes += blob.second.size();
      return true;
    });
    return swept;
  }

  Inbox& inbox() override { return *this; }

  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    std::lock_guard lock(mutex_);
    if (!sessions_.contains(to)) return fail(no_such_session(to));
    return inbox_.post(to, std::move(body), now);
  }

  Result<std::vector<InboxMessage>> messages(InboxId after) override {
    std::lock_guard lock(mutex_);
    return inbox_.messages(after);
  }

  Result<std::vector<InboxMessage>> messages_for(const SessionId& session, InboxId after) override {
    std::lock_guard lock(mutex_);
    return inbox_.messages_for(session, after);
  }

  Status answer(const Lease& lease, InboxId message, std::string outcome) override {
    std::lock_guard lock(mutex_);
    if (auto good = check_lease(lease); !good) return good;
    return inbox_.answer(lease.session, {{message, std::move(outcome)}});
  }

  Result<std::optional<std::string>> outcome(InboxId message) override {
    std::lock_guard lock(mutex_);
    return inbox_.outcome(message);
  }

 private:
  Result<std::uint64_t> store(Append append) {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(append.lease.session);
    if (found == sessions_.end()) return fail(no_such_session(append.lease.session));
    if (append.on_behalf_of) {
      if (auto good = check_lease(*append.on_behalf_of); !good) return fail(std::move(good.error()));
    }
    auto& [row, age, head, entries] = found->second;
    if (auto admitted = admit(append, head); !admitted) return fail(std::move(admitted.error()));
    if (auto answered = inbox_.answer(row.id, std::move(append.answers)); !answered)
      return fail(std::move(answered.error()));
    if (append.row.parent) give_to(*append.row.parent, found->second);
    for (auto& blob : append.blobs) blobs_.try_emplace(blob.digest, std::move(blob.bytes));
    for (const auto& [kind, time, body] : append.entries) {
      head.hash = chain_next(head.hash, ++head.seq, time, kind, body);
      entries.push_back({time, head.hash, kind.size(), kind + body});
      order_.emplace_back(&found->second, head.seq);
      row.updated = time;
    }
    row.entries = head.seq;
    change(row, std::move(append.row));
    return head.seq;
  }

  Status check_lease(const Lease& lease) const {
    const auto found = sessions_.find(lease.session);
    return found == sessions_.end() ? fail(no_such_session(lease.session)) : admit(lease, found->second.head);
  }

  void give_to(const SessionId& parent, const StoredSession& child) {
    children_.erase({child.row.parent, child.age});
    if (!parent.empty()) children_.emplace(std::pair(parent, child.age), &child);
  }

  std::mutex mutex_;
  std::unordered_map<SessionId, StoredSession> sessions_;  // pointers to its values stay valid
  std::vector<const StoredSession*> by_age_;
  std::vector<std::pair<const StoredSession*, std::uint64_t>>
      order_;  // of all entries, with seq; null: removed
  std::size_t next_age_ = 0;
  std::map<std::pair<SessionId, std::size_t>, const StoredSession*> children_;  // by parent and age
  std::unordered_map<Digest, std::string, DigestHash> blobs_;
  MemoryInbox inbox_;
};

}  // namespace

std::shared_ptr<Journal> memory_journal() { return std::make_shared<MemoryJournal>(); }

}  // namespace praxis
