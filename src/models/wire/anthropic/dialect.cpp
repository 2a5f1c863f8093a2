#include "models/wire/anthropic/dialect.hpp"

#include <limits>

namespace praxis::wire::messages {

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  if (const Status read = read_settings(flags, "dialect", dialect); !read) return fail(read.error());
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (dialect.max_tokens <= 0) return misfit("dialect.max_tokens", must_be_integer(1, kMost));
  return dialect;
}

}  // namespace praxis::wire::messages
