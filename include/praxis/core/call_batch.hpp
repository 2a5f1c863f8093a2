// The tool calls between a message that asks for them and the message with their results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/records.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A tool call of the current batch.
struct CallState {
  enum class Phase : std::uint8_t {
    kProposed,  ///< not yet reviewed
    kApproved,  ///< may start (reviewed, or to be retried)
    kParked,    ///< waits for an approver
    kRunning,   ///< intended, no outcome yet
    kInDoubt,   ///< intended by a process that has died
    kBarred,    ///< cannot continue until a user grants the tool an access, or repairs the machine
    kSettled,
  };
  ToolCallPart call;  ///< with the arguments as they will run, including edits
  /// The call whose handler made this one; empty for calls of the model or plan.
  CallId within = {};
  std::string key = {};  ///< as in `CallProposed`
  Phase phase = Phase::kProposed;
  EffectId effect;
  std::uint32_t attempt = 0;
  /// Of the last attempt, while another will follow.
  std::optional<ToolResultPart> result;
  Millis delay{0};  ///< before the next attempt, after one that failed
  /// Structured form of the result, kept for plans only.
  Json value;
  /// What a barred call waits for: an access, an answer, or a machine that can run it.
  ParkKind barred = ParkKind::kAuthorisation;
  /// Of a call that is barred by its own question: `{schema, state}`.
  Json question = nullptr;
  std::vector<CallAnswer> answers = {};  ///< to its questions so far
  /// Calls within this one that have not settled. The batch keeps this number.
  int open_within = 0;
};

/// The calls of a batch in the order in which they were proposed. It knows which calls are in a phase and
/// finds a call by its id or its effect without looking at the others: what happens to one call of thousands
/// must not take longer because of them.
class CallBatch {
 public:
  using Phase = CallState::Phase;

  CallBatch() = default;
  explicit CallBatch(std::vector<CallState> calls);

  auto begin() const { return calls_.begin(); }
  auto end() const { return calls_.end(); }
  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); }
  const CallState& operator[](std::size_t position) const { return calls_[position]; }
  /// The position of one of the calls.
  std::size_t position(const CallState& call) const {
    return static_cast<std::size_t>(&call - calls_.data());
  }

  /// Null when there is no such call.
  const CallState* find(const CallId& call) const;
  const CallState* find(const EffectId& effect) const;
  /// Null when `outer` made no call with that key.
  const CallState* find(const CallId& outer, const std::string& key) const;
  /// Positions of the calls that the handler of `outer` made, ordered by their keys.
  std::span<const std::uint32_t> within(const CallId& outer) const;

  /// False when no call is within another.
  bool any_within() const { return !by_outer_.empty(); }

  /// Positions of the calls in a phase, in order.
  const std::set<std::uint32_t>& in(Phase phase) const { return by_phase_[static_cast<std::size_t>(phase)]; }
  bool all_settled() const { return in(Phase::kSettled).size() == size(); }
  /// The number of calls that wait for their first attempt.
  std::size_t unstarted() const { return static_cast<std::size_t>(unstarted_); }
  /// The number of calls that run while no call within them works for them.
  std::size_t at_work() const { return static_cast<std::size_t>(at_work_); }

  void add(CallState call);
  /// Changes `call`, one of this batch: `change(CallState&)`, which leaves its id, its key and the call that
  /// it is within.
  template <class Change>
  void update(const CallState& call, Change&& change) {
    CallState& changed = calls_[position(call)];
    const Phase phase = changed.phase;
    const EffectId effect = changed.effect;
    count(changed, -1);
    std::forward<Change>(change)(changed);
    count(changed, 1);
    index(position(call), phase, effect);
  }
  /// Removes the calls within `outer`, those within them and so on. Returns them.
  std::vector<CallState> remove_within(const CallId& outer);
  /// Returns the calls and leaves the batch empty.
  std::vector<CallState> take();

 private:
  void find_within(const CallId& outer, std::vector<std::uint32_t>& found) const;
  std::vector<CallState> cut(std::size_t first);
  void index(std::size_t position, Phase phase_before, const EffectId& effect_before);
  void count(const CallState& call, int by);
  void count_open_within(const CallId& outer, int by);

  std::vector<CallState> calls_;
  std::array<std::set<std::uint32_t>, 7> by_phase_;
  // Positions, sorted by what they are found by.
  std::vector<std::uint32_t> by_id_;
  std::vector<std::uint32_t> by_effect_;
  std::vector<std::uint32_t> by_outer_;  ///< of the calls within others
  int unstarted_ = 0;
  int at_work_ = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
