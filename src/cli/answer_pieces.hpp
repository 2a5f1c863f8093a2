// Joins the event streams of several connections to a server, so that a reader gets no piece of an answer
// twice: after a lost connection, the first `text.delta` of an answer has all its text so far, and a piece
// that was kept for those who come late may follow its answer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::cli {

/// One thread.
class AnswerPieces {
 public:
  /// `shown`: of this session a reader gets the text of its answers as `text.delta` alone, so what was
  /// written while there was no connection becomes a `text.delta` too. Empty: no session.
  explicit AnswerPieces(std::string shown = {}) : shown_(std::move(shown)) {}

  /// The events that follow come from another connection.
  void reconnected();
  /// Forgets what was written of an answer that its session makes from the beginning.
  void begin_again(const std::string& session) { answers_.erase(session); }
  /// The events to show for one that the server sent: usually that one, of a repeated piece what is new of
  /// it. An `attempt.superseded` says that the pieces so far are not a part of the answer.
  std::vector<Json> take(Json event);

 private:
  /// An answer that is being written.
  struct Answer {
    std::string text;          ///< its pieces so far
    std::size_t complete = 0;  ///< bytes at their beginning that are in an `assistant.text`
    bool comes_whole = false;  ///< the next piece has all text so far
  };
  std::vector<Json> take_piece(Answer& answer, Json event);
  std::vector<Json> take_text(Answer& answer, Json event);

  const std::string shown_;
  std::map<std::string, Answer, std::less<>> answers_;     ///< by session
  std::map<std::string, std::int64_t, std::less<>> seen_;  ///< by session, the last record of an event
};

}  // namespace praxis::cli
