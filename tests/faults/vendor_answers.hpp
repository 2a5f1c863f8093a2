// Correct answers of model endpoints in the five protocols: streamed, event by event, or whole.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fault.hpp"

namespace praxis::faults::endpoint {

inline constexpr std::array<std::string_view, 5> kProtocols{"chat", "responses", "messages", "gemini",
                                                            "ollama"};

/// The content of an answer: some text and, unless `tool` is empty, one call.
struct Words {
  std::string text;
  std::string tool;
  std::string arguments;        ///< a JSON object
  std::size_t most_pieces = 4;  ///< of the text, when it is streamed
};

/// The encoded answer. An answer that is not streamed is one event.
struct WireAnswer {
  std::vector<std::string> events;  ///< each with its end
  /// The index of the event without which the answer is incomplete.
  std::size_t last = 0;
  std::string content_type;

  std::string body() const;
  /// How many bytes of the body must arrive for the answer to be complete.
  std::size_t complete_at() const;
};

/// `random` decides how the text is cut into deltas.
WireAnswer wire_answer(std::string_view protocol, bool stream, const Words& words, Random& random);

}  // namespace praxis::faults::endpoint
