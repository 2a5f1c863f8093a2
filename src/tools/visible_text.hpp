// Bytes of a program's output as text that does nothing but be read.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// UTF-8 in which what is none is replaced, control characters but tab and line feed are shown as their
/// pictures
/// (`␛` for escape), and marks that turn the direction of text are replaced. Carriage returns before a line
/// feed are dropped.
std::string visible_text(std::string_view bytes);

}  // namespace praxis
