// The agents that ship in the program, as plain agent files. An agent of the user or of a trusted project
// with the same name comes first.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::app {

struct Preset {
  std::string_view name;
  std::string_view about;  ///< one line
  std::string_view text;   ///< of the agent file
};

/// All presets, sorted by name.
std::span<const Preset> presets();
/// Null for an unknown name.
const Preset* find_preset(std::string_view name);
/// Writes the preset to a file of the user's state folder and returns its path. Each version has a file of
/// its own, so that a run finds the one that it began with. Error `kInput`: the file cannot be written.
Result<std::string> preset_file(const Preset& preset);

}  // namespace praxis::app
