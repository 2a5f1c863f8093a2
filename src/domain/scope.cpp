#include "praxis/domain/scope.hpp"

#include <algorithm>

namespace praxis {
namespace {

template <class T>
std::optional<T> lower(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return a ? a : b;
  return *b < *a ? b : a;
}

}  // namespace

bool Scope::cancelled() const {
  return std::ranges::any_of(cancellation, [](const std::stop_token& stop) { return stop.stop_requested(); });
}

Scope narrowed(const Scope& above, const Narrowing& by) {
  Scope scope = above;
  if (by.cancellation.stop_possible()) scope.cancellation.push_back(by.cancellation);
  scope.deadline = lower(above.deadline, by.deadline);
  scope.budget = {lower(above.budget.cost, by.budget.cost), lower(above.budget.tokens, by.budget.tokens),
                  lower(above.budget.tool_calls, by.budget.tool_calls),
                  lower(above.budget.steps, by.budget.steps)};
  if (by.permissions) scope.permissions.push_back(*by.permissions);
  scope.trace = span_below(above.trace, by.span, 0);
  return scope;
}

}  // namespace praxis
