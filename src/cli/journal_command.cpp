// `journal`: shows how the journal is sealed, seals it, and changes its keys.
#include <fmt/format.h>

#include <filesystem>

#include "app/hints.hpp"
#include "app/journal_key.hpp"
#include "app/plain_text.hpp"
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

Result<ExitStatus> show_seal(const app::Workspace& workspace, bool json, Console& console) {
  const auto seal = seal_of_journal(workspace.journal);
  if (!seal) return fail(seal.error());
  const std::string source = shown_source(workspace.config.get("encryption.journal_key"));
  JsonObject fields{{"journal", workspace.journal},
                    {"sealed", seal->has_value()},
                    {"key_source", source.empty() ? Json(nullptr) : Json(source)}};
  std::string line = workspace.journal + ": not sealed";
  if (*seal) {
    const char* wrapped = (*seal)->key.needs_passphrase() ? "passphrase" : "key";
    fields["since"] = to_iso8601((*seal)->since);
    fields["wrapped_by"] = wrapped;
    fields["clean"] = (*seal)->is_clean;
    line =
        fmt::format("{}: sealed since {}, by a {}", workspace.journal, to_iso8601((*seal)->since), wrapped);
    if (!(*seal)->is_clean) line += "; values from before may be left in the file: run praxis journal seal";
  }
  console.result(std::move(fields));
  if (json) return ExitStatus::kFinished;
  console.out.line(visible_text(line));
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
  if (options.verb == JournalVerb::kSeal) return seal_journal(workspace.journal, **secret, now);
  if (options.verb == JournalVerb::kNewKey) return renew_journal_key(workspace.journal, **secret, now);
  if (options.to.empty()) return fail(app::usage_error("rekey to which key?", "--to SOURCE names it"));
  if (auto known = app::check_key_source(options.to); !known) return known;
  const auto next = app::journal_secret(options.to, passphrase_prompt(true))();
  if (!next) return fail(next.error());
  return rekey_journal(workspace.journal, **secret, **next);
}

/// The contents of files that runs changed are not sealed.
Status check_kept_files(const app::Workspace& workspace) {
  const std::string files = workspace.journal + ".files";
  std::error_code ignored;
  if (!std::filesystem::exists(files, ignored)) return {};
  return fail(app::usage_error(files + " holds contents of files that runs changed, and cannot be sealed",
                               "delete it first: then praxis diff and undo know nothing of the runs before"));
}

const char* what_was_done(JournalVerb verb) {
  if (verb == JournalVerb::kSeal) return "the journal is sealed";
  return verb == JournalVerb::kNewKey ? "the journal has a new data key"
                                      : "the data key is wrapped by the new key";
}

}  // namespace

Result<ExitStatus> execute(const JournalOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  if (!workspace->in_file())
    return fail(app::usage_error("only a journal in a file can be sealed", "--journal FILE names one"));
  if (options.verb == JournalVerb::kShow) return show_seal(*workspace, options.json, console);
  if (options.verb == JournalVerb::kSeal) {
    if (auto none = check_kept_files(*workspace); !none) return fail(none.error());
  }
  if (auto changed = change_seal(options, *workspace); !changed) return fail(changed.error());
  console.result({{"journal", workspace->journal}});
  if (options.json) return ExitStatus::kFinished;
  console.out.line(what_was_done(options.verb));
  if (options.verb == JournalVerb::kRekey)
    console.err.line("set it too: praxis config set encryption.journal_key " + app::shell_word(options.to));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
