// The author of commands from the command line.
#pragma once

#include "praxis/domain/author.hpp"

namespace praxis::cli {

/// The user who runs this process, by login name or else as `uid N`, at the command line.
Author cli_author();

}  // namespace praxis::cli
