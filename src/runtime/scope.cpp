#include "runtime/scope.hpp"

#include <algorithm>
#include <utility>

namespace praxis {

Scope narrowed(const Scope& above, Narrowing by) {
  Scope scope = above;
  scope.cancellation = std::move(by.cancellation);
  scope.deadline = std::min(above.deadline, by.deadline);
  if (by.budget) scope.budget = std::move(by.budget);
  scope.permissions.push_back(std::move(by.policy));
  scope.trace = by.trace;
  return scope;
}

}  // namespace praxis
