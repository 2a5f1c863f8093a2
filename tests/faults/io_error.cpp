// A disk operation fails, sometimes a sync; later acknowledgements must be as reliable as ever.
#include <gtest/gtest.h>

#include <memory>

#include "journal/testing/journals.hpp"
#include "journal_scenarios.hpp"
#include "praxis/json/json.hpp"

namespace praxis::faults {
namespace {

/// The number of failing calls: one, a few, or all until the disk is repaired.
std::uint64_t how_many(Random& random) {
  const std::uint64_t some[] = {1, 1, 2, 5, 1'000'000'000};
  return some[random.below(std::size(some))];
}

void expect_typed(const Error& error) {
  EXPECT_EQ(error.code, ErrorCode::kJournal) << error.message;
  const std::string kind = json_string(error.detail(), "kind");
  // A session that could not be created is not found, and appends after a failed one conflict.
  EXPECT_TRUE(kind == "io" || kind == "not_found" || kind == "conflict") << kind << ": " << error.message;
}

/// Continues with a working disk, in the same journal or, if it was closed, after opening it again.
void go_on(Witness& witness) {
  const auto since = [&] { return witness.closings() == 0 ? Since::kRefusal : Since::kCrash; };
  if (!witness.is_open()) expect_ok(witness.open());
  expect_ok(witness.check(since()));
  expect_ok(witness.create());
  expect_ok(witness.append());
  expect_ok(witness.check(since()));
}

/// Cuts the power during the next operations; the log must not have been in doubt while the file was written.
void go_on_without_power(SimDisk& disk, Witness& witness, Random& random) {
  disk.expect({.power_lost_at = 1 + random.below(10)});
  Status done = witness.is_open() ? Status{} : witness.open();
  if (done) done = witness.create();
  if (done) done = witness.append();
  if (done) done = witness.checkpoint(static_cast<int>(random.below(4)));
  if (done || !disk.has_power()) return;
  // Nothing was compared since the failure: a session may be absent, and after a reopening an append that
  // failed may be present, so that the next one conflicts with it.
  const std::string kind = testing::kind_of(done);
  EXPECT_TRUE(kind == "not_found" || (kind == "conflict" && witness.closings() > 0)) << done.error().message;
}

void fail_a_call(SimDisk& disk, const Place& place, std::uint64_t seed) {
  Random random(seed);
  Witness witness(disk.path("j"), place.round);
  place.scenario->before(disk, witness);
  const std::uint64_t errors = how_many(random);
  SCOPED_TRACE(place.scenario->name + ", call " + std::to_string(place.nth) + ", errors " +
               std::to_string(errors));
  disk.expect({.error_at = place.nth, .errors = errors});
  play(*place.scenario, witness, [&](const Error& error) {
    expect_typed(error);
    if (!witness.is_open() || witness.closings() > 0) return;
    if (const auto checked = witness.check(Since::kRefusal); !checked) expect_typed(checked.error());
  });
  if (random.once_in(2)) witness.close();  // while the disk still fails
  disk.expect_nothing();
  const bool cut = random.once_in(2);
  if (cut) {
    go_on_without_power(disk, witness, random);
  } else {
    go_on(witness);
  }
  disk.lose_power();
  witness.close();
  disk.restart(cut ? SimDisk::Unsynced::kAnything : SimDisk::Unsynced::kNothing);
  const auto opened = witness.open();
  ASSERT_TRUE(opened) << opened.error().message;
  expect_ok(witness.check(Since::kCrash));
  witness.close();
}

}  // namespace

Fault io_error_fault() {
  return {
      .name = "io_error",
      .breaks =
          "each disk operation fails in turn: once, a few times, or permanently; failed syncs lose the data",
      .holds = "typed errors; no half record; what is acknowledged later survives a power loss",
      .few = 1'500,
      .many = 150'000,
      .start = [] {
        auto disk = std::make_shared<SimDisk>();
        return [disk, sweep = Sweep(*disk, &SimDisk::calls)](std::uint64_t seed) {
          fail_a_call(*disk, sweep(seed), seed);
        };
      }};
}

}  // namespace praxis::faults
