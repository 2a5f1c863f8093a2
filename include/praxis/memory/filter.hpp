// A condition on the JSON value of a note, as data. It is never part of a query's text: the stores evaluate
// it on the values, so that names and operands may contain anything.
#pragma once

#include <memory>

#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct FilterNode;  // private

/// An immutable value; copies share their content. The JSON form is an object with one operator:
///
///     {"eq": [PATH, VALUE]}   {"ne": [PATH, VALUE]}   {"lt": [PATH, VALUE]}   {"in": [PATH, [VALUE, ...]]}
///     {"exists": PATH}        {"and": [FILTER, ...]}  {"or": [FILTER, ...]}   {"not": FILTER}
///
/// PATH is the name of a member, or an array of names that leads into nested objects. Numbers compare by
/// their value, strings by their bytes. `eq`, `lt` and `in` are false for a member that is missing or of
/// another type; `ne` is the opposite of `eq`.
class Filter {
 public:
  /// At most this many operators, and this deep.
  static constexpr std::size_t kMaxOperators = 256, kMaxDepth = 16;

  /// Matches everything.
  Filter() = default;
  /// `null` and `{}` match everything. Error `kInput`: says which operator is wrong and what it takes.
  static Result<Filter> parse(const Json& json);

  bool matches(const Json& value) const;
  bool matches_all() const { return root_ == nullptr; }

 private:
  explicit Filter(std::shared_ptr<const FilterNode> root) : root_(std::move(root)) {}

  std::shared_ptr<const FilterNode> root_;  ///< null: matches everything
};

}  // namespace praxis
#pragma GCC visibility pop
