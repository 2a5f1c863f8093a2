#include "core/backoff.hpp"

#include <algorithm>
#include <string>

namespace praxis {

Millis backoff(Millis first, const SessionId& session, const EffectId& effect, std::uint32_t failed) {
  constexpr Millis kLongest{30'000};
  const Millis full = std::min(first * (1 << std::min(failed - 1, 6U)), kLongest);
  const Digest draw = digest_of(session.str() + effect.str() + std::to_string(failed));
  return full / 2 + full / 2 * draw.bytes[0] / 255;
}

}  // namespace praxis
