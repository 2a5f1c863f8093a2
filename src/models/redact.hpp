// Secrets have no place in errors and recordings.
#pragma once

#include <string>

namespace praxis {

/// `text` with `[key]` wherever the secret stands, also where the text was cut within it. A secret of less
/// than six bytes is a placeholder that occurs in ordinary words: it stays.
std::string redact(std::string text, const std::string& secret);

}  // namespace praxis
