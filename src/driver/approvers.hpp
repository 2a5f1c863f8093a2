// The parked steps of one session that the approval handler was asked about, and the time when the first of
// them expires. A value: it returns the questions to ask and to withdraw.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "driver/log.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

class Approvers {
 public:
  struct Changes {
    std::vector<Token> withdraw;
    std::vector<std::pair<Token, ParkedStep>> ask;
  };
  /// Returns the changes that bring the questions up to date. Every durable parked step is asked once per
  /// handler, where `handler` is its generation (0: no handler): a new handler gets the question when the
  /// previous one has returned without an answer. With `closing`, withdraws all questions.
  Changes update(const State& state, const Log& log, Token handler, bool closing);
  /// Ends `question` and returns its step, which another handler may be asked about from now on. Nothing when
  /// the question was withdrawn.
  std::optional<ParkId> answered(Token question);
  /// True while a handler works on an answer.
  bool thinking() const;
  /// Removes all questions and returns them.
  std::vector<Token> withdraw_all();

 private:
  struct Question {
    Token token = 0;
    Token handler = 0;
    bool thinking = true;
  };

  std::map<ParkId, Question> questions_;
  Token next_ = 1;
};

/// Returns when the first parked step expires; 0: never.
UnixMillis first_expiry(const State& state);
/// Returns the delay of a timer that looks at the clock again: the wall clock may jump, and timers do not
/// follow it.
Millis until_expiry(UnixMillis expires, UnixMillis now);

}  // namespace praxis::driver
