// A journal that forwards every call to another one, for those that change single calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "praxis/journal/journal.hpp"

namespace praxis {

class ForwardingJournal : public Journal, public Inbox {
 public:
  explicit ForwardingJournal(std::shared_ptr<Journal> inner) : inner_(std::move(inner)) {}

  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    return inner_->create(session, now);
  }
  Result<Lease> acquire(const SessionId& session, bool force) override {
    return inner_->acquire(session, force);
  }
  void release(const Lease& lease) override { inner_->release(lease); }
  void append(Append append, AppendDone done) override { inner_->append(std::move(append), std::move(done)); }
  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    return inner_->read(session, from, limit);
  }
  Result<std::string> blob(const Digest& digest) override { return inner_->blob(digest); }
  Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) override {
    return inner_->changes(after, limit);
  }
  Result<std::uint64_t> last_position() override { return inner_->last_position(); }
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override { return inner_->sessions(limit); }
  Result<SessionRow> session(const SessionId& session) override { return inner_->session(session); }
  Result<std::vector<SessionRow>> children(const SessionId& parent) override {
    return inner_->children(parent);
  }
  Status label(const SessionId& session, const LabelChange& change) override {
    return inner_->label(session, change);
  }
  Result<std::size_t> remove(const SessionId& session) override { return inner_->remove(session); }
  Result<Swept> sweep() override { return inner_->sweep(); }
  Inbox& inbox() override { return *this; }
  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now) override {
    return inner_->inbox().post(to, std::move(body), now);
  }
  Result<std::vector<InboxMessage>> messages(InboxId after) override {
    return inner_->inbox().messages(after);
  }
  Result<std::vector<InboxMessage>> messages_for(const SessionId& session, InboxId after) override {
    return inner_->inbox().messages_for(session, after);
  }
  Status answer(const Lease& lease, InboxId message, std::string outcome) override {
    return inner_->inbox().answer(lease, message, std::move(outcome));
  }
  Result<std::optional<std::string>> outcome(InboxId message) override {
    return inner_->inbox().outcome(message);
  }

 protected:
  Journal& inner() { return *inner_; }

 private:
  const std::shared_ptr<Journal> inner_;
};

}  // namespace praxis
