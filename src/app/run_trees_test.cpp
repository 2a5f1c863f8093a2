// Lists of runs while runs are removed.
#include "app/run_trees.hpp"

#include <gtest/gtest.h>

#include "app/run_list.hpp"
#include "journal/testing/forwarding_journal.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::app {
namespace {

/// Lists a run that was removed after it was listed.
class RemovedRun final : public testing::ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override {
    auto rows = inner().sessions(limit);
    if (rows && !rows->empty()) {
      SessionRow removed = rows->front();
      removed.id = SessionId{"removed"};
      removed.status = "running";
      rows->push_back(std::move(removed));
    }
    return rows;
  }
};

class RunTreesTest : public testing::Scripted {
 protected:
  RunTreesTest() {
    auto session = runtime_->create_session(scripted(R"({"text": "done"})"));
    if (!session || !session->ask("go")) throw std::runtime_error("no run");
    run_ = session->session_id();
  }

  SessionId run_;
  const std::shared_ptr<Journal> listing_ = std::make_shared<RemovedRun>(journal_);
};

TEST_F(RunTreesTest, RunThatIsRemovedAfterItWasListed_IsLeftOut) {
  ASSERT_EQ(listing_->sessions(0).value_or(std::vector<SessionRow>{}).size(), 2U);
  std::vector<SessionId> listed;
  const auto runs = for_each_run(listing_, {}, Sessions::kAll, {}, [&](const ListedRun& run) {
    listed.push_back(run.row.id);
    return true;
  });
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(listed, std::vector{run_});
  RunTrees all(listing_, RunTrees::Roots::kAll);
  const auto read = all.refresh();
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(all.nodes().size(), 1U);
  EXPECT_EQ(all.nodes().front().id, run_);
  EXPECT_FALSE(RunTrees(listing_, SessionId{"removed"}).refresh()) << "a run that is asked for must exist";
}

}  // namespace
}  // namespace praxis::app
