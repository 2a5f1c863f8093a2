// The promises of every kind of journal.
#include "praxis/journal/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "journal/chain.hpp"
#include "journal/testing/any_journal.hpp"
#include "journal/testing/journals.hpp"

namespace praxis {
namespace {

using testing::append_now;
using testing::append_of;
using testing::entry;
using testing::kind_of;
using testing::kOther;
using testing::kSession;
using testing::make_session;

using JournalTest = testing::AnyJournalTest;
INSTANTIATE_TEST_SUITE_P(Kinds, JournalTest, testing::kAllJournals, testing::journal_name);

TEST_P(JournalTest, Append_IsReadBackAndChained) {
  const auto lease = *journal_->create(kSession, {5});
  auto append = append_of(lease, 0, {});
  append.entries = {{"turn_started", {-7}, "{\"a\":1}"}, {"a_kind_of_some_length", {1'700'000'000'000}, ""}};
  EXPECT_EQ(append_now(*journal_, append), 2);
  const std::string odd("with \0 and \xff and \xc3\xa9", 18);
  EXPECT_EQ(append_now(*journal_, append_of(lease, 2, {odd})), 3);

  const auto entries = *journal_->read(kSession);
  ASSERT_EQ(entries.size(), 3);
  EXPECT_EQ(entries[0].kind, "turn_started");
  EXPECT_EQ(entries[0].body, "{\"a\":1}");
  EXPECT_EQ(entries[0].time.value, -7);
  EXPECT_EQ(entries[1].time.value, 1'700'000'000'000);
  EXPECT_EQ(entries[1].body, "");
  EXPECT_EQ(entries[2].body, odd);
  auto hash = chain_start(kSession);
  for (const auto& stored : entries) {
    hash = chain_next(hash, stored.seq, stored.time, stored.kind, stored.body);
    EXPECT_EQ(stored.hash, hash) << stored.seq;
  }
}

TEST_P(JournalTest, Read_ReturnsTheRequestedRange) {
  const auto lease = *journal_->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal_, append_of(lease, 0, {"1", "2", "3", "4"})));
  const auto middle = *journal_->read(kSession, 2, 2);
  ASSERT_EQ(middle.size(), 2);
  EXPECT_EQ(middle[0].seq, 2);
  EXPECT_EQ(middle[1].body, "3");
  EXPECT_EQ(journal_->read(kSession, 0)->size(), 4);
  EXPECT_EQ(journal_->read(kSession, 4)->size(), 1);
  EXPECT_EQ(journal_->read(kSession, 5)->size(), 0);
  EXPECT_EQ(journal_->read(kSession, 99)->size(), 0);
  EXPECT_EQ(kind_of(journal_->read(kOther)), "not_found");
}

TEST_P(JournalTest, Changes_AreInTheOrderOfCommits) {
  EXPECT_EQ(journal_->last_position(), 0U);
  const auto one = *journal_->create(kSession, {5});
  const auto other = *journal_->create(kOther, {5});
  ASSERT_TRUE(append_now(*journal_, append_of(one, 0, {"1", "2"})));
  const std::uint64_t between = *journal_->last_position();
  ASSERT_TRUE(append_now(*journal_, append_of(other, 0, {"1"})));
  ASSERT_TRUE(append_now(*journal_, append_of(one, 2, {"3"})));
  const auto text = [](const Result<std::vector<Change>>& changes) {
    std::string all;
    for (const Change& change : *changes)
      all += change.session.str() + ":" + std::to_string(change.seq) + " ";
    return all;
  };
  const std::string a = kSession.str(), b = kOther.str();
  const auto all = journal_->changes(0, 0);
  EXPECT_EQ(text(all), a + ":1 " + a + ":2 " + b + ":1 " + a + ":3 ");
  EXPECT_TRUE(std::ranges::is_sorted(*all, std::ranges::less_equal{}, &Change::position))
      << "or two are equal";
  EXPECT_EQ(text(journal_->changes(between, 1)), b + ":1 ");
  EXPECT_EQ(all->back().position, journal_->last_position());
  EXPECT_EQ(text(journal_->changes(*journal_->last_position(), 0)), "");
}

