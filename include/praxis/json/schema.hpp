// JSON Schema, draft 2020-12: checks tool arguments and structured answers, and says what is wrong in words
// that a model can act on. Nothing is ever fetched: `$ref` reaches the schema itself and the documents handed
// in with it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis {

struct CompiledSchema;

/// One way in which a value does not fit.
struct SchemaProblem {
  std::string path;     ///< JSON pointer to the value at fault: `/cities/0/name`; empty for the whole
  std::string message;  ///< without the path: `expected string, got number 5`; quotes no string of the value
};

/// A compiled schema. A value that is cheap to copy; thread-safe.
///
/// All of core, applicators, unevaluated and validation is there; `format` and the `content` keywords are
/// annotations and check nothing. Unknown keywords are ignored. Patterns are RE2's: no look-around, no
/// back-references.
class JsonSchema {
 public:
  /// Documents that a `$ref` may name, by absolute URI without a fragment.
  using Documents = std::map<std::string, Json>;

  /// Error `kInput`: a keyword of the wrong form, a pattern RE2 refuses, or a `$ref` to nowhere; names the
  /// place.
  static Result<JsonSchema> compile(const Json& schema, const Documents& documents = {});

  /// What is wrong with `instance`; empty when it is valid. Stops looking after `max_problems` (at least 1).
  /// Work and recursion are bounded whatever the schema: beyond the bound the instance counts as invalid.
  std::vector<SchemaProblem> validate(const Json& instance, std::size_t max_problems = 16) const;

 private:
  explicit JsonSchema(std::shared_ptr<const CompiledSchema> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const CompiledSchema> compiled_;
};

}  // namespace praxis
