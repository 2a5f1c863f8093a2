// Differences among models of the Gemini protocol, as data: another model is another table row.
#pragma once

#include <cstdint>

#include "praxis/base/result.hpp"
#include "praxis/json/describe.hpp"

namespace praxis::wire::gemini {

/// How the amount of reasoning is set: by a level, by a token budget, or not at all.
enum class Thinking : std::uint8_t { kLevel, kBudget, kNone };
PRAXIS_ENUM(Thinking, kLevel, kBudget, kNone)

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names. The defaults fit
/// models of the third generation and later.
struct Dialect {
  Thinking thinking = Thinking::kLevel;  ///< `level`, `budget` or `none`
  bool requires_signatures = true;       ///< rejects the first call of a step without its signature
  bool media_results = true;             ///< accepts images and files in a tool result
  bool schema_with_tools = true;         ///< can enforce an answer schema while tools are offered
  bool json_schema = true;               ///< false: accepts schemas only in a subset of OpenAPI
};
PRAXIS_FIELDS(Dialect, thinking, requires_signatures, media_results, schema_with_tools, json_schema)

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::wire::gemini
