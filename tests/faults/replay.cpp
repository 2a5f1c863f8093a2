// Runs generated from seeds: the log of each replays without a difference, and its requests can be rendered
// from it again.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "fault.hpp"
#include "recorded_run.hpp"

namespace praxis::faults {
namespace {

using namespace praxis::testing;

void expect_replays(const RecordedRun& run, const AgentSpec* agent) {
  const auto report = replay(run.records, agent);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->records, run.records.size());
  if (const auto& difference = report->divergence) {
    ADD_FAILURE() << "record " << difference->seq << ", " << difference->field << ": " << difference->expected
                  << " became " << difference->found;
  }
}

void expect_travels(const RecordedRun& run) {
  const auto journal = memory_journal();
  const auto session = import_session(*journal, run.exported);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(export_session(*journal, *session).value(), run.exported);
}

/// Returns where two texts first differ, with some context.
std::string difference(const std::string& a, const std::string& b) {
  const auto parts = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const std::size_t from = parts < 60 ? 0 : parts - 60;
  return "at " + std::to_string(parts) + ": " + a.substr(from, 160) + "\nbecame " + b.substr(from, 160);
}

void expect_renders(const RecordedRun& run) {
  EXPECT_EQ(run.again.size(), run.sent.size()) << "requests";
  for (std::size_t i = 0; i < std::min(run.again.size(), run.sent.size()); ++i) {
    if (run.again[i] == run.sent[i]) continue;
    ADD_FAILURE() << "request " << i << " differs " << difference(run.sent[i], run.again[i]);
    return;
  }
}

/// A digest over all runs, printed at the end: two builds with the same digest wrote the same journals and
/// requests.
class Sum {
 public:
  ~Sum() {
    if (runs_ != 0) std::cerr << "replay: " << runs_ << " runs amount to " << sum_.hex() << '\n';
  }
  void add(const std::string& fingerprint) {
    sum_ = digest_of(sum_.hex() + fingerprint);
    ++runs_;
  }

 private:
  Digest sum_;
  std::uint64_t runs_ = 0;
};

void check(std::uint64_t seed, Sum& sum) {
  const RecordedRun run = recorded_run(seed);
  sum.add(fingerprint(run));
  expect_replays(run, nullptr);
  expect_replays(run, &run.agent);
  expect_travels(run);
  expect_renders(run);
  EXPECT_EQ(fingerprint(recorded_run(seed)), fingerprint(run)) << "the same run again";
}

}  // namespace

Fault replay_fault() {
  return {.name = "replay",
          .breaks = "runs with errors, retries, decisions and interrupts are replayed from their logs",
          .holds = "no difference; requests of all five protocols and the log are the same bytes",
          .few = 200,
          .many = 5000,
          .start = [] {
            return Run([sum = std::make_shared<Sum>()](std::uint64_t seed) { check(seed, *sum); });
          }};
}

}  // namespace praxis::faults
