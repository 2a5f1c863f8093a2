// The ways in which a model endpoint misbehaves, and the outcomes that each allows.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "vendor_answers.hpp"

namespace praxis::faults::endpoint {

/// The outcomes that a model call may have after such a reply.
enum class Hope : std::uint8_t {
  kWell,    ///< the complete answer
  kEither,  ///< the complete answer, or an error of one of `kinds`
  kBadly,   ///< an error of one of `kinds`
  /// The client cannot know what was lost: some answer, or an error of one of `kinds`.
  kAnything,
};

struct Reply {
  enum class End : std::uint8_t {
    kKeep,     ///< the connection serves the next request
    kClose,    ///< closed in order
    kReset,    ///< closed with a TCP reset
    kSilence,  ///< nothing more is sent, and nothing closes
    kEndless,  ///< `again` follows until the client closes
  };

  std::vector<std::string> pieces = {};  ///< each in a write of its own
  End end = End::kKeep;
  std::string again = {};
  std::chrono::microseconds pause{0};  ///< before each piece, and each `again`
  Hope hope = Hope::kWell;
  std::vector<std::string_view> kinds = {};  ///< empty: any
};

/// The material that a misdeed spoils.
struct Scene {
  std::string_view protocol;
  bool stream = false;
  WireAnswer good;
  /// The same text, whole instead of streamed or the other way round.
  WireAnswer other_shape;
  WireAnswer foreign;  ///< the same text in another protocol
  std::string poison;  ///< a whole reply with another text: the answer to another request
  std::string key;
};

struct Misdeed {
  std::string_view name;
  unsigned weight;  ///< relative frequency
  Reply (*reply)(const Scene& scene, Random& random);
  bool waits = false;    ///< ends by one of the client's time limits
  bool refused = false;  ///< no server listens
  bool poisons = false;  ///< the connection holds more than was requested
  bool endless = false;  ///< ended by the turn's own time limit
};

const std::vector<Misdeed>& misdeeds();
const Misdeed& any_misdeed(Random& random);

/// The correct answer, framed in one of the ways of HTTP.
Reply good_reply(const Scene& scene, Random& random);

}  // namespace praxis::faults::endpoint
