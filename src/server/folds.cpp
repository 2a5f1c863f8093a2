#include "server/folds.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "logs/read_part.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::server {
namespace {

constexpr std::uint64_t kShort = 256;  // records that are folded as fast as a state is copied
/// In all kept states together. A state takes about as much memory as its records: some hundred megabytes.
constexpr std::uint64_t kMostRecords = 1'000'000;

std::uint64_t records_in(const std::map<std::uint64_t, Folds::StatePtr>& states) {
  std::uint64_t sum = 0;
  for (const auto& [seq, state] : states) sum += seq;
  return sum;
}

}  // namespace

Folds::StatePtr Folds::at_most(const SessionId& session, std::uint64_t seq) {
  {
    const std::lock_guard lock(mutex_);
    if (!sessions_.contains(session)) return nullptr;
  }
  const auto row = journal_->session(session);
  return row ? find(*row, seq) : nullptr;
}

Folds::StatePtr Folds::find(const SessionRow& row, std::uint64_t seq) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(row.id);
  if (found == sessions_.end()) return nullptr;
  if (row.created != found->second.created) {
    sessions_.erase(found);
    return nullptr;
  }
  found->second.used = ++uses_;
  const auto& states = found->second.states;
  const auto after = states.upper_bound(seq);
  return after == states.begin() ? nullptr : std::prev(after)->second;
}

void Folds::keep(StatePtr state, bool always) {
  if (!state || (state->seq < kShort && !always)) return;
  const auto row = journal_->session(state->id);
  if (!row) return;
  const std::lock_guard lock(mutex_);
  Kept& kept = sessions_.try_emplace(state->id, row->created).first->second;
  if (kept.created != row->created) kept = {row->created};
  kept.used = ++uses_;
  const std::uint64_t seq = state->seq;
  kept.states.insert_or_assign(seq, std::move(state));
  thin_out(kept.states);
  const auto is_full = [this] {
    std::uint64_t sum = 0;
    for (const auto& [id, each] : sessions_) sum += records_in(each.states);
    return sessions_.size() > kMostSessions || sum > kMostRecords;
  };
  while (sessions_.size() > 1 && is_full()) {
    sessions_.erase(
        std::ranges::min_element(sessions_, {}, [](const auto& each) { return each.second.used; }));
  }
}

/// Drops states whose neighbours are nearest to each other, until there are few enough; the last one stays.
void Folds::thin_out(std::map<std::uint64_t, StatePtr>& states) {
  while (states.size() > kMostOfOne || (states.size() > 1 && records_in(states) > kMostRecords / 2)) {
    auto least = states.begin();
    std::uint64_t shortest = UINT64_MAX, before = 0;
    for (auto each = states.begin(); std::next(each) != states.end(); ++each) {
      const std::uint64_t gap = std::next(each)->first - before;
      if (gap < shortest) {
        shortest = gap;
        least = each;
      }
      before = each->first;
    }
    states.erase(least);
  }
}

Result<Folds::StatePtr> Folds::last(const SessionId& session) {
  const auto row = journal_->session(session);
  if (!row) return fail(row.error());
  auto kept = find(*row, row->entries);
  if (kept && kept->seq == row->entries) return kept;
  const auto entries = read_some_entries(*journal_, session, kept ? kept->seq + 1 : 1, 0);
  if (!entries) return fail(entries.error());
  auto state = kept ? std::make_shared<State>(*kept) : std::make_shared<State>();
  for (const Entry& entry : *entries) {
    const auto stored = decode_entry(*journal_, session, entry);
    if (!stored) return fail(stored.error());
    if (auto applied = apply_to(*state, stored->record); !applied) return fail(applied.error());
    if (stored->seq % stride_ == 0) keep(std::make_shared<const State>(*state));
  }
  keep(state, true);
  return state;
}

}  // namespace praxis::server
