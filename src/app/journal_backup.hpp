// Copies the journal in a file, and the stores next to it, to a new folder while runs go on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "journal/acknowledged.hpp"

namespace praxis::app {

struct BackedUpFile {
  std::string what;  ///< as messages call it: `journal`, `memory`, ...
  std::string path;  ///< of the copy
  std::uint64_t bytes = 0;
};

struct JournalBackup {
  std::vector<BackedUpFile> files;
  JournalHead head;  ///< where the journal was when the backup began; the copy is there or further
};

/// Makes `folder`, with mode 0700, which must not exist, and the copies in it: `journal.db`,
/// `journal.db.files`, `journal.db.schedules`, `journal.db.push`, `prompts.db` and `memory.db`, those that
/// there are. Sealed files stay sealed. The journal is copied first: what a record says that a store has is
/// then in the copy of the store. Each copy is read once more; that of the journal must have what was
/// acknowledged when the backup began. After an error there is no `folder`; a kill leaves
/// `<folder>.partial-XXXXXX`. Errors `kInput` (the folder exists, its parent does not; the journal is no
/// file), `kJournal`.
Result<JournalBackup> back_up_journal(const Workspace& workspace, const std::string& folder);

}  // namespace praxis::app
