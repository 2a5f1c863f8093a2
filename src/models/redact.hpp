// Keeps secrets out of errors and recordings.
#pragma once

#include <string>

namespace praxis {

/// Replaces `secret` in `text` by `[key]`, also where the text was cut within the secret. A secret of less
/// than six bytes is a placeholder that could occur in ordinary words, so it is kept.
std::string redact(std::string text, const std::string& secret);

}  // namespace praxis
