// Asks the user whether the tools of an agent may reach the home folder.
#pragma once

#include "app/home_folder.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// Accepts if `allowed` (`--allow-home`), or if the user says so at the terminal, once; otherwise error
/// `kInput`, with the flag that would accept it.
app::HomeAcceptance home_acceptance(bool allowed, Console& console);

}  // namespace praxis::cli