TEST_P(JournalTest, Blob_IsStoredWithItsAppend) {
  const auto lease = *journal_->create(kSession, {5});
  const std::string bytes("\0\xff raw bytes", 12);
  auto append = append_of(lease, 0, {"1"});
  append.blobs = {{digest_of(bytes), bytes}, {digest_of(""), ""}};
  EXPECT_EQ(kind_of(journal_->blob(digest_of(bytes))), "not_found");
  ASSERT_TRUE(append_now(*journal_, append));
  append.expected_seq = 1;
  ASSERT_TRUE(append_now(*journal_, append)) << "the same blob again";
  EXPECT_EQ(journal_->blob(digest_of(bytes)), bytes);
  EXPECT_EQ(journal_->blob(digest_of("")), "");
}

TEST_P(JournalTest, FailedAppend_LeavesNothing) {
  const auto lease = *journal_->create(kSession, {5});
  ASSERT_TRUE(append_now(*journal_, append_of(lease, 0, {"1"})));
  auto conflicting = append_of(lease, 0, {"again"});
  conflicting.blobs = {{digest_of("blob"), "blob"}};
  conflicting.row.title = "new";
  EXPECT_EQ(kind_of(append_now(*journal_, conflicting)), "conflict");
  auto mislabelled = append_of(lease, 1, {"2"});
  mislabelled.blobs = {{digest_of("blob"), "something else"}};
  EXPECT_EQ(kind_of(append_now(*journal_, mislabelled)), "corrupt");
  EXPECT_EQ(kind_of(append_now(*journal_, append_of({kOther, 1}, 0, {"1"}))), "not_found");

  EXPECT_EQ(journal_->read(kSession)->size(), 1);
  EXPECT_EQ(kind_of(journal_->blob(digest_of("blob"))), "not_found");
  EXPECT_EQ(journal_->session(kSession)->title, "");
}

TEST_P(JournalTest, Row_ShowsTheValuesStoredLast) {
  const auto lease = *journal_->create(kSession, {5});
  auto append = append_of(lease, 0, {});
  append.entries = {entry("1", 6), entry("2", 7)};
  append.row = {.agent = "coder", .model = "m", .status = "running", .title = "Fix it", .parent = kOther};
  ASSERT_TRUE(append_now(*journal_, append));
  auto change = append_of(lease, 2, {});
  change.row.status = "done";
  ASSERT_EQ(append_now(*journal_, change), 2);

  const auto row = *journal_->session(kSession);
  EXPECT_EQ(row.id, kSession);
  EXPECT_EQ(row.created.value, 5);
  EXPECT_EQ(row.updated.value, 7);
  EXPECT_EQ(row.entries, 2);
  EXPECT_EQ(row.agent, "coder");
  EXPECT_EQ(row.model, "m");
  EXPECT_EQ(row.status, "done");
  EXPECT_EQ(row.title, "Fix it");
  EXPECT_EQ(row.parent, kOther);
  EXPECT_EQ(kind_of(journal_->session(kOther)), "not_found");
}

TEST_P(JournalTest, Sessions_AreListedNewestFirst) {
  make_session(*journal_, kSession);
  make_session(*journal_, kOther);
  const auto all = *journal_->sessions();
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].id, kOther);
  EXPECT_EQ(all[1].id, kSession);
  EXPECT_EQ(journal_->sessions(1)->size(), 1);
}

