#include "models/wire/chat/dialect.hpp"

namespace praxis::wire::chat {

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  if (const Status read = read_settings(flags, "dialect", dialect); !read) return fail(read.error());
  if (!dialect.request.is_object()) return misfit("dialect.request", "must be an object");
  return dialect;
}

}  // namespace praxis::wire::chat
