// Prompts in a SQLite file that is sealed if there is a key.
#pragma once

#include <memory>
#include <string>

#include "praxis/prompts/prompt_store.hpp"
#include "store/sqlite_file.hpp"

namespace praxis {

/// What the file of prompts is.
const SqliteFileForm& prompts_form();

/// As `sqlite_prompts`, with the key of a sealed file. Error `kJournal` also `key`.
Result<std::shared_ptr<PromptStore>> sealed_prompts(const std::string& path, PromptStoreOptions options,
                                                    const AskStoreSecret& secret);

}  // namespace praxis
