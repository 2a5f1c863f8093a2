// Reads the members of a JSON object into values and says which of them is wrong or unknown.
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

/// Each function leaves its value as it is when the member is absent or unfit. The first mistake is kept; the
/// members asked for are the known ones. `table` has to outlive the reader.
class FieldReader {
 public:
  /// `path` names the object in errors.
  FieldReader(const Json& table, std::string path);

  void text(std::string_view name, std::string& value);
  void flag(std::string_view name, bool& value);
  /// A whole number of tokens, up to 10^12.
  void tokens(std::string_view name, std::int64_t& value);
  /// An array of texts, or one text.
  void texts(std::string_view name, std::vector<std::string>& value);
  /// Members are laid over those that `value` has.
  void text_map(std::string_view name, std::map<std::string, std::string>& value);
  /// Members are laid over those that `value` has.
  void object(std::string_view name, Json& value);
  /// The member as it is, for the caller to read; null when absent.
  const Json& any(std::string_view name);

  /// Keeps a mistake that the caller has found.
  void refuse(std::string_view name, std::string_view must_be);
  /// Error `kInput`: the first mistake, or a member that nobody has asked for, with the nearest known one.
  Status finish() const;

 private:
  const Json* find(std::string_view name);

  const Json& table_;
  const std::string path_;
  std::vector<std::string> known_;
  std::optional<Error> mistake_;
};

}  // namespace praxis
