// Prices of calls. Sums are exact and rounded once, at the end.
#include <algorithm>

#include "praxis/models/catalog.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
// An upper bound on plausible token counts; with the bound on prices, sums fit into 64 bits.
constexpr std::int64_t kMostTokens = 1'000'000'000;

const Prices& prices_for(const std::vector<Prices>& tiers, std::int64_t input) {
  const Prices* found = &tiers.front();
  for (const Prices& tier : tiers) {
    if (input > tier.above) found = &tier;
  }
  return *found;
}

MicroUsd either(MicroUsd own, MicroUsd input) { return own.value != 0 ? own : input; }

}  // namespace

MicroUsd price_of(const ModelFacts& facts, const Usage& usage) {
  if (facts.prices.empty()) return {};
  const std::int64_t input = std::clamp<std::int64_t>(usage.input, 0, kMostTokens);
  const std::int64_t read = std::clamp<std::int64_t>(usage.cache_read, 0, input);
  const std::int64_t written = std::clamp<std::int64_t>(usage.cache_write, 0, input - read);
  const std::int64_t kept_long = std::clamp<std::int64_t>(usage.cache_write_long, 0, written);
  const std::int64_t output = std::clamp<std::int64_t>(usage.output, 0, kMostTokens);

  const Prices& price = prices_for(facts.prices, input);
  const std::int64_t long_price = price.cache_write.value != 0 ? 2 * price.input.value : price.input.value;
  const std::int64_t millionths = (input - read - written) * price.input.value +
                                  read * either(price.cache_read, price.input).value +
                                  (written - kept_long) * either(price.cache_write, price.input).value +
                                  kept_long * long_price + output * price.output.value;
  return {(millionths + kMillion / 2) / kMillion};
}

}  // namespace praxis
