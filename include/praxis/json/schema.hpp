// JSON Schema, draft 2020-12: validates tool arguments and structured answers, with messages that a model can
// act on. Never fetches anything: a `$ref` may name only the schema itself and the documents passed with it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct CompiledSchema;

/// One violation of the schema.
struct SchemaProblem {
  /// JSON pointer to the offending value: `/cities/0/name`; empty for the whole document.
  std::string path;
  /// Without the path: `expected string, got number 5`. Quotes no string of the value.
  std::string message;
};

/// A compiled schema. Cheap to copy; thread-safe.
///
/// Implements the core, applicator, unevaluated and validation vocabularies; `format` and the `content`
/// keywords are annotations and check nothing. Ignores unknown keywords. Patterns are RE2's: no look-around,
/// no back-references.
class JsonSchema {
 public:
  /// Documents that a `$ref` may name, keyed by absolute URI without a fragment.
  using Documents = std::map<std::string, Json>;

  /// Error `kInput` for a malformed keyword, a pattern that RE2 refuses, or an unresolvable `$ref`; the
  /// message names the place.
  static Result<JsonSchema> compile(const Json& schema, const Documents& documents = {});

  /// Returns the violations of `instance`; empty if it is valid. Stops after `max_problems` (at least 1).
  /// Work and recursion are bounded for every schema: beyond the bound the instance counts as invalid.
  std::vector<SchemaProblem> validate(const Json& instance, std::size_t max_problems = 16) const;

 private:
  explicit JsonSchema(std::shared_ptr<const CompiledSchema> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const CompiledSchema> compiled_;
};

}  // namespace praxis
#pragma GCC visibility pop
