// How Ollama servers and their models differ: data, so that another one is another row.
#pragma once

#include <cstdint>
#include <optional>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::ollama {

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  /// Tokens of context to ask for, because the server cuts a longer prompt without a word; 0 leaves it the
  /// server's own. Unset: the model's context window, where that is known.
  std::optional<std::int64_t> num_ctx = std::nullopt;
};

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::ollama
