// The SQLite files next to the journal that one key seals with it: what they are, and how each is sealed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/seal/secret.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis::app {

/// A file that exists.
struct SealedStore {
  const SqliteFileForm* form = nullptr;
  std::string path;
};

/// Kept files, schedules, addresses of A2A, prompts and memory of a workspace, those that are there. Prompts
/// in a folder, and what is in a database, are not among them.
std::vector<SealedStore> stores_of(const Workspace& workspace);

/// How a store is sealed.
struct StoreState {
  SealedStore store;
  Result<std::optional<StoredSeal>> seal;  ///< nothing: it is plain
};
std::vector<StoreState> store_states(const Workspace& workspace);

/// Changes each store in turn; each is in its old or its new state after a kill, so that the same call can be
/// made again. Stops at the first error, which names the file.
Status seal_stores(const Workspace& workspace, const SealSecret& secret, UnixMillis now,
                   const OnStoreSealStep& on_step = {});
Status rekey_stores(const Workspace& workspace, const SealSecret& old_secret, const SealSecret& new_secret,
                    const OnStoreSealStep& on_step = {});
Status renew_store_keys(const Workspace& workspace, const SealSecret& secret, UnixMillis now,
                        const OnStoreSealStep& on_step = {});

}  // namespace praxis::app
