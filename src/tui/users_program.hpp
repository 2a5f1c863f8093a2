// How a chat runs programs that its user has configured.
#pragma once

#include <string>
#include <vector>

#include "praxis/process/process.hpp"

namespace praxis::tui {

/// Such a program in the folder and with the whole environment of the chat.
ProcessSpec users_program(std::vector<std::string> argv);

}  // namespace praxis::tui
