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
  const StatePtr& near_end = found->second.near_end;
  const auto after = states.upper_bound(seq);
  StatePtr best = after == states.begin() ? nullptr : std::prev(after)->second;
  return near_end && near_end->seq <= seq && (!best || best->seq < near_end->seq) ? near_end : best;
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
    for (const auto& [id, each] : sessions_)
      sum += records_in(each.states) + (each.near_end ? each.near_end->seq : 0);
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

void Folds::keep_near_end(const SessionRow& row, StatePtr state) {
  const std::lock_guard lock(mutex_);
  Kept& kept = sessions_.try_emplace(row.id, row.created).first->second;
  if (kept.created != row.created) kept = {row.created};
  kept.near_end = std::move(state);
}

/// Held by the one caller that folds the log of the session.
std::shared_ptr<std::mutex> Folds::fold_of(const SessionId& session) {
  const std::lock_guard lock(mutex_);
  if (folding_.size() > kMostSessions)
    std::erase_if(folding_, [](auto& each) { return each.second.expired(); });
  std::weak_ptr<std::mutex>& known = folding_[session];
  auto fold = known.lock();
  if (!fold) known = fold = std::make_shared<std::mutex>();
  return fold;
}

Result<Folds::StatePtr> Folds::last(const SessionId& session) {
  const auto is_last = [](const SessionRow& row, const StatePtr& state) {
    return state && state->seq == row.entries;
  };
  auto row = journal_->session(session);
  if (!row) return fail(row.error());
  if (auto kept = find(*row, row->entries); is_last(*row, kept)) return kept;
  const auto fold = fold_of(session);
  const std::lock_guard alone(*fold);
  row = journal_->session(session);
  if (!row) return fail(row.error());
  auto kept = find(*row, row->entries);
  if (is_last(*row, kept)) return kept;
  return fold_on(*row, kept);
}

Result<Folds::StatePtr> Folds::fold_on(const SessionRow& row, const StatePtr& kept) {
  const auto entries = read_some_entries(*journal_, row.id, kept ? kept->seq + 1 : 1, 0);
  if (!entries) return fail(entries.error());
  auto state = kept ? std::make_shared<State>(*kept) : std::make_shared<State>();
  const bool is_long = entries->size() > stride_;
  const std::uint64_t near_end = is_long ? entries->back().seq - kShort : 0;
  for (const Entry& entry : *entries) {
    const auto stored = decode_entry(*journal_, row.id, entry);
    if (!stored) return fail(stored.error());
    if (auto applied = apply_to(*state, stored->record); !applied) return fail(applied.error());
    if (stored->seq % stride_ == 0) keep(std::make_shared<const State>(*state));
    if (stored->seq == near_end) keep_near_end(row, std::make_shared<const State>(*state));
  }
  keep(state, true);
  return state;
}

}  // namespace praxis::server
