// The keys of a TOML file, as data: used to check files and to generate their JSON Schema.
#pragma once

#include <cstdint>
#include <filesystem>
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
    kDuration,  ///< "5m", or an integer of milliseconds
    kFlag,      ///< true or false
    kTable,     ///< has its own keys in the list, or no keys
    kAnyTable,  ///< with arbitrary keys
    kTables,    ///< an array of tables, checked elsewhere
  };

  std::string_view path;  ///< dotted; `*` stands for any name
  Type type;
  std::string_view description;
  std::string_view choices = {};  ///< separated by `|`
  double least = 0;
  double most = 0;
  /// What an untrusted project must not do by setting this key; empty: a project may set it.
  std::string_view own = {};
  std::string_view built_in = {};  ///< the value without any layer; empty: no such value
};

/// The keys of a `[limits]` table.
std::span<const SettingKey> limit_keys();
/// The keys of a `[policy.flow]` table, in agent files and in the configuration.
std::span<const SettingKey> flow_keys();
/// The limits that a checked `[limits]` table sets; others have their defaults.
Limits limits_from_table(const Json& table);

/// What values a key takes, such as `an integer from 1 to 10`.
std::string what_fits(const SettingKey& key);
/// `must be ..., not ...` if the value is invalid for the key; empty if it is valid.
std::string why_unfit(const SettingKey& key, const Json& value);
/// The owner of a file determines which keys it may have.
enum class FileOwner : std::uint8_t { kUser, kProject };
/// Error `kInput` at the first unknown key (names the nearest known one), invalid value, or key that the
/// owner must not set.
Status check_keys(const TomlDocument& document, std::span<const SettingKey> keys,
                  FileOwner owner = FileOwner::kUser);
/// The JSON Schema (2020-12) of a file with these keys.
Json schema_of_keys(std::span<const SettingKey> keys, std::string_view id, std::string_view title);

/// A checked value of type `kDuration`; zero if absent.
Millis duration_of(const Json& value);
/// A checked value of type `kTexts`; empty if absent.
std::vector<std::string> texts_of(const Json& value);
/// The same of paths, which begin in `folder`.
std::vector<std::string> paths_of(const Json& value, const std::filesystem::path& folder);

}  // namespace praxis
