#include "app/hints.hpp"

#include <utility>

namespace praxis::app {

Error with_hint(Error error, std::string_view hint) {
  error.set("hint", hint);
  return error;
}

Error usage_error(std::string message, std::string hint) {
  Error error = make_error(ErrorCode::kInput, std::move(message));
  return hint.empty() ? error : with_hint(std::move(error), hint);
}

}  // namespace praxis::app
