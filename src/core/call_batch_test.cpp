#include "praxis/core/call_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace praxis {
namespace {

using Phase = CallState::Phase;

constexpr std::array kPhases{Phase::kProposed, Phase::kApproved, Phase::kParked, Phase::kRunning,
                             Phase::kInDoubt,  Phase::kBarred,   Phase::kSettled};

CallState call_of(const std::string& id, const std::string& within = {}, const std::string& key = {}) {
  CallState made;
  made.call.id = CallId{id};
  made.within = CallId{within};
  made.key = key;
  return made;
}

/// What a look at every call finds.
struct Scanned {
  const CallBatch& batch;

  bool is_open_within(const CallState& call, const CallState& outer) const {
    return call.within == outer.call.id && call.phase != Phase::kSettled;
  }
  std::ptrdiff_t open_within(const CallState& outer) const {
    return std::ranges::count_if(batch, [&](const CallState& call) { return is_open_within(call, outer); });
  }
  std::ptrdiff_t at_work() const {
    return std::ranges::count_if(batch, [&](const CallState& call) {
      return call.phase == Phase::kRunning && open_within(call) == 0;
    });
  }
  std::ptrdiff_t unstarted() const {
    return std::ranges::count_if(batch, [](const CallState& call) {
      return call.attempt == 0 && (call.phase == Phase::kProposed || call.phase == Phase::kApproved);
    });
  }
};

void expect_as_scanned(const CallBatch& batch) {
  const Scanned scanned{batch};
  ASSERT_EQ(batch.at_work(), static_cast<std::size_t>(scanned.at_work()));
  ASSERT_EQ(batch.unstarted(), static_cast<std::size_t>(scanned.unstarted()));
  std::size_t in_phases = 0;
  for (const Phase phase : kPhases) {
    in_phases += batch.in(phase).size();
    for (const std::uint32_t at : batch.in(phase)) ASSERT_EQ(batch[at].phase, phase);
  }
  ASSERT_EQ(in_phases, batch.size());
  ASSERT_EQ(batch.all_settled(), batch.in(Phase::kSettled).size() == batch.size());
  for (const CallState& call : batch) {
    ASSERT_EQ(batch.find(call.call.id), &call);
    ASSERT_TRUE(call.effect.empty() || batch.find(call.effect) == &call);
    ASSERT_TRUE(call.within.empty() || batch.find(call.within, call.key) == &call);
    ASSERT_EQ(call.open_within, scanned.open_within(call));
    const auto within = [&](const CallState& each) { return each.within == call.call.id; };
    ASSERT_EQ(batch.within(call.call.id).size(),
              static_cast<std::size_t>(std::ranges::count_if(batch, within)));
  }
}

class RandomBatch {
 public:
  explicit RandomBatch(unsigned seed) : random_(seed) {}

  void step() {
    const unsigned kind = below(10);
    if (batch.empty() || kind == 0) return batch.add(call_of(next_id()));
    const CallState& call = batch[below(static_cast<unsigned>(batch.size()))];
    if (kind == 1) return batch.add(call_of(next_id(), call.call.id.str(), "k" + std::to_string(number_)));
    if (kind == 2) return remove_within(call);
    if (kind == 3) return start(call);
    const Phase phase = kPhases[below(kPhases.size())];
    batch.update(call, [&](CallState& changed) { changed.phase = phase; });
  }

  CallBatch batch;

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_()) % bound; }
  std::string next_id() { return "c" + std::to_string(++number_); }
  void start(const CallState& call) {
    batch.update(call, [&](CallState& changed) {
      changed.phase = Phase::kRunning;
      changed.effect = EffectId{"e" + std::to_string(++number_)};
      ++changed.attempt;
    });
  }
  void remove_within(const CallState& outer) {
    const CallId id = outer.call.id;
    for (const CallState& removed : batch.remove_within(id)) ASSERT_EQ(batch.find(removed.call.id), nullptr);
    ASSERT_TRUE(batch.within(id).empty());
  }

  std::mt19937 random_;
  unsigned number_ = 0;
};

TEST(CallBatch, RandomChangesKeepWhatAScanFinds) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomBatch random(seed);
    for (int step = 0; step < 120; ++step) {
      random.step();
      ASSERT_NO_FATAL_FAILURE(expect_as_scanned(random.batch)) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(CallBatch, CopyIsIndependent) {
  CallBatch batch;
  batch.add(call_of("a"));
  CallBatch copy = batch;
  copy.update(copy[0], [](CallState& changed) { changed.phase = Phase::kRunning; });
  EXPECT_EQ(batch.at_work(), 0U);
  EXPECT_EQ(copy.at_work(), 1U);
  EXPECT_EQ(copy.find(CallId{"a"}), &copy[0]);
}

TEST(CallBatch, FirstOfTwoCallsWithOneIdIsFound) {
  CallBatch batch;
  for (const char* tool : {"first", "second"}) {
    CallState call = call_of("a");
    call.call.name = tool;
    batch.add(std::move(call));
  }
  EXPECT_EQ(batch.find(CallId{"a"})->call.name, "first");
}

TEST(CallBatch, TakenCallsLeaveAnEmptyBatch) {
  CallBatch batch;
  batch.add(call_of("a"));
  batch.update(batch[0], [](CallState& changed) { changed.phase = Phase::kRunning; });
  EXPECT_EQ(batch.take().size(), 1U);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.at_work(), 0U);
  EXPECT_TRUE(batch.in(Phase::kRunning).empty());
  EXPECT_EQ(batch.find(CallId{"a"}), nullptr);
}

}  // namespace
}  // namespace praxis
