#include "praxis/core/call_batch.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace praxis {
namespace {

using Phase = CallState::Phase;

bool waits_for_first_attempt(const CallState& call) {
  return call.attempt == 0 && (call.phase == Phase::kProposed || call.phase == Phase::kApproved);
}

bool works_itself(const CallState& call) { return call.phase == Phase::kRunning && call.open_within == 0; }

auto id_in(const std::vector<CallState>& calls) {
  return [&calls](std::uint32_t at) -> const CallId& { return calls[at].call.id; };
}

auto effect_in(const std::vector<CallState>& calls) {
  return [&calls](std::uint32_t at) -> const EffectId& { return calls[at].effect; };
}

auto outer_in(const std::vector<CallState>& calls) {
  return [&calls](std::uint32_t at) -> const CallId& { return calls[at].within; };
}

auto outer_and_key_in(const std::vector<CallState>& calls) {
  return [&calls](std::uint32_t at) { return std::tie(calls[at].within, calls[at].key); };
}

/// Inserts `at` after those that are found by the same.
template <class Key>
void insert_sorted(std::vector<std::uint32_t>& sorted, std::uint32_t at, Key key) {
  sorted.insert(std::ranges::upper_bound(sorted, key(at), {}, key), at);
}

/// Returns the first of those that are found by `wanted`; null if `wanted` finds nothing.
template <class Wanted, class Key>
const CallState* first_of(const std::vector<CallState>& calls, const std::vector<std::uint32_t>& sorted,
                          const Wanted& wanted, Key key) {
  const auto found = std::ranges::lower_bound(sorted, wanted, {}, key);
  return found == sorted.end() || key(*found) != wanted ? nullptr : &calls[*found];
}

}  // namespace

CallBatch::CallBatch(std::vector<CallState> calls) {
  for (CallState& call : calls) add(std::move(call));
}

const CallState* CallBatch::find(const CallId& call) const {
  return first_of(calls_, by_id_, call, id_in(calls_));
}

const CallState* CallBatch::find(const EffectId& effect) const {
  return first_of(calls_, by_effect_, effect, effect_in(calls_));
}

const CallState* CallBatch::find(const CallId& outer, const std::string& key) const {
  return first_of(calls_, by_outer_, std::tie(outer, key), outer_and_key_in(calls_));
}

std::span<const std::uint32_t> CallBatch::within(const CallId& outer) const {
  return std::ranges::equal_range(by_outer_, outer, {}, outer_in(calls_));
}

void CallBatch::add(CallState call) {
  const auto at = static_cast<std::uint32_t>(calls_.size());
  calls_.push_back(std::move(call));
  const CallState& added = calls_.back();
  count(added, 1);
  by_phase_[static_cast<std::size_t>(added.phase)].insert(at);
  insert_sorted(by_id_, at, id_in(calls_));
  if (!added.effect.empty()) insert_sorted(by_effect_, at, effect_in(calls_));
  if (!added.within.empty()) insert_sorted(by_outer_, at, outer_and_key_in(calls_));
}

std::vector<CallState> CallBatch::remove_within(const CallId& outer) {
  std::vector<std::uint32_t> found;
  find_within(outer, found);
  if (found.empty()) return {};
  std::ranges::sort(found);
  std::size_t at = found.front();
  std::vector<CallState> removed;
  for (CallState& call : cut(at)) {
    if (std::ranges::binary_search(found, at++)) {
      removed.push_back(std::move(call));
    } else {
      add(std::move(call));
    }
  }
  return removed;
}

std::vector<CallState> CallBatch::take() {
  std::vector<CallState> calls = std::move(calls_);
  *this = {};
  return calls;
}

void CallBatch::find_within(const CallId& outer, std::vector<std::uint32_t>& found) const {
  for (const std::uint32_t at : within(outer)) {
    found.push_back(at);
    find_within(calls_[at].call.id, found);
  }
}

/// Removes the calls from a position on. Calls come after the one that they are within.
std::vector<CallState> CallBatch::cut(std::size_t first) {
  for (std::size_t at = calls_.size(); at-- > first;) {
    count(calls_[at], -1);
    by_phase_[static_cast<std::size_t>(calls_[at].phase)].erase(static_cast<std::uint32_t>(at));
  }
  for (auto* sorted : {&by_id_, &by_effect_, &by_outer_})
    std::erase_if(*sorted, [&](std::uint32_t at) { return at >= first; });
  const auto from = calls_.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<CallState> removed(std::make_move_iterator(from), std::make_move_iterator(calls_.end()));
  calls_.erase(from, calls_.end());
  return removed;
}

void CallBatch::index(std::size_t position, Phase phase_before, const EffectId& effect_before) {
  const auto at = static_cast<std::uint32_t>(position);
  const CallState& call = calls_[at];
  if (call.phase != phase_before) {
    auto& before = by_phase_[static_cast<std::size_t>(phase_before)];
    by_phase_[static_cast<std::size_t>(call.phase)].insert(before.extract(at));
  }
  if (call.effect == effect_before) return;
  if (!effect_before.empty()) std::erase(by_effect_, at);
  if (!call.effect.empty()) insert_sorted(by_effect_, at, effect_in(calls_));
}

void CallBatch::count(const CallState& call, int by) {
  if (waits_for_first_attempt(call)) unstarted_ += by;
  if (works_itself(call)) at_work_ += by;
  if (!call.within.empty() && call.phase != Phase::kSettled) count_open_within(call.within, by);
}

void CallBatch::count_open_within(const CallId& outer, int by) {
  const CallState* const found = find(outer);
  if (found == nullptr) return;
  CallState& call = calls_[position(*found)];
  if (works_itself(call)) --at_work_;
  call.open_within += by;
  if (works_itself(call)) ++at_work_;
}

}  // namespace praxis
