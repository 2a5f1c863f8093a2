// `journal`: backs up the journal and the stores next to it, shows how they are sealed, seals them, and
// changes their keys.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/hints.hpp"
#include "app/journal_backup.hpp"
#include "app/journal_key.hpp"
#include "app/plain_text.hpp"
#include "app/sealed_stores.hpp"
#include "app/values.hpp"
#include "base/visible_text.hpp"
#include "cli/commands.hpp"
#include "cli/passphrase.hpp"
#include "cli/place.hpp"
#include "journal/reseal.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis::cli {
namespace {

using JournalVerb = JournalOptions::Verb;

/// The setting, without what a command says.
std::string shown_source(const std::string& source) {
  return source.starts_with("command:") ? "command" : source;
}

/// How one file is sealed, for people and as JSON.
struct ShownSeal {
  std::string line;
  JsonObject fields;
};

ShownSeal shown_seal(const std::string& path, const std::optional<StoredSeal>& seal) {
  JsonObject fields{{"sealed", seal.has_value()}};
  if (!seal) return {path + ": not sealed", std::move(fields)};
  const char* wrapped = seal->key.needs_passphrase() ? "passphrase" : "key";
  fields["since"] = to_iso8601(seal->since);
  fields["wrapped_by"] = wrapped;
  fields["clean"] = seal->is_clean;
  std::string line = fmt::format("{}: sealed since {}, by a {}", path, to_iso8601(seal->since), wrapped);
  if (!seal->is_clean) line += "; values from before may be left in the file: run praxis journal seal";
  return {std::move(line), std::move(fields)};
}

/// Whether there are stores to seal and no journal: it is missing, in memory or in a database.
bool has_stores_only(const app::Workspace& workspace) {
  std::error_code ignored;
  const bool has_journal = workspace.in_file() && std::filesystem::exists(workspace.journal, ignored);
  return !has_journal && !app::stores_of(workspace).empty();
}

Result<ShownSeal> shown_journal(const app::Workspace& workspace) {
  if (has_stores_only(workspace)) return ShownSeal{"no journal in a file", {{"sealed", false}}};
  const auto seal = seal_of_journal(workspace.journal);
  if (!seal) return fail(seal.error());
  return shown_seal(workspace.journal, *seal);
}

Result<ExitStatus> show_seal(const app::Workspace& workspace, bool json, Console& console) {
  auto shown = shown_journal(workspace);
  if (!shown) return fail(shown.error());
  const std::string source = shown_source(workspace.config.get("encryption.journal_key"));
  auto& [line, fields] = *shown;
  fields["journal"] = workspace.journal;
  fields["key_source"] = source.empty() ? Json(nullptr) : Json(source);
  JsonArray stores;
  std::vector<std::string> lines{line};
  for (const app::StoreState& state : app::store_states(workspace)) {
    if (!state.seal) return fail(state.seal.error());
    auto [store_line, store_fields] = shown_seal(state.store.path, *state.seal);
    store_fields["file"] = state.store.path;
    store_fields["what"] = std::string(state.store.form->what);
    stores.emplace_back(std::move(store_fields));
    lines.push_back(std::move(store_line));
  }
  fields["stores"] = std::move(stores);
  console.result(std::move(fields));
  if (json) return ExitStatus::kFinished;
  for (const std::string& each : lines) console.out.line(visible_text(each));
  console.out.line(source.empty() ? "no key is set: encryption.journal_key"
                                  : visible_text("key: " + source + " (encryption.journal_key)"));
  return ExitStatus::kFinished;
}

Result<std::shared_ptr<const SealSecret>> secret_from(const std::string& source, bool repeats) {
  if (source.empty())
    return fail(
        app::usage_error("no key is set", "praxis config set encryption.journal_key file:PATH names one"));
  return app::journal_secret(source, passphrase_prompt(repeats))();
}

Status change_seal(const JournalOptions& options, const app::Workspace& workspace) {
  const std::string source = workspace.config.get("encryption.journal_key");
  const auto secret = secret_from(source, options.verb == JournalVerb::kSeal);
  if (!secret) return fail(secret.error());
  const UnixMillis now = system_environment()->now();
  const bool is_alone = has_stores_only(workspace);
  if (options.verb == JournalVerb::kSeal) {
    auto sealed = is_alone ? Status{} : seal_journal(workspace.journal, **secret, now);
    return sealed ? app::seal_stores(workspace, **secret, now) : sealed;
  }
  if (options.verb == JournalVerb::kNewKey) {
    auto renewed = is_alone ? Status{} : renew_journal_key(workspace.journal, **secret, now);
    return renewed ? app::renew_store_keys(workspace, **secret, now) : renewed;
  }
  if (options.to.empty()) return fail(app::usage_error("rekey to which key?", "--to SOURCE names it"));
  if (auto known = app::check_key_source(options.to); !known) return known;
  const auto next = app::journal_secret(options.to, passphrase_prompt(true))();
  if (!next) return fail(next.error());
  // The journal last: the old key, which the configuration names, opens it until all the others are done, so
  // that a command that was killed can be given again.
  auto rekeyed = app::rekey_stores(workspace, **secret, **next);
  return rekeyed && !is_alone ? rekey_journal(workspace.journal, **secret, **next) : rekeyed;
}

Result<ExitStatus> make_backup(const JournalOptions& options, const app::Workspace& workspace,
                               Console& console) {
  if (options.to.empty())
    return fail(app::usage_error("back up to which folder?", "--to FOLDER names one to make"));
  const auto backup = app::back_up_journal(workspace, options.to);
  if (!backup) return fail(backup.error());
  JsonArray files;
  for (const app::BackedUpFile& file : backup->files) {
    JsonObject fields;
    fields["file"] = file.path;
    fields["what"] = file.what;
    fields["bytes"] = file.bytes;
    files.emplace_back(std::move(fields));
    if (options.json) continue;
    console.out.line(visible_text(fmt::format("{}: {} bytes of the {}", file.path, file.bytes, file.what)));
  }
  JsonObject fields{{"journal", workspace.journal}, {"head", to_text(backup->head)}};
  fields["backup"] = std::move(files);
  console.result(std::move(fields));
  return ExitStatus::kFinished;
}

const char* what_was_done(JournalVerb verb) {
  if (verb == JournalVerb::kSeal) return "the journal and the stores next to it are sealed";
  return verb == JournalVerb::kNewKey ? "the journal and the stores next to it have new data keys"
                                      : "the data keys are wrapped by the new key";
}

}  // namespace

Result<ExitStatus> execute(const JournalOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  if (!workspace->in_file() && app::stores_of(*workspace).empty())
    return fail(app::usage_error("only a journal in a file can be sealed", "--journal FILE names one"));
  if (options.verb == JournalVerb::kBackup) return make_backup(options, *workspace, console);
  if (options.verb == JournalVerb::kShow) return show_seal(*workspace, options.json, console);
  if (auto changed = change_seal(options, *workspace); !changed) return fail(changed.error());
  console.result({{"journal", workspace->journal}});
  if (options.json) return ExitStatus::kFinished;
  console.out.line(what_was_done(options.verb));
  if (options.verb == JournalVerb::kRekey)
    console.err.line("set it too: praxis config set encryption.journal_key " + app::shell_word(options.to));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
