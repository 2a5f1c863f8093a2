// For tests that need the value of a result, and cannot go on without it.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "praxis/base/result.hpp"

namespace praxis::testing {

/// Returns the value; throws the message of an error.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace praxis::testing
