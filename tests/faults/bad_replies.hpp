// How a model endpoint misbehaves, and what may come of it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "vendor_answers.hpp"

namespace praxis::faults::endpoint {

/// What a model call may come to that was answered so.
enum class Hope : std::uint8_t {
  kWell,      ///< the answer, whole
  kEither,    ///< the answer, whole, or an error of one of `kinds`
  kBadly,     ///< an error of one of `kinds`
  kAnything,  ///< nobody could tell what was lost: some answer, or an error of one of `kinds`
};

struct Reply {
  enum class End : std::uint8_t {
    kKeep,     ///< the connection serves the next request
    kClose,    ///< closed in order
    kReset,    ///< closed with a TCP reset
    kSilence,  ///< nothing more comes, and nothing closes
    kEndless,  ///< `again` follows until the client closes
  };

  std::vector<std::string> pieces = {};  ///< each written by itself
  End end = End::kKeep;
  std::string again = {};
  std::chrono::microseconds pause{0};  ///< before each piece, and each `again`
  Hope hope = Hope::kWell;
  std::vector<std::string_view> kinds = {};  ///< empty: any
};

/// What there is to spoil.
struct Scene {
  std::string_view protocol;
  bool stream = false;
  WireAnswer good;
  WireAnswer other_shape;  ///< the same words, whole instead of streamed or the other way round
  WireAnswer foreign;      ///< the same words in another protocol
  std::string poison;      ///< a whole reply with other words: the answer to another request
  std::string key;
};

struct Misdeed {
  std::string_view name;
  unsigned weight;  ///< how often, relative to the others
  Reply (*reply)(const Scene& scene, Random& random);
  bool waits = false;    ///< ends by one of the client's time limits
  bool refused = false;  ///< nobody listens
  bool poisons = false;  ///< the connection holds more than was asked for
  bool endless = false;  ///< ends by the turn's own time limit
};

const std::vector<Misdeed>& misdeeds();
const Misdeed& any_misdeed(Random& random);

/// The answer as it should be, framed in one of the ways of HTTP.
Reply good_reply(const Scene& scene, Random& random);

}  // namespace praxis::faults::endpoint
