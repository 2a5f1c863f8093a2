// The limits of a turn that the command line and the configuration give.
#pragma once

#include <map>
#include <string>

#include "cli/options.hpp"
#include "praxis/app/config.hpp"
#include "praxis/domain/agent_spec.hpp"

namespace praxis::cli {

/// The limits as flags of the configuration.
std::map<std::string, std::string> flags_of(const TurnLimits& limits);
/// Limits of a resumed run: those that it records, replaced by what the flags `given` say, within the bounds
/// of the system's configuration.
Limits limits_given(Limits limits, const TurnLimits& given, const Config& config);

}  // namespace praxis::cli
