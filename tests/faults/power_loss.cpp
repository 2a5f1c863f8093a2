// Power is lost at random moments, repeatedly; what the journal has acknowledged must still be there.
#include <gtest/gtest.h>

#include <memory>

#include "journal_scenarios.hpp"

namespace praxis::faults {
namespace {

constexpr int kCheckpointModes = 4;

/// One random operation on a journal.
Status do_something(Witness& witness, Random& random) {
  switch (random.below(16)) {
    case 0:
      return witness.sessions() < 4 ? witness.create() : Status{};
    case 1:
      return witness.append(true);
    case 2:
    case 3:
    case 4:
      return witness.append_group(2 + random.below(5));
    case 5:
      return witness.post();
    case 6:
      return witness.answer();
    case 7:
      return witness.append_answer();
    case 8:
      return witness.checkpoint(static_cast<int>(random.below(kCheckpointModes)));
    case 9:
      return random.once_in(3) ? reopen(witness) : witness.release();
    case 10:
      return random.once_in(200) ? witness.append_huge() : witness.append();
    default:
      return witness.append();
  }
}

/// Works until the power is cut.
void live(SimDisk& disk, Witness& witness, Random& random) {
  Status done = witness.open();
  if (done) done = witness.create();
  while (done) done = do_something(witness, random);
  EXPECT_FALSE(disk.has_power()) << done.error().message;
  witness.close();
}

/// A journal that survived works normally.
void go_on(Witness& witness, Random& random) {
  expect_ok(witness.create());
  for (std::uint64_t left = random.below(4); left > 0; --left) expect_ok(do_something(witness, random));
  expect_ok(witness.append());
  expect_ok(witness.check(Since::kRefusal));
  if (!random.once_in(8)) return;
  expect_ok(reopen(witness));
  expect_ok(witness.check(Since::kRefusal));
}

void lose_power(SimDisk& disk, const Files& fresh, std::uint64_t seed) {
  Random random(seed);
  disk.format(random.once_in(16) ? Files{} : fresh, random());
  Witness witness(disk.path("j"), random());
  for (std::uint64_t left = random.once_in(5) ? 2 : 1; left > 0; --left) {
    disk.expect({.power_lost_at = 1 + random.below(random.once_in(50) ? 400 : 50)});
    live(disk, witness, random);
    disk.restart();
    const auto opened = witness.open();
    ASSERT_TRUE(opened) << opened.error().message;
    expect_ok(witness.check(Since::kCrash));
    if (left > 1) witness.close();
  }
  go_on(witness, random);
  witness.close();
}

}  // namespace

Fault power_loss_fault() {
  return {
      .name = "power_loss",
      .breaks = "power is lost at a random write, sync or rename; unsynced sectors are kept, dropped, torn",
      .holds = "it opens; everything acknowledged is there, the rest whole or not at all; it continues",
      .few = 20'000,
      .many = 1'000'000,
      .start = [] {
        auto disk = std::make_shared<SimDisk>();
        return [disk, fresh = fresh_journal(*disk)](std::uint64_t seed) { lose_power(*disk, fresh, seed); };
      }};
}

}  // namespace praxis::faults
