// The keys of configuration files (docs/configuration.md).
#pragma once

#include <span>
#include <string>

#include "app/setting_key.hpp"

namespace praxis::app {

/// Keys with one value, which flags and environment variables can set too.
std::span<const SettingKey> scalar_keys();
/// These, and the facts about providers and models.
std::span<const SettingKey> config_keys();
/// The JSON Schema of a configuration file, published as share/praxis/config.schema.json.
Json config_schema();
/// The value of a scalar key that no layer gives; empty: no such value.
std::string_view built_in_value(std::string_view path);
/// `PRAXIS_LIMITS_MAX_STEPS` for `limits.max_steps`.
std::string variable_of(const SettingKey& key);

}  // namespace praxis::app
