// `audit`: lists what rules, hooks and people decided, and signs or verifies the journal.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/audit.hpp"
#include "app/hints.hpp"
#include "app/own_lines.hpp"
#include "app/plain_text.hpp"
#include "app/refusals.hpp"
#include "app/tokens.hpp"
#include "app/without_secrets.hpp"
#include "base/visible_text.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

/// The changes of the prompts; of a folder of files there are no changes.
Result<std::vector<PromptChange>> prompt_changes(const app::Workspace& workspace) {
  std::error_code ignored;
  if (workspace.prompts.empty() || !std::filesystem::is_regular_file(workspace.prompts, ignored))
    return std::vector<PromptChange>{};
  const auto store = app::open_prompts(workspace);
  if (!store) return fail(store.error());
  return (*store)->changes();
}

/// Tokens that were made and revoked, and what servers refused because of a right. Error `kInput`.
Result<std::vector<app::AuditEntry>> access_entries(UnixMillis from) {
  const std::string folder = app::state_folder();
  if (folder.empty()) return std::vector<app::AuditEntry>{};
  const auto tokens = app::TokenStore(folder).all();
  if (!tokens) return fail(tokens.error());
  const auto refusals = app::RefusalLog(folder).all();
  if (!refusals) return fail(refusals.error());
  return app::audit_entries(*tokens, *refusals, from);
}

Result<ExitStatus> sign(const AuditOptions& options, Journal& journal,
                        const std::vector<PromptChange>& prompts, Console& console) {
  const auto key = app::AuditKey::open(app::state_folder(), true);
  if (!key) return fail(key.error());
  auto head = app::audit_head(journal, prompts, system_environment()->now());
  if (!head) return fail(head.error());
  app::sign_head(*head, *key);
  const std::string text = to_json_text(*head) + '\n';
  if (options.sign == "-") {
    console.out.write(text);
  } else if (auto written = write_file(options.sign, text); !written) {
    return fail(std::move(written.error()));
  }
  console.result({{"sessions", (*head)["sessions"].get_array().size()}, {"key", key->public_key()}});
  if (!options.json) console.err.line("signed by the key " + key->public_key());
  return ExitStatus::kFinished;
}

Result<ExitStatus> verify(const AuditOptions& options, Journal& journal,
                          const std::vector<PromptChange>& prompts, Console& console) {
  const auto text = read_input(options.verify);
  if (!text) return fail(text.error());
  const auto head = parse_json(*text);
  if (!head) return fail(ErrorCode::kInput, options.verify + " is not JSON: " + head.error().message);
  std::string key = options.key;
  if (key.empty()) {
    const auto own = app::AuditKey::open(app::state_folder(), false);
    if (!own) return fail(app::with_hint(own.error(), "--key KEY names the public key of the signer"));
    key = own->public_key();
  }
  const auto check = app::check_head(*head, key, journal, prompts);
  if (!check) return fail(check.error());
  console.result({{"sessions", check->sessions},
                  {"later", check->later},
                  {"problems", JsonArray(check->problems.begin(), check->problems.end())}});
  const ExitStatus status = check->problems.empty() ? ExitStatus::kFinished : ExitStatus::kFailed;
  if (options.json) return status;
  for (const std::string& problem : check->problems) console.out.line(visible_text(problem));
  console.err.line(fmt::format("{} of {} sessions are as on {}; {} entries are newer",
                               check->sessions - std::min(check->sessions, check->problems.size()),
                               check->sessions, to_iso8601(check->time), check->later));
  return status;
}

std::string text_of(const app::AuditEntry& entry) {
  std::string line = fmt::format("{}  {:8}  {}", to_iso8601(entry.time), entry.action, entry.what);
  if (!entry.by.empty()) line += " by " + entry.by;
  if (!entry.role.empty()) line += " (" + entry.role + ")";
  if (!entry.session.empty()) line += fmt::format("  {} {}", entry.session.str(), entry.seq);
  if (!entry.text.empty()) line += ": " + app::one_line(entry.text, 300);
  return line;
}

UnixMillis begin_of(const AuditOptions& options) {
  if (!options.since) return {};
  return UnixMillis{system_environment()->now().value - options.since->count()};
}

void show_entries(const std::vector<app::AuditEntry>& entries, const app::Workspace& workspace,
                  const AuditOptions& options, Console& console) {
  const redact::Redaction redaction = app::Redactions(workspace).at(&RedactRules::exports);
  for (app::AuditEntry entry : entries) {
    entry.text = redaction.text(entry.text);
    if (options.json) console.item("audit", to_json(entry).get_object());
    if (!options.json) console.out.line(visible_text(text_of(entry)));
  }
}

}  // namespace

Result<ExitStatus> execute(const AuditOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto journal = app::open_journal(*workspace, app::JournalUse::kLook);
  if (!journal && journal.error().kind() == ErrorKind::kNotFound && options.sign.empty() &&
      options.verify.empty()) {
    const auto of_access = access_entries(begin_of(options));
    if (!of_access) return fail(of_access.error());
    if (of_access->empty()) say_no_runs(*workspace, console);
    show_entries(*of_access, *workspace, options, console);
    return ExitStatus::kFinished;
  }
  if (!journal) return fail(journal.error());
  const auto prompts = prompt_changes(*workspace);
  if (!prompts) return fail(prompts.error());
  if (!options.sign.empty()) return sign(options, **journal, *prompts, console);
  if (!options.verify.empty()) return verify(options, **journal, *prompts, console);
  const UnixMillis from = begin_of(options);
  auto entries = app::audit_entries(**journal, app::Redactions(*workspace), from);
  if (!entries) return fail(entries.error());
  const std::vector<app::AuditEntry> of_prompts = app::audit_entries(*prompts, from);
  auto of_access = access_entries(from);
  if (!of_access) return fail(of_access.error());
  std::vector<app::AuditEntry> of_runs, all;
  const auto time = &app::AuditEntry::time;
  std::ranges::merge(*entries, of_prompts, std::back_inserter(of_runs), {}, time, time);
  std::ranges::merge(of_runs, *of_access, std::back_inserter(all), {}, time, time);
  show_entries(all, *workspace, options, console);
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
