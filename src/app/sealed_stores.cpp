#include "app/sealed_stores.hpp"

#include <filesystem>
#include <utility>

#include "app/push_file.hpp"
#include "app/schedule_file.hpp"
#include "memory/memory_file.hpp"
#include "memory/redis_address.hpp"
#include "prompts/sqlite_prompts.hpp"
#include "snapshots/file_history.hpp"

namespace praxis::app {
namespace {

template <class Change>
Status change_stores(const Workspace& workspace, Change change) {
  for (const SealedStore& store : stores_of(workspace)) {
    if (auto changed = change(store); !changed) return changed;
  }
  return {};
}

}  // namespace

std::vector<SealedStore> stores_of(const Workspace& workspace) {
  std::vector<SealedStore> stores;
  const auto add = [&](const SqliteFileForm& form, const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) stores.push_back({&form, path});
  };
  if (workspace.in_file()) {
    add(file_history_form(), FileHistory::path_for(workspace.journal));
    add(schedules_form(), schedules_path(workspace.journal));
    add(push_form(), push_path(workspace.journal));
  }
  add(prompts_form(), workspace.prompts);
  if (!is_memory_address(workspace.memory)) add(memory_form(), workspace.memory);
  return stores;
}

std::vector<StoreState> store_states(const Workspace& workspace) {
  std::vector<StoreState> states;
  for (const SealedStore& store : stores_of(workspace))
    states.push_back({store, seal_of_sqlite_file(store.path, *store.form)});
  return states;
}

Status seal_stores(const Workspace& workspace, const SealSecret& secret, UnixMillis now,
                   const OnStoreSealStep& on_step) {
  return change_stores(workspace, [&](const SealedStore& store) {
    return seal_sqlite_file(store.path, *store.form, secret, now, on_step);
  });
}

Status rekey_stores(const Workspace& workspace, const SealSecret& old_secret, const SealSecret& new_secret,
                    const OnStoreSealStep& on_step) {
  return change_stores(workspace, [&](const SealedStore& store) {
    return rekey_sqlite_file(store.path, *store.form, old_secret, new_secret, on_step);
  });
}

Status renew_store_keys(const Workspace& workspace, const SealSecret& secret, UnixMillis now,
                        const OnStoreSealStep& on_step) {
  return change_stores(workspace, [&](const SealedStore& store) {
    return renew_sqlite_file_key(store.path, *store.form, secret, now, on_step);
  });
}

}  // namespace praxis::app
