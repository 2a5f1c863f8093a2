// A compiled JSON Schema: a graph of nodes with every reference resolved. Nodes point at each other, in
// cycles where a schema is recursive; `CompiledSchema` owns them all, and nothing changes after compilation.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

struct SchemaNode;
using NodeList = std::vector<const SchemaNode*>;
using NamedNodes = std::vector<std::pair<std::string, const SchemaNode*>>;

/// A schema with a URI of its own: the document, or a part of it with an `$id`.
struct SchemaResource {
  std::string uri;
  bool asserts = true;  ///< false when its `$schema` omits the validation vocabulary
  /// From `$anchor` and `$dynamicAnchor`.
  std::map<std::string, const SchemaNode*, std::less<>> anchors;
  /// From `$dynamicAnchor` only.
  std::map<std::string, const SchemaNode*, std::less<>> dynamic_anchors;
};

/// Bounds of a length or a count.
struct SizeRange {
  std::size_t min = 0;
  std::size_t max = std::numeric_limits<std::size_t>::max();
};

// Rules for one type of instance. A null node means the keyword is absent.

struct NumberRules {
  std::optional<Json> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
};

struct StringRules {
  SizeRange length;
  std::unique_ptr<const re2::RE2> pattern;
};

struct ArrayRules {
  SizeRange size;
  bool unique = false;
  NodeList prefix;
  const SchemaNode* items = nullptr;
  const SchemaNode* contains = nullptr;
  SizeRange contains_count{.min = 1};
};

struct ObjectRules {
  SizeRange size;
  std::vector<std::string> required;
  NamedNodes properties;
  std::vector<std::pair<std::unique_ptr<const re2::RE2>, const SchemaNode*>> pattern_properties;
  const SchemaNode* additional = nullptr;
  const SchemaNode* names = nullptr;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  NamedNodes dependent_schemas;
};

/// The values of `enum`, or the one of `const`, as canonical text: equal texts mean equal values.
struct AllowedValues {
  std::vector<std::string> texts;
};

/// One schema: an object, or a boolean.
struct SchemaNode {
  SchemaResource* resource = nullptr;
  bool never = false;  ///< the schema `false`

  const SchemaNode* ref = nullptr;
  const SchemaNode* dynamic_ref = nullptr;
  std::string
      dynamic_anchor;  ///< when not empty, the outermost resource with this anchor decides `dynamic_ref`

  std::uint8_t types = 0;  ///< a bit for each of `kSchemaTypes`; 0 allows all
  std::vector<AllowedValues> allowed;
  std::optional<NumberRules> number;
  std::optional<StringRules> string;
  std::optional<ArrayRules> array;
  std::optional<ObjectRules> object;

  NodeList all_of, any_of, one_of;
  const SchemaNode* not_ = nullptr;
  const SchemaNode* if_ = nullptr;
  const SchemaNode* then_ = nullptr;
  const SchemaNode* else_ = nullptr;
  const SchemaNode* unevaluated_items = nullptr;
  const SchemaNode* unevaluated_properties = nullptr;
};

inline constexpr std::string_view kSchemaTypes[] = {"null",   "boolean", "integer", "number",
                                                    "string", "array",   "object"};

struct CompiledSchema {
  std::deque<SchemaNode> nodes;  // deques: growing moves no element
  std::deque<SchemaResource> resources;
  const SchemaNode* root = nullptr;
};

}  // namespace praxis
