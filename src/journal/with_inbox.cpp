#include "praxis/journal/with_inbox.hpp"

#include <tuple>
#include <utility>

namespace praxis {
namespace {

class JournalWithInbox final : public Journal {
 public:
  JournalWithInbox(std::shared_ptr<Journal> journal, std::shared_ptr<Inbox> inbox)
      : journal_(std::move(journal)), inbox_(std::move(inbox)) {}

  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    return journal_->create(session, now);
  }
  Result<Lease> acquire(const SessionId& session, bool force) override {
    return journal_->acquire(session, force);
  }
  void release(const Lease& lease) override { journal_->release(lease); }

  void append(Append append, AppendDone done) override {
    auto answers = std::exchange(append.answers, {});
    if (answers.empty()) return journal_->append(std::move(append), std::move(done));
    const Lease lease = append.lease;
    journal_->append(std::move(append), [inbox = inbox_, lease, answers = std::move(answers),
                                         done = std::move(done)](Result<std::uint64_t> last) mutable {
      if (last) {
        // The entries are durable whether or not the inbox takes the answer.
        for (InboxAnswer& answer : answers)
          std::ignore = inbox->answer(lease, answer.message, std::move(answer.outcome));
      }
      done(std::move(last));
    });
  }

  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    return journal_->read(session, from, limit);
  }
  Result<std::string> blob(const Digest& digest) override { return journal_->blob(digest); }
  Result<std::vector<Change>> changes(std::uint64_t after, std::size_t limit) override {
    return journal_->changes(after, limit);
  }
  Result<std::uint64_t> last_position() override { return journal_->last_position(); }
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override { return journal_->sessions(limit); }
  Result<SessionRow> session(const SessionId& session) override { return journal_->session(session); }
  Result<std::vector<SessionRow>> children(const SessionId& parent) override {
    return journal_->children(parent);
  }
  Status label(const SessionId& session, const LabelChange& change) override {
    return journal_->label(session, change);
  }
  Result<std::size_t> remove(const SessionId& session) override { return journal_->remove(session); }
  Result<Swept> sweep() override { return journal_->sweep(); }
  Inbox& inbox() override { return *inbox_; }

 private:
  const std::shared_ptr<Journal> journal_;
  const std::shared_ptr<Inbox> inbox_;
};

}  // namespace

std::shared_ptr<Journal> with_inbox(std::shared_ptr<Journal> journal, std::shared_ptr<Inbox> inbox) {
  return std::make_shared<JournalWithInbox>(std::move(journal), std::move(inbox));
}

}  // namespace praxis
