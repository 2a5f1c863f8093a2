// The keys of an agent file, and the JSON Schema that is published as `share/praxis/agent.schema.json`.
#pragma once

#include <span>

#include "app/setting_key.hpp"

namespace praxis {

std::span<const SettingKey> agent_keys();
Json agent_file_schema();

}  // namespace praxis
