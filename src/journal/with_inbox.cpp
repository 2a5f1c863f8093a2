#include "praxis/journal/with_inbox.hpp"

#include <tuple>
#include <utility>

#include "journal/forwarding_journal.hpp"

namespace praxis {
namespace {

class JournalWithInbox final : public ForwardingJournal {
 public:
  JournalWithInbox(std::shared_ptr<Journal> journal, std::shared_ptr<Inbox> inbox)
      : ForwardingJournal(std::move(journal)), inbox_(std::move(inbox)) {}

  void append(Append append, AppendDone done) override {
    auto answers = std::exchange(append.answers, {});
    if (answers.empty()) return inner().append(std::move(append), std::move(done));
    const Lease lease = append.lease;
    inner().append(std::move(append), [inbox = inbox_, lease, answers = std::move(answers),
                                       done = std::move(done)](Result<std::uint64_t> last) mutable {
      if (last) {
        // The entries are durable whether or not the inbox takes the answer.
        for (InboxAnswer& answer : answers)
          std::ignore = inbox->answer(lease, answer.message, std::move(answer.outcome));
      }
      done(std::move(last));
    });
  }

  Inbox& inbox() override { return *inbox_; }

 private:
  const std::shared_ptr<Inbox> inbox_;
};

}  // namespace

std::shared_ptr<Journal> with_inbox(std::shared_ptr<Journal> journal, std::shared_ptr<Inbox> inbox) {
  return std::make_shared<JournalWithInbox>(std::move(journal), std::move(inbox));
}

}  // namespace praxis
