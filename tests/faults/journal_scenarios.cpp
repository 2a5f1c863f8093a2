#include "journal_scenarios.hpp"

#include <sqlite3.h>

#include "fault.hpp"

namespace praxis::faults {
namespace {

using Steps = std::vector<std::function<Status(Witness&)>>;

Status create(Witness& witness) { return witness.create(); }
Status append(Witness& witness) { return witness.append(); }
Status append_large(Witness& witness) { return witness.append(true); }
Status append_group(Witness& witness) { return witness.append_group(4); }
Status post(Witness& witness) { return witness.post(); }
Status answer(Witness& witness) { return witness.answer(); }
Status append_answer(Witness& witness) { return witness.append_answer(); }
Status release(Witness& witness) { return witness.release(); }
Status ensure_open(Witness& witness) { return witness.is_open() ? Status{} : witness.open(); }

template <int kMode>
Status checkpoint(Witness& witness) {
  return witness.checkpoint(kMode);
}

/// The journal exists, is open, and has two sessions.
void begun(SimDisk& disk, Witness& witness) {
  static const Files kFresh = fresh_journal(disk);
  disk.format(kFresh, 1);
  must(witness.open());
  for (int i = 0; i < 2; ++i) must(witness.create());
  must(witness.append());
}

/// The log has not been copied into the file, and no process has the journal open.
void crashed(SimDisk& disk, Witness& witness) {
  begun(disk, witness);
  must(witness.append_group(5));
  disk.lose_power();
  witness.close();
  disk.restart();
}

std::vector<JournalScenario> all_scenarios() {
  return {
      {"birth",
       [](SimDisk& disk, Witness&) { disk.format({}, 1); },
       {ensure_open, create, append, post, reopen, append}},
      {"create", begun, {create, release, create, append, release, append_group, create, append}},
      {"append", begun, {append, append, append, append, append, append}},
      {"append_large", begun, {append_large, append, append_large}},
      {"append_group", begun, {append_group, append_group, append}},
      {"checkpoint",
       begun,
       {append, checkpoint<SQLITE_CHECKPOINT_PASSIVE>, append, checkpoint<SQLITE_CHECKPOINT_FULL>, append,
        checkpoint<SQLITE_CHECKPOINT_RESTART>, append, checkpoint<SQLITE_CHECKPOINT_TRUNCATE>, append}},
      {"inbox", begun, {post, post, answer, append_answer, post, append, append_answer}},
      {"reopen", begun, {append, reopen, append, reopen, append_large}},
      {"after_a_crash", crashed, {ensure_open, append, append_group}},
      {"own_checkpoint", begun, {[](Witness& witness) { return witness.append_huge(); }, append, append}, 97},
  };
}

}  // namespace

Files fresh_journal(SimDisk& disk) {
  disk.format({}, 0);
  Witness witness(disk.path("j"), 0);
  must(witness.open());
  witness.close();
  return disk.files();
}

Status reopen(Witness& witness) {
  witness.close();
  return witness.open();
}

const std::vector<JournalScenario>& journal_scenarios() {
  static const std::vector<JournalScenario> kAll = all_scenarios();
  return kAll;
}

void play(const JournalScenario& scenario, Witness& witness,
          const std::function<void(const Error&)>& failed) {
  for (const auto& step : scenario.steps) {
    Status taken = ensure_open(witness);
    if (taken) taken = step(witness);
    if (!taken) failed(taken.error());
  }
}

Sweep::Sweep(SimDisk& disk, const std::function<std::uint64_t(const SimDisk&)>& calls) {
  for (const JournalScenario& scenario : journal_scenarios()) {
    Witness witness(disk.path("j"), 0);
    scenario.before(disk, witness);
    disk.expect_nothing();
    play(scenario, witness, [](const Error& error) { throw std::runtime_error(error.message); });
    witness.close();
    calls_.push_back(calls(disk));
    places_ += (calls_.back() + scenario.stride - 1) / scenario.stride;
  }
}

Place Sweep::operator()(std::uint64_t seed) const {
  Place place{.round = seed / places_};
  std::uint64_t left = seed % places_;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const JournalScenario& scenario = journal_scenarios()[i];
    const std::uint64_t visited = (calls_[i] + scenario.stride - 1) / scenario.stride;
    place.scenario = &scenario;
    place.nth = 1 + left * scenario.stride + place.round % scenario.stride;
    if (left < visited) break;
    left -= visited;
  }
  return place;
}

}  // namespace praxis::faults
