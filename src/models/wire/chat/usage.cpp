#include "models/wire/chat/usage.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace praxis::wire::chat {
namespace {

/// The first positive value: servers spell the fields differently.
std::int64_t first_of(std::initializer_list<std::int64_t> values) {
  for (const std::int64_t value : values) {
    if (value > 0) return value;
  }
  return 0;
}

/// The cost: dollars in `cost.total_cost` or `cost`, or ticks of 1e-10 dollars.
MicroUsd cost_of(const Json& usage) {
  const Json& cost = json_at(usage, "cost");
  const double usd = cost.is_object() ? json_double(cost, "total_cost") : json_double(usage, "cost");
  if (usd > 0) return {std::llround(usd * 1e6)};
  return {std::llround(json_double(usage, "cost_in_usd_ticks") / 1e4)};
}

}  // namespace

Usage read_usage(const Json& usage) {
  const Json& prompt = json_at(usage, "prompt_tokens_details");
  const Json& completion = json_at(usage, "completion_tokens_details");
  Usage out;
  // Some gateways keep the field names of the protocol that they translate from.
  out.input = first_of({json_int(usage, "prompt_tokens"), json_int(usage, "input_tokens")});
  const std::int64_t output =
      first_of({json_int(usage, "completion_tokens"), json_int(usage, "output_tokens")});
  // A total above the sum includes reasoning tokens that the completion count lacks.
  out.output = std::max(output, json_int(usage, "total_tokens") - out.input);
  out.cache_read = first_of({json_int(prompt, "cached_tokens"), json_int(usage, "prompt_cache_hit_tokens"),
                             json_int(usage, "cached_tokens"), json_int(usage, "num_cached_tokens"),
                             json_int(usage, "cache_read_input_tokens")});
  out.cache_write =
      first_of({json_int(prompt, "cache_write_tokens"), json_int(usage, "cache_creation_input_tokens")});
  out.cache_write_long = json_int(json_at(usage, "cache_creation"), "ephemeral_1h_input_tokens");
  out.reasoning = first_of({json_int(completion, "reasoning_tokens"), json_int(usage, "reasoning_tokens")});
  out.cost = cost_of(usage);
  return out;
}

}  // namespace praxis::wire::chat
