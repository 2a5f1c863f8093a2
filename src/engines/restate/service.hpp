// Under which names Restate knows this program.
#pragma once

#include <string_view>

namespace praxis::restate {

/// Below the address of a process, with the form of its batches: a process with another form has another
/// path.
inline constexpr std::string_view kServicePath = "/restate/1";
/// The virtual object whose keys are the roots.
inline constexpr std::string_view kServiceName = "praxis";

}  // namespace praxis::restate
