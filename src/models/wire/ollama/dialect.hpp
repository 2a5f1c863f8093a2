// Differences among Ollama servers and their models, as data: another one is another table row.
#pragma once

#include <cstdint>
#include <optional>

#include "praxis/base/result.hpp"
#include "praxis/json/describe.hpp"

namespace praxis::wire::ollama {

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  /// Requested context size in tokens, because the server silently truncates a longer prompt; 0: the server's
  /// default. Unset: the model's context window, if known.
  std::optional<std::int64_t> num_ctx = std::nullopt;
};
PRAXIS_FIELDS(Dialect, num_ctx)

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::wire::ollama
