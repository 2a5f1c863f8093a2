// The arguments of a call in the order and the form in which an approver reads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::app {

/// A line before it is broken to a width.
struct ShownLine {
  bool is_text = false;  ///< a line of a text with several lines, rather than `NAME: VALUE`
  std::string shown;     ///< one line of printable characters
  bool is_note = false;  ///< about the lines before; no part of the call
};

/// One argument of a call.
struct ShownArgument {
  bool decides = false;   ///< what the call does or where: program, method, address, path
  std::size_t bytes = 0;  ///< length of the value: of a string, or of its JSON
  std::string digest;     ///< of the same, the start of it in hexadecimal
  std::vector<ShownLine> lines;
};

/// Returns the arguments: first those that decide, in order of importance, then the others by length. Text
/// that is not a JSON object, or in which a key is repeated, is one argument that says so.
std::vector<ShownArgument> shown_arguments(std::string_view tool, std::string_view arguments);

}  // namespace praxis::app
