// The parked steps of one session that the handler which decides for people was asked about, and when the
// first of them expires. A value: it says which questions to ask and which to withdraw.
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
  /// Brings the questions up to date: every durable parked step is asked once of the handler of generation
  /// `handler` (0: no handler), and again when another handler has taken its place and the one before has
  /// answered nothing. With `closing`, all are withdrawn.
  Changes update(const State& state, const Log& log, Token handler, bool closing);
  /// The step that `question` was about; it may be asked of another handler from now on. Nothing when the
  /// question was withdrawn.
  std::optional<ParkId> answered(Token question);
  /// A handler is at work on an answer.
  bool thinking() const;
  /// All questions, which are forgotten.
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

/// When the first parked step expires; 0: never.
UnixMillis first_expiry(const State& state);
/// How long to wait before looking at the clock again: the wall clock may jump, the timer does not follow.
Millis until_expiry(UnixMillis expires, UnixMillis now);

}  // namespace praxis::driver