TEST_P(JournalTest, Name_CanBeTakenOnlyOnce) {
  const auto lease = *journal_->create(kSession, {5});
  EXPECT_EQ(kind_of(journal_->create(kSession, {6})), "exists") << "before it is written";
  ASSERT_TRUE(append_now(*journal_, append_of(lease, 0, {"1"})));
  EXPECT_EQ(kind_of(journal_->create(kSession, {6})), "exists");
  journal_->release(lease);
  EXPECT_EQ(kind_of(journal_->create(kSession, {6})), "exists");
  EXPECT_EQ(journal_->session(kSession)->created.value, 5);
}

TEST_P(JournalTest, FirstAppendWithoutAWaiter_IsReadAtOnce) {
  const auto other = *journal_->create(kOther, {5});
  const auto lease = *journal_->create(kSession, {5});
  auto append = append_of(lease, 0, {"1"});
  append.row.parent = kOther;
  std::promise<void> done;
  // Large enough that a reader would be faster than the write.
  journal_->append(append_of(other, 0, {std::string(8'000'000, 'x')}), [](Result<std::uint64_t>) {});
  journal_->append(std::move(append), [&](Result<std::uint64_t>) { done.set_value(); });
  EXPECT_EQ(journal_->read(kSession)->size(), 1);
  EXPECT_EQ(journal_->session(kSession)->entries, 1);
  EXPECT_EQ(journal_->sessions()->size(), 2);
  EXPECT_EQ(journal_->children(kOther)->size(), 1);
  done.get_future().get();
}

TEST_P(JournalTest, Children_AreListedInOrderOfCreationWithoutGrandchildren) {
  const SessionId root("r"), child("c"), grandchild("g"), sister("a");
  std::map<SessionId, Lease> leases;
  for (const auto& id : {root, child, sister, grandchild}) leases[id] = make_session(*journal_, id);
  const auto put_below = [&](const SessionId& id, std::uint64_t seq, const SessionId& parent) {
    auto append = append_of(leases[id], seq, {"1"});
    append.row.parent = parent;
    append.row.title = "of " + parent.str();
    ASSERT_TRUE(append_now(*journal_, append));
  };
  const auto names = [&](const SessionId& parent) {
    std::string found;
    const auto rows = *journal_->children(parent);
    for (const auto& row : rows) found += row.id.str() + " " + row.title + ";";
    return found;
  };
  put_below(root, 0, SessionId());
  put_below(grandchild, 0, child);
  put_below(sister, 0, root);
  put_below(child, 0, root);
  EXPECT_EQ(names(root), "c of r;a of r;");
  EXPECT_EQ(names(child), "g of c;");
  EXPECT_EQ(names(sister), "");
  EXPECT_EQ(names(SessionId()), "") << "roots have no parent";
  ASSERT_TRUE(append_now(*journal_, append_of(leases[child], 1, {"2"})));
  EXPECT_EQ(names(root), "c of r;a of r;") << "an append without a row change";
  put_below(sister, 1, child);
  EXPECT_EQ(names(root), "c of r;");
  EXPECT_EQ(names(child), "a of c;g of c;");
}

TEST_P(JournalTest, Lease_ChangesOwnerOnlyWhenReleasedOrForced) {
  const auto first = make_session(*journal_, kSession);
  EXPECT_EQ(kind_of(journal_->acquire(kSession)), "lease_held");
  EXPECT_EQ(kind_of(journal_->acquire(kOther)), "not_found");
  journal_->release(first);
  EXPECT_EQ(kind_of(append_now(*journal_, append_of(first, 0, {"1"}))), "lease_lost");
  const auto second = *journal_->acquire(kSession);
  EXPECT_GT(second.token, first.token);
  journal_->release(first);
  EXPECT_TRUE(append_now(*journal_, append_of(second, 0, {"1"}))) << "an outdated lease releases nothing";
  const auto third = *journal_->acquire(kSession, true);
  EXPECT_EQ(kind_of(append_now(*journal_, append_of(second, 1, {"2"}))), "lease_lost");
  EXPECT_TRUE(append_now(*journal_, append_of(third, 1, {"2"})));
}

