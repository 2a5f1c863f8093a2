// Whole trees under faults of the journal: a run of twenty sessions meets an error of the disk, a full disk
// or a lease that another process takes, at any point; then it is resumed on a healthy disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <memory>

#include "carried_through.hpp"
#include "crash_rig.hpp"
#include "fault.hpp"
#include "journal/testing/forwarding_journal.hpp"
#include "praxis/core/state.hpp"
#include "sim_disk.hpp"
#include "tree_agents.hpp"

namespace praxis::faults {
namespace {

/// What the tree meets in its first life.
struct Mishap {
  Trouble trouble = {};
  std::uint64_t stolen_at = Trouble::kNever;  ///< before this append another process takes a session
  std::uint64_t stolen = 0;                   ///< which of those that exist
  std::string text = {};
};

/// Before one of the appends, another process takes the lease of a session by force.
class StolenJournal final : public testing::ForwardingJournal {
 public:
  StolenJournal(std::shared_ptr<Journal> inner, std::shared_ptr<Journal> other, const Mishap& mishap)
      : ForwardingJournal(std::move(inner)), other_(std::move(other)), mishap_(mishap) {}
  ~StolenJournal() override {
    if (taken_) other_->release(*taken_);
  }

  void append(Append append, AppendDone done) override {
    if (++appends_ == mishap_.stolen_at) steal();
    inner().append(std::move(append), std::move(done));
  }
  std::uint64_t appends() const { return appends_; }

 private:
  void steal() {
    const auto rows = other_->sessions(0);
    if (!rows || rows->empty()) return;
    if (auto lease = other_->acquire((*rows)[mishap_.stolen % rows->size()].id, true)) taken_ = *lease;
  }

  const std::shared_ptr<Journal> other_;
  const Mishap mishap_;
  std::atomic<std::uint64_t> appends_ = 0;
  std::optional<Lease> taken_;
};

/// A tree, the disk that its journal is on, and what it did outside.
class Tree {
 public:
  Tree(SimDisk& disk, InDoubt in_doubt) : disk_(disk), in_doubt_(in_doubt) { disk_.format({}, 1); }

  /// A process works on the tree until it ends or fails, and is gone when this returns.
  Result<AgentResult> live(const Mishap& mishap = {}) {
    auto journal = sqlite_journal(path());
    if (!journal) return fail(journal.error());
    std::promise<void> closed;  // set by the thread that drops the last reference
    std::shared_ptr<Journal> file((*journal).get(), [inner = *journal, &closed](Journal*) mutable {
      inner.reset();
      closed.set_value();
    });
    journal->reset();
    Result<AgentResult> result = fail(ErrorCode::kInternal, "not begun");
    {
      auto other = mishap.stolen_at == Trouble::kNever ? nullptr : must(sqlite_journal(path()));
      auto stolen = std::make_shared<StolenJournal>(std::move(file), std::move(other), mishap);
      disk_.expect(mishap.trouble);
      result = work(stolen);
      appends_ = stolen->appends();
    }
    closed.get_future().get();
    return result;
  }

  std::uint64_t appends() const { return appends_; }
  const Outside& outside() const { return *outside_; }
  InDoubt in_doubt() const { return in_doubt_; }
  std::string path() const { return disk_.path("j"); }

 private:
  Result<AgentResult> work(std::shared_ptr<Journal> journal) {
    RuntimeOptions options;
    options.journal = std::move(journal);
    const auto runtime = Runtime::create(std::move(options));
    const Agent agent = tree_of_twenty(runtime, outside_, in_doubt_);
    auto session = testing::open_or_begin(*runtime, agent);
    if (!session) return fail(session.error());
    return testing::carried_through(*session, [&](const std::vector<ParkedStep>& pending) {
      Approvals decisions;
      for (const ParkedStep& step : pending) decisions.emplace_back(step.id, decision_on(*runtime, step));
      return decisions;
    });
  }

  /// A human who looks outside: a call in doubt is repeated unless it was carried out.
  Approval decision_on(Runtime& runtime, const ParkedStep& step) const {
    EXPECT_EQ(step.kind, ParkKind::kInDoubt) << step.prompt;
    const bool done = outside_->acts(key_of(runtime.journal(), step)) != 0;
    return done ? reject("it was carried out") : approve();
  }
  /// The idempotency key of the call that waits.
  static std::string key_of(Journal& journal, const ParkedStep& step) {
    const auto state = fold(must(read_records(journal, step.session)));
    const CallState* call = state->find_call(step.call);
    return call == nullptr ? "" : step.session.str() + "/" + call->effect.str();
  }

