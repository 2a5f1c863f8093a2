#include "praxis/memory/filter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace praxis {

enum class FilterOp : std::uint8_t { kEq, kNe, kLt, kIn, kExists, kAnd, kOr, kNot };

struct FilterNode {
  FilterOp op = FilterOp::kAnd;
  std::vector<std::string> path;  ///< of operators on a member
  Json operand;                   ///< of operators that compare
  std::vector<FilterNode> parts;  ///< of `and`, `or`, `not`
};

namespace {

struct OperatorForm {
  std::string_view name;
  FilterOp op;
  std::string_view takes;
};
constexpr std::array<OperatorForm, 8> kOperators{{{"eq", FilterOp::kEq, "[PATH, VALUE]"},
                                                  {"ne", FilterOp::kNe, "[PATH, VALUE]"},
                                                  {"lt", FilterOp::kLt, "[PATH, VALUE]"},
                                                  {"in", FilterOp::kIn, "[PATH, [VALUE, ...]]"},
                                                  {"exists", FilterOp::kExists, "a PATH"},
                                                  {"and", FilterOp::kAnd, "an array of filters"},
                                                  {"or", FilterOp::kOr, "an array of filters"},
                                                  {"not", FilterOp::kNot, "a filter"}}};

std::string filter_op_names() {
  std::string names;
  for (const OperatorForm& form : kOperators) names.append(names.empty() ? "" : ", ").append(form.name);
  return names;
}

class FilterReader {
 public:
  Result<FilterNode> read(const Json& json, std::size_t depth) {
    if (depth > Filter::kMaxDepth || ++count_ > Filter::kMaxOperators) {
      return fail(ErrorCode::kInput, "the filter is too large: at most " +
                                         std::to_string(Filter::kMaxOperators) + " operators, " +
                                         std::to_string(Filter::kMaxDepth) + " deep");
    }
    const JsonObject* object = json.if_object();
    if (object == nullptr || object->size() != 1) {
      return fail(ErrorCode::kInput,
                  "a filter is an object with exactly one of these operators: " + filter_op_names());
    }
    const std::string_view name = object->begin()->key();
    const auto* form = std::ranges::find(kOperators, name, &OperatorForm::name);
    if (form == kOperators.end()) {
      return fail(ErrorCode::kInput, "the filter has no operator \"" + std::string(name) +
                                         "\"; it has these: " + filter_op_names());
    }
    return read_operand(*form, object->begin()->value(), depth);
  }

 private:
  static std::unexpected<Error> wrong(const OperatorForm& form) {
    return fail(ErrorCode::kInput, "the operator \"" + std::string(form.name) + "\" of a filter takes " +
                                       std::string(form.takes));
  }

  static bool read_path(const Json& json, std::vector<std::string>& path) {
    if (json.is_string()) {
      path.emplace_back(json.get_string());
      return true;
    }
    const JsonArray* names = json.if_array();
    if (names == nullptr || names->empty() || names->size() > Filter::kMaxDepth) return false;
    for (const Json& name : *names) {
      if (!name.is_string()) return false;
      path.emplace_back(name.get_string());
    }
    return true;
  }

  Result<FilterNode> read_operand(const OperatorForm& form, const Json& json, std::size_t depth) {
    FilterNode node{form.op, {}, nullptr, {}};
    if (form.op == FilterOp::kExists) {
      if (!read_path(json, node.path)) return wrong(form);
      return node;
    }
    if (form.op == FilterOp::kNot) return read_parts(std::move(node), JsonArray{json}, depth);
    const JsonArray* list = json.if_array();
    if (list == nullptr) return wrong(form);
    if (form.op == FilterOp::kAnd || form.op == FilterOp::kOr)
      return read_parts(std::move(node), *list, depth);
    if (list->size() != 2 || !read_path((*list)[0], node.path)) return wrong(form);
    node.operand = (*list)[1];
    if (form.op == FilterOp::kIn && !node.operand.is_array()) return wrong(form);
    return node;
  }

  Result<FilterNode> read_parts(FilterNode node, const JsonArray& list, std::size_t depth) {
    for (const Json& part : list) {
      auto read_part = read(part, depth + 1);
      if (!read_part) return read_part;
      node.parts.push_back(*std::move(read_part));
    }
    return node;
  }

  std::size_t count_ = 0;
};

const Json* member_at(const Json& value, const std::vector<std::string>& path) {
  const Json* at = &value;
  for (const std::string& name : path) {
    const JsonObject* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

/// Numbers of different types are the same if their values are.
bool is_same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number() && (a.is_double() || b.is_double()))
    return a.to_number<double>() == b.to_number<double>();
  return a == b;
}

bool is_less(const Json& a, const Json& b) {
  if (a.is_string() && b.is_string()) return std::string_view(a.get_string()) < b.get_string();
  if (!a.is_number() || !b.is_number()) return false;
  if (a.is_double() || b.is_double()) return a.to_number<double>() < b.to_number<double>();
  if (a.is_int64() && a.get_int64() < 0) return !(b.is_int64() && b.get_int64() <= a.get_int64());
  if (b.is_int64() && b.get_int64() < 0) return false;
  return a.to_number<std::uint64_t>() < b.to_number<std::uint64_t>();
}

bool holds(const FilterNode& node, const Json& value) {
  const auto part_holds = [&](const FilterNode& part) { return holds(part, value); };
  const Json* member = node.path.empty() ? nullptr : member_at(value, node.path);
  switch (node.op) {
    case FilterOp::kEq:
      return member != nullptr && is_same(*member, node.operand);
    case FilterOp::kNe:
      return member == nullptr || !is_same(*member, node.operand);
    case FilterOp::kLt:
      return member != nullptr && is_less(*member, node.operand);
    case FilterOp::kIn:
      return member != nullptr && std::ranges::any_of(node.operand.get_array(), [&](const Json& each) {
               return is_same(*member, each);
             });
    case FilterOp::kExists:
      return member != nullptr;
    case FilterOp::kAnd:
      return std::ranges::all_of(node.parts, part_holds);
    case FilterOp::kOr:
      return std::ranges::any_of(node.parts, part_holds);
    case FilterOp::kNot:
      return !std::ranges::any_of(node.parts, part_holds);
  }
  std::unreachable();
}

}  // namespace

Result<Filter> Filter::parse(const Json& json) {
  if (json.is_null() || (json.is_object() && json.get_object().empty())) return Filter();
  auto root = FilterReader().read(json, 1);
  if (!root) return fail(std::move(root.error()));
  return Filter(std::make_shared<const FilterNode>(*std::move(root)));
}

bool Filter::matches(const Json& value) const { return root_ == nullptr || holds(*root_, value); }

}  // namespace praxis
