#include "driver/approvers.hpp"
#include "praxis/core/state.hpp"

#include <algorithm>

namespace praxis::driver {
namespace {

/// Upper bound for a timer: the wall clock may have been set, or the computer may have slept.
constexpr Millis kLookAgain{60'000};

}  // namespace

Approvers::Changes Approvers::update(const State& state, const Log& log, Token handler, bool closing) {
  Changes changes;
  std::erase_if(questions_, [&](const auto& asked) {
    if (!closing && state.parked.contains(asked.first)) return false;
    changes.withdraw.push_back(asked.second.token);
    return true;
  });
  if (closing || handler == 0) return changes;
  for (const auto& [id, step] : state.parked) {
    const auto asked = questions_.find(id);
    const bool known =
        asked != questions_.end() && (asked->second.thinking || asked->second.handler == handler);
    if (known || log.holds(id)) continue;
    const Token question = next_++;
    questions_.insert_or_assign(id, Question{question, handler});
    changes.ask.emplace_back(question, step);
  }
  return changes;
}

std::optional<ParkId> Approvers::answered(Token question) {
  for (auto& [id, asked] : questions_) {
    if (asked.token != question) continue;
    asked.thinking = false;
    return id;
  }
  return std::nullopt;
}

bool Approvers::thinking() const {
  return std::ranges::any_of(questions_, [](const auto& asked) { return asked.second.thinking; });
}

std::vector<Token> Approvers::withdraw_all() {
  std::vector<Token> all;
  for (const auto& [id, asked] : std::exchange(questions_, {})) all.push_back(asked.token);
  return all;
}

UnixMillis first_expiry(const State& state) {
  UnixMillis first;
  for (const auto& [id, step] : state.parked) {
    if (step.expires.value != 0 && (first.value == 0 || step.expires < first)) first = step.expires;
  }
  return first;
}

Millis until_expiry(UnixMillis expires, UnixMillis now) {
  return std::clamp(Millis{expires - now}, Millis{0}, kLookAgain);
}

}  // namespace praxis::driver
