// Makes a program's output safe to display.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// Replaces invalid UTF-8 and direction marks, shows control characters except tab and line feed as symbols
/// (`␛` for escape), and drops carriage returns before line feeds.
std::string visible_text(std::string_view bytes);

}  // namespace praxis
