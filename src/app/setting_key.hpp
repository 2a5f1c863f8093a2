// The keys that a TOML file may have, as data: files are checked against them and their JSON Schema is made
// from them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/toml_document.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/agent_spec.hpp"

namespace praxis {

struct SettingKey {
  enum class Type : std::uint8_t {
    kText,      ///< not empty; one of `choices` if there are any
    kTexts,     ///< an array of strings
    kWhole,     ///< from `least` to `most`
    kNumber,    ///< from `least` to `most`
    kDuration,  ///< "5m", or whole milliseconds
    kFlag,      ///< true or false
    kTable,     ///< with keys of its own in the list, or none
    kAnyTable,  ///< with whatever its author likes
    kTables,    ///< an array of tables that somebody else checks
  };

  std::string_view path;  ///< dotted; `*` stands for any name
  Type type;
  std::string_view description;
  std::string_view choices = {};  ///< separated by `|`
  double least = 0;
  double most = 0;
  /// What a project, which may be somebody else's, must not do by setting this; empty: it may.
  std::string_view own = {};
};

/// The keys of a `[limits]` table.
std::span<const SettingKey> limit_keys();
/// The limits that a checked `[limits]` table sets; others have their defaults.
Limits limits_from_table(const Json& table);

/// `must be ..., not ...` when the value does not fit the key; empty when it does.
std::string why_unfit(const SettingKey& key, const Json& value);
/// Whose file it is decides which keys it may have.
enum class FileOwner : std::uint8_t { kUser, kProject };
/// Error `kInput` at the first unknown key (with the nearest known one), unfit value, or key that is not for
/// the owner of the file.
Status check_keys(const TomlDocument& document, std::span<const SettingKey> keys,
                  FileOwner owner = FileOwner::kUser);
/// The JSON Schema (2020-12) of a file with these keys.
Json schema_of_keys(std::span<const SettingKey> keys, std::string_view id, std::string_view title);

/// A checked value of type `kDuration`; zero when absent.
Millis duration_of(const Json& value);
/// A checked value of type `kTexts`; empty when absent.
std::vector<std::string> texts_of(const Json& value);

}  // namespace praxis
