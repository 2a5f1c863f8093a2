// Opens an address in the user's browser.
#pragma once

#include <string>

namespace praxis::cli {

/// Starts `xdg-open`, which outlives this process, and returns at once. Returns false if there is no such
/// program.
bool open_browser(const std::string& address);

}  // namespace praxis::cli