TEST_P(JournalTest, AppendOnBehalfOfALostLease_LeavesNothing) {
  const auto above = make_session(*journal_, kOther);
  auto append = append_of(*journal_->create(kSession, {5}), 0, {"1"});
  append.on_behalf_of = above;
  const auto taken = *journal_->acquire(kOther, true);
  EXPECT_EQ(kind_of(append_now(*journal_, append)), "lease_lost");
  EXPECT_TRUE(journal_->read(kSession).value_or(std::vector<Entry>{}).empty());
  append.on_behalf_of = taken;
  EXPECT_EQ(append_now(*journal_, append), 1);

  journal_->release(taken);
  auto next = append_of(append.lease, 1, {"2"});
  next.on_behalf_of = taken;
  EXPECT_EQ(kind_of(append_now(*journal_, next)), "lease_lost");
  EXPECT_EQ(journal_->read(kSession)->size(), 1);
}

TEST_P(JournalTest, Row_ShowsWhetherTheSessionIsHeld) {
  const auto lease = make_session(*journal_, kSession);
  EXPECT_TRUE(journal_->session(kSession)->held);
  EXPECT_TRUE(journal_->sessions(0)->front().held);
  journal_->release(lease);
  const auto taken = journal_->acquire(kSession);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(journal_->session(kSession)->held);
  journal_->release(*taken);
  for (int i = 0; i < 10'000 && journal_->session(kSession)->held; ++i) std::this_thread::yield();
  EXPECT_FALSE(journal_->session(kSession)->held);
}

TEST_P(JournalTest, Done_MayCallTheJournal) {
  const auto lease = *journal_->create(kSession, {5});
  std::promise<Result<std::uint64_t>> last;
  journal_->append(append_of(lease, 0, {"1"}), [&](Result<std::uint64_t>) {
    EXPECT_TRUE(journal_->create(kOther, {6}));
    journal_->release(lease);
    const auto again = journal_->acquire(kSession);
    ASSERT_TRUE(again);
    EXPECT_EQ(journal_->read(kSession)->size(), 1);
    journal_->append(append_of(*again, 1, {"2"}), [&](Result<std::uint64_t> seq) { last.set_value(seq); });
  });
  EXPECT_EQ(last.get_future().get(), 2);
}

TEST_P(JournalTest, PipelinedAppends_AreDoneInOrder) {
  const auto lease = *journal_->create(kSession, {5});
  std::vector<std::uint64_t> done;
  std::promise<void> all;
  for (std::uint64_t seq = 0; seq < 500; ++seq) {
    journal_->append(append_of(lease, seq, {"x"}), [&](Result<std::uint64_t> last) {
      done.push_back(*last);
      if (done.size() == 500) all.set_value();
    });
  }
  all.get_future().get();
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_EQ(done[i], i + 1);
}

TEST(Chain, SameBytesInOtherPlaces_HashDifferently) {
  const auto base = chain_next(chain_start(kSession), 1, {2}, "ab", "c");
  EXPECT_NE(base, chain_next(chain_start(kSession), 1, {2}, "a", "bc"));
  EXPECT_NE(base, chain_next(chain_start(kSession), 2, {2}, "ab", "c"));
  EXPECT_NE(base, chain_next(chain_start(kSession), 1, {3}, "ab", "c"));
  EXPECT_NE(base, chain_next(chain_start(kOther), 1, {2}, "ab", "c"));
  EXPECT_EQ(base, chain_next(chain_start(kSession), 1, {2}, "ab", "c"));
}

// The format is permanent: this value was computed once, from docs/journal-format.md.
TEST(Chain, Format_IsFixed) {
  EXPECT_EQ(chain_next(chain_start(SessionId("s")), 1, {2}, "k", "{}").hex(),
            "773e9d0fc8e57a9704129da35c6c154c3ede530757c6dd1d4078262020d1ba49");
}

}  // namespace
}  // namespace praxis
