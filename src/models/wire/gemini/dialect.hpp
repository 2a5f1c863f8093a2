// How models of the Gemini protocol differ: data, so that another one is another row.
#pragma once

#include <cstdint>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::gemini {

/// How much a model is to think is said by a level, by a number of tokens, or not at all.
enum class Thinking : std::uint8_t { kLevel, kBudget, kNone };

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names. The defaults are right
/// for the third generation of models and later ones.
struct Dialect {
  Thinking thinking = Thinking::kLevel;  ///< `level`, `budget` or `none`
  bool requires_signatures = true;       ///< the first call of a step is refused without its signature
  bool media_results = true;             ///< takes images and files within a tool's result
  bool schema_with_tools = true;         ///< can be held to an answer's schema while it is offered tools
  bool json_schema = true;               ///< false: takes schemas only in a subset of OpenAPI's
};

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::gemini
