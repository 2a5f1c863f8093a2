// SIGKILL: a process that runs agents dies at an exact point, and so do the ones that resume after it.
#include "crash_cases.hpp"
#include "fault.hpp"

namespace praxis::faults {
namespace {

using testing::Case;
using testing::Point;

const std::vector<std::string> kKilledAgents{"model", "plan", "steps", "summary", "tree", "python"};

std::vector<Case> all_single_kills() {
  std::vector<Case> cases;
  for (const std::string& kind : testing::kKinds) {
    for (Case& c : testing::single_kills(kind)) cases.push_back(std::move(c));
  }
  for (const std::string agent : {"tree", "python"}) {
    for (Case& c : testing::tree_kills(agent)) cases.push_back(std::move(c));
  }
  return cases;
}

/// All pairs; only a part of `python`, because its interpreter takes most of the time to start.
std::vector<Case> all_double_kills() {
  std::vector<Case> firsts = all_single_kills();
  std::size_t index = 0;
  std::erase_if(firsts, [&](const Case& c) { return c.agent == "python" && ++index % 5 != 0; });
  return testing::double_kills(firsts);
}

/// Three kills anywhere; a kill at a point that the run does not pass does not happen.
Case random_case(Random& random) {
  Case c{kKilledAgents[random.below(kKilledAgents.size())],
         testing::kDoubts[random.below(testing::kDoubts.size())],
         {}};
  const std::vector<std::string> targets{"model", "put", "pay", "person", "child", "recovery"};
  for (int i = 0; i < 3; ++i) {
    if (random.once_in(2)) {
      const int n = 1 + static_cast<int>(random.below(20));
      c.points.push_back({"append", random.once_in(2) ? "before" : "after", n});
    } else {
      const int n = 1 + static_cast<int>(random.below(2));
      const std::string& target = targets[random.below(targets.size())];
      c.points.push_back({target, testing::kPlaces[random.below(testing::kPlaces.size())], n});
    }
  }
  return c;
}

/// First every single kill, then all pairs, in an order that reaches each agent soon, then three random ones.
class Cases {
 public:
  Case of(std::uint64_t seed) const {
    const std::uint64_t at = seed - 1;  // seed 0 wraps around: beyond all cases
    if (at < singles_.size()) return singles_[at];
    if (at - singles_.size() < doubles_.size())
      return doubles_[(at - singles_.size()) * kStride % doubles_.size()];
    Random random(seed);
    return random_case(random);
  }

 private:
  static constexpr std::uint64_t kStride = 7919;  // a prime that does not divide the number of pairs

  const std::vector<Case> singles_ = all_single_kills();
  const std::vector<Case> doubles_ = all_double_kills();
};

void run(const Cases& cases, std::uint64_t seed) {
  const Case c = cases.of(seed);
  SCOPED_TRACE(c.name());
  const int kills = play(c);
  // The number of appends depends on how the journal's thread groups them.
  const bool certain = c.points.size() == 1 && c.points.front().target != "append";
  EXPECT_TRUE(kills > 0 || !certain) << "the run never reached " << c.points.front().text();
}

}  // namespace

Fault kill_fault() {
  return {.name = "kill",
          .breaks =
              "SIGKILL before, while and after each effect of every kind, at each append, and again "
              "during recovery",
          .holds =
              "no settled effect is lost or repeated, none that must not be repeated is repeated silently; "
              "same result; the log replays",
          .few = 1'500,
          .many = 20'000,
          .start = []() -> Run { return [cases = Cases()](std::uint64_t seed) { run(cases, seed); }; }};
}

}  // namespace praxis::faults