  SimDisk& disk_;
  const InDoubt in_doubt_;
  const std::shared_ptr<Outside> outside_ = std::make_shared<Outside>();
  std::uint64_t appends_ = 0;
};

/// Words of ours about the journal and the disk.
constexpr std::array kOurWords{"journal",   "disk",   "no space",   "database", "lease",
                               "in use by", "writer", "taken over", "shut down"};

/// No model was sent a word of ours, and none is in a log.
void check_words(const Tree& tree, const std::string& text) {
  EXPECT_EQ(text.find(tree.path()), std::string::npos) << text;
  for (const char* word : kOurWords) EXPECT_EQ(text.find(word), std::string::npos) << word << ": " << text;
}

/// Each effect was carried out once outside; one in doubt, at most once.
void check_tree_log(const Tree& tree, const std::vector<StoredRecord>& records,
                    std::map<std::string, int>& acts) {
  for (const StoredRecord& stored : records) {
    const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
    if (settled != nullptr && settled->error) check_words(tree, settled->error->message);
  }
  for (const auto& [id, effect] : testing::effects_of(records)) {
    EXPECT_TRUE(effect.ok || effect.doubted) << effect.tool << " was intended and never settled";
    const int done = acts[effect.key];
    acts.erase(effect.key);
    EXPECT_LE(done, effect.intents) << effect.tool << " was executed without an intent";
    EXPECT_TRUE(effect.tool != "put" || done >= 1) << effect.key << " was not put";
    if (effect.tool != "pay") continue;
    const bool unknown = effect.doubted && tree.in_doubt() == InDoubt::kTell;
    EXPECT_LE(done, 1) << effect.key << " was paid twice";
    EXPECT_TRUE(done == 1 || unknown) << effect.key << " was not paid";
  }
}

/// The tree is complete, and every node of it.
void check_tree(const Tree& tree) {
  const std::shared_ptr<Journal> journal =
      must(sqlite_journal(tree.path(), {.create = false, .read_only = true}));
  auto acts = tree.outside().all();
  std::size_t sessions = 0;
  for (const SessionRow& row : must(journal->sessions(0))) {
    if (row.entries == 0) continue;
    ++sessions;
    const auto records = must(read_records(*journal, row.id));
    EXPECT_FALSE(must(replay(records)).divergence) << row.agent;
    check_tree_log(tree, records, acts);
  }
  EXPECT_EQ(sessions, kTreeSize) << "a sub-agent was created twice or is missing";
  EXPECT_TRUE(acts.empty()) << acts.begin()->first << " was executed under a key that no log has";
  JournalTree nodes(journal, {});
  must(nodes.refresh());
  for (const AgentNode& node : nodes.nodes())
    EXPECT_EQ(node.status, SessionStatus::kCompleted) << node.path << " is " << to_string(node.status);
  for (const std::string& text : tree.outside().heard()) check_words(tree, text);
}

void check_answer(const Result<AgentResult>& result) {
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::kFinished);
  EXPECT_EQ(result->text, kTreeAnswer);
}

/// The number of disk calls, of writes and of appends in an undisturbed run.
struct TreeCounts {
  std::uint64_t calls = 0, writes = 0, appends = 0;
};

Mishap mishap_for(const TreeCounts& counts, std::uint64_t seed, Random& random) {
  constexpr std::uint64_t kSome[] = {1, 1, 1, 2, 5, 1'000'000'000};
  Mishap mishap;
  std::uint64_t at = 0;
  switch (seed % 4) {
    case 0:
    case 1:
      at = mishap.trouble.error_at = 1 + seed / 4 % counts.calls;
      mishap.trouble.errors = kSome[random.below(std::size(kSome))];
      mishap.text = std::to_string(mishap.trouble.errors) + " errors from call ";
      break;
    case 2:
      at = mishap.trouble.full_at = 1 + seed / 4 % counts.writes;
      mishap.trouble.full_for_all = random.once_in(2);
      mishap.text = "full from write ";
      break;
    default:
      at = mishap.stolen_at = 1 + seed / 4 % counts.appends;
      mishap.stolen = random();
      mishap.text = "a lease is taken before append ";
  }
  mishap.text += std::to_string(at);
  return mishap;
}

void disturb(SimDisk& disk, const TreeCounts& counts, std::uint64_t seed) {
  Random random(seed);
  // Points are visited in an order that spreads a short column over the whole run.
  const Mishap mishap = mishap_for(counts, seed * 97, random);
  const InDoubt in_doubt = random.once_in(2) ? InDoubt::kTell : InDoubt::kPark;
  SCOPED_TRACE(mishap.text + (in_doubt == InDoubt::kTell ? ", told" : ", parked"));
  Tree tree(disk, in_doubt);
  const auto first = tree.live(mishap);
  if (first) {
    check_answer(first);
  } else {
    EXPECT_EQ(first.error().code, ErrorCode::kJournal) << first.error().message;
    if (random.once_in(3)) {  // resumed too early: the disk may still fail
      const auto early = tree.live(mishap.trouble.errors > 5 ? mishap : Mishap{});
      EXPECT_TRUE(early || early.error().code == ErrorCode::kJournal) << early.error().message;
    }
  }
  disk.expect_nothing();
  check_answer(tree.live());
  check_tree(tree);
}

}  // namespace

Fault tree_io_fault() {
  return {.name = "tree_io",
          .breaks =
              "a tree of twenty sessions meets an error of the disk (once, a few times, for good), a full "
              "disk or "
              "a lease that another process takes, at each point in turn; then the disk is healthy",
          .holds =
              "the run ends with the fault; resumed, it ends as undisturbed, each effect once, every node "
              "completed; no model and no log has a word about the disk",
          .few = 400,
          .many = 2'000,
          .start = [] {
            auto disk = std::make_shared<SimDisk>();
            Tree tree(*disk, InDoubt::kTell);
            check_answer(tree.live());
            check_tree(tree);
            const TreeCounts counts{disk->calls(), disk->writes(), tree.appends()};
            return [disk, counts](std::uint64_t seed) { disturb(*disk, counts, seed); };
          }};
}

}  // namespace praxis::faults
