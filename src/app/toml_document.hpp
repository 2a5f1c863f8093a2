// A TOML file as JSON with source positions, so that an error found later can name its line. Readers of
// settings use this class and do not depend on TOML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis {

/// Upper bound on the size of a file.
inline constexpr std::size_t kMaxTomlBytes = 1024 * 1024;

class TomlDocument {
 public:
  /// `name` identifies the file in errors. Error `kInput` with line and column; dates and times are rejected.
  static Result<TomlDocument> parse(std::string_view text, std::string name);

  const std::string& name() const { return name_; }
  /// Members in the order of the file.
  const Json& json() const { return json_; }
  /// The value at a dotted path such as `limits.max_steps`; null if absent.
  const Json& at(std::string_view path) const;

  /// Error `kInput`: `file:line:column: what`, for the key or value at `path`; elements of arrays are
  /// `plan[2]`.
  std::unexpected<Error> mistake(const std::string& path, std::string_view what) const;

 private:
  struct Place {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
  };
  class Reader;

  std::string name_;
  Json json_;
  std::map<std::string, Place> places_;
};

}  // namespace praxis
