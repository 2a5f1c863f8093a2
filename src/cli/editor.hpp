// Lets the user edit a text in the editor that VISUAL or EDITOR names.
#pragma once

#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::cli {

/// Opens `text` in the user's editor, `vi` by default, on a private temporary file whose name ends in
/// `suffix`; returns what the user saved. Standard input must be the terminal. Error `kInput`: the file or
/// the editor cannot be used, or the editor failed.
Result<std::string> edit_text(std::string_view text, std::string_view suffix);

}  // namespace praxis::cli
