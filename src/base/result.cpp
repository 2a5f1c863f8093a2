#include "praxis/base/result.hpp"

#include <iterator>

namespace praxis {

namespace {

// In the order of the enumerators.
constexpr std::string_view kCodeNames[] = {"model",     "tool",    "policy", "limit",
                                           "cancelled", "journal", "input",  "internal"};

}  // namespace

std::string_view to_string(ErrorCode code) { return kCodeNames[static_cast<std::size_t>(code)]; }

ErrorCode error_code_from(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kCodeNames); ++i) {
    if (kCodeNames[i] == name) return static_cast<ErrorCode>(i);
  }
  return ErrorCode::kInternal;
}

}  // namespace praxis
