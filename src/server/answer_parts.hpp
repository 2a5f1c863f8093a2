// The parts of a model's answer, text and reasoning, for formats in which each part begins, grows and ends
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"

namespace praxis::server {

/// What happens to a part of an answer.
enum class PartStep : std::uint8_t { kBegin, kPiece, kEnd };
enum class PartKind : std::uint8_t { kText, kReasoning };

/// Joins the pieces of an answer with the whole parts that follow them in the log. A part whose pieces were
/// missed comes as one piece. After a failed attempt, pieces of the next are held back until its parts are
/// whole.
class AnswerParts {
 public:
  /// `text` is the piece, or at the end all of the part.
  using Write = std::function<void(PartStep step, PartKind kind, const std::string& text)>;
  explicit AnswerParts(Write write) : write_(std::move(write)) {}

  /// Takes the next event of the session that answers; ignores those of other kinds.
  void take(const Event& event);
  /// Forgets the answer in progress: a client that can take parts back has done so.
  void restart();
  /// Ends the part that is open, if any.
  void close();

 private:
  struct Part {
    PartKind kind = PartKind::kText;
    std::uint32_t item = 0;
    std::string sent;
  };
  void piece(PartKind kind, std::uint32_t item, const std::string& text);
  void whole(PartKind kind, const std::string& text);
  void begin(PartKind kind, std::uint32_t item);

  Write write_;
  std::vector<Part> parts_;  ///< of the answer in progress
  std::size_t whole_ = 0;    ///< how many of them are whole
  bool is_open_ = false;     ///< the last one
  bool holds_ = false;       ///< pieces wait until the part is whole
};

}  // namespace praxis::server
