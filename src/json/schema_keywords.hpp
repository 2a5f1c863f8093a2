// Reads the keywords of one schema object, each in the form that the specification requires. Keeps the first
// error and continues with a default, so that building a schema needs no error path of its own.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema_node.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// Every reader returns `std::nullopt`, null or the default when the keyword is absent or invalid. Borrows
/// all its arguments.
class SchemaKeywords {
 public:
  SchemaKeywords(const JsonObject& object, const std::string& where, std::optional<Error>& error)
      : object_(object), where_(where), error_(error) {}

  const Json* find(std::string_view key) const { return object_.if_contains(key); }
  bool has_any(std::initializer_list<std::string_view> keys) const;

  const JsonObject* object(std::string_view key) const;
  const JsonArray* array(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::optional<Json> number(std::string_view key) const;
  SizeRange range(std::string_view min_key, std::string_view max_key, std::size_t default_min = 0) const;
  /// The bit set of `type`.
  std::uint8_t types() const;
  /// Compiles a pattern at or below `key`. Never null, but possibly unusable once an error is kept.
  std::unique_ptr<const re2::RE2> pattern(std::string_view key, const std::string& source) const;

  /// Keeps the first error; `key` names the place below the schema object, empty for the object itself.
  void reject(std::string_view key, const std::string& message) const;

 private:
  std::optional<std::size_t> size(std::string_view key) const;

  const JsonObject& object_;
  const std::string& where_;
  std::optional<Error>& error_;
};

/// Keeps "schema at WHERE: MESSAGE" as `error` unless there is one already.
void keep_schema_error(std::optional<Error>& error, const std::string& where, const std::string& message);

}  // namespace praxis
