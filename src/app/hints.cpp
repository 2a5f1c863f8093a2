#include "app/hints.hpp"

#include <utility>

namespace praxis::app {

Error with_hint(Error error, std::string_view hint) {
  if (!error.detail.is_object()) error.detail = JsonObject{};
  error.detail.get_object()["hint"] = hint;
  return error;
}

Error usage_error(std::string message, std::string hint) {
  Error error{ErrorCode::kInput, std::move(message), false, nullptr, nullptr};
  return hint.empty() ? error : with_hint(std::move(error), hint);
}

}  // namespace praxis::app
