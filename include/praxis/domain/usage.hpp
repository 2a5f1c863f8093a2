// Tokens and money.
#pragma once

#include <compare>
#include <cstdint>

#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Money in millionths of a US dollar, so that sums are exact.
struct MicroUsd {
  std::int64_t value = 0;
  auto operator<=>(const MicroUsd&) const = default;
  double usd() const { return static_cast<double>(value) / 1e6; }
};

/// Tokens of one or more model calls. `input` includes tokens read from and written to a cache; `output`
/// includes reasoning (the provider-neutral normal form).
struct Usage {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  /// The part of `cache_write` that is kept for an hour, at a higher price.
  std::int64_t cache_write_long = 0;
  std::int64_t reasoning = 0;
  MicroUsd cost = {};
  bool estimated = false;  ///< at least a part was estimated, not reported by the vendor

  std::int64_t total() const { return input + output; }
  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};
Usage operator+(Usage a, const Usage& b);

/// How a vendor counts the tokens of a request, as far as the text alone does not determine it.
struct TokenCounting {
  std::int64_t percent = 100;  ///< tokens counted for a hundred that the estimator sees
  /// Added to every request that offers tools, in addition to their declarations.
  std::int64_t tool_tokens = 0;
  bool operator==(const TokenCounting&) const = default;
};

/// `{input, output, cache_read, cache_write, reasoning, total, cost_usd, estimated}`; omits zero fields
/// except the first two and the total.
Json to_json(const Usage& usage);
Usage usage_from_json(const Json& json);

}  // namespace praxis
#pragma GCC visibility pop
