// The keys of an agent file, and the JSON Schema that is published as `share/praxis/agent.schema.json`.
#pragma once

#include <span>

#include "app/setting_key.hpp"

namespace praxis {

std::span<const SettingKey> agent_keys();
/// Error `kInput`: as `check_keys`, or an id that cannot stand in paths such as `lead/research` and in lists
/// of words.
Status check_agent_keys(const TomlDocument& document);
Json agent_file_schema();

}  // namespace praxis
