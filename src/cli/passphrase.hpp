// Asks for a passphrase at the terminal.
#pragma once

#include "app/journal_key.hpp"

namespace praxis::cli {

/// Asks at the terminal of the process, without showing what is typed; twice if `repeats`. Null without a
/// terminal.
app::AskPassphrase passphrase_prompt(bool repeats);

}  // namespace praxis::cli
