// The disk is full from some write on, until space is freed.
#include <gtest/gtest.h>

#include <memory>

#include "journal_scenarios.hpp"
#include "praxis/json/json.hpp"

namespace praxis::faults {
namespace {

/// The errors that a full disk may lead to; `first` marks the first error.
void expect_typed(const Error& error, bool first) {
  EXPECT_EQ(error.code, ErrorCode::kJournal) << error.message;
  const std::string kind = json_string(error.detail(), "kind");
  if (kind == "full") {
    EXPECT_TRUE(error.retriable) << error.message;
    return;
  }
  // A session that could not be created is not found, and appends after a failed one conflict.
  EXPECT_FALSE(first) << kind << ": " << error.message;
  EXPECT_TRUE(kind == "not_found" || kind == "conflict") << kind << ": " << error.message;
}

void fill_up(SimDisk& disk, const Place& place, std::uint64_t seed) {
  Random random(seed);
  Witness witness(disk.path("j"), place.round);
  place.scenario->before(disk, witness);
  SCOPED_TRACE(place.scenario->name + ", write " + std::to_string(place.nth));
  disk.expect({.full_at = place.nth, .full_for_all = random.once_in(2)});
  bool first = true;
  play(*place.scenario, witness, [&](const Error& error) {
    expect_typed(error, std::exchange(first, false));
    if (!witness.is_open()) return;
    if (const auto checked = witness.check(Since::kRefusal); !checked) expect_typed(checked.error(), true);
  });
  disk.expect_nothing();  // space has been freed
  if (!witness.is_open()) expect_ok(witness.open());
  expect_ok(witness.check(Since::kRefusal));
  expect_ok(witness.create());
  expect_ok(witness.append());
  expect_ok(reopen(witness));
  expect_ok(witness.check(Since::kRefusal));
  disk.lose_power();
  witness.close();
  disk.restart();
  const auto opened = witness.open();
  ASSERT_TRUE(opened) << opened.error().message;
  expect_ok(witness.check(Since::kCrash));
  witness.close();
}

}  // namespace

Fault disk_full_fault() {
  return {
      .name = "disk_full",
      .breaks = "the disk is full from each write of the journal on in turn, then has space again",
      .holds =
          "error `full`, retriable, nothing partial; the same journal continues, a new one reads everything",
      .few = 2'000,
      .many = 20'000,
      .start = [] {
        auto disk = std::make_shared<SimDisk>();
        return [disk, sweep = Sweep(*disk, &SimDisk::writes)](std::uint64_t seed) {
          fill_up(*disk, sweep(seed), seed);
        };
      }};
}

}  // namespace praxis::faults
