// Reads the members of a JSON object into variables and reports invalid and unknown members.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// Each function leaves its value unchanged if the member is absent or invalid. The first error is kept.
/// Members that were never requested are unknown. `table` must outlive the reader.
class FieldReader {
 public:
  /// `path` names the object in errors.
  FieldReader(const Json& table, std::string path);

  void text(std::string_view name, std::string& value);
  void flag(std::string_view name, bool& value);
  /// An integer number of tokens, up to 10^12.
  void tokens(std::string_view name, std::int64_t& value);
  /// An array of strings, or one string.
  void texts(std::string_view name, std::vector<std::string>& value);
  /// Merges the member's entries into `value`.
  void text_map(std::string_view name, std::map<std::string, std::string>& value);
  /// Merges the member's entries into `value`.
  void object(std::string_view name, Json& value);
  /// Returns the raw member for the caller to read; null if absent.
  const Json& any(std::string_view name);

  /// Records an error that the caller found.
  void refuse(std::string_view name, std::string_view must_be);
  /// Error `kInput`: the first error, or a member that was never requested (names the nearest known one).
  Status finish() const;

 private:
  const Json* find(std::string_view name);

  const Json& table_;
  const std::string path_;
  std::vector<std::string> known_;
  std::optional<Error> mistake_;
};

}  // namespace praxis
