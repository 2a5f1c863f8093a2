#include "engines/restate/restate_journal.hpp"

#include <utility>

#include "journal/forwarding_journal.hpp"

namespace praxis::restate {
namespace {

class RestateJournal final : public ForwardingJournal {
 public:
  RestateJournal(std::shared_ptr<Journal> store, std::shared_ptr<EngineLog> log)
      : ForwardingJournal(std::move(store)), log_(std::move(log)) {}
  ~RestateJournal() override { log_->stop(); }

  void append(Append append, AppendDone done) override { log_->append(std::move(append), std::move(done)); }
  void release(const Lease& lease) override { log_->release(lease); }

 private:
  const std::shared_ptr<EngineLog> log_;
};

}  // namespace

std::shared_ptr<Journal> restate_journal(std::shared_ptr<Journal> store, std::shared_ptr<EngineLog> log) {
  return std::make_shared<RestateJournal>(std::move(store), std::move(log));
}

}  // namespace praxis::restate
