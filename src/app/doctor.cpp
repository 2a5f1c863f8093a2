#include "app/doctor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "app/calls_in_doubt.hpp"
#include "app/mcp_login.hpp"
#include "app/provider_probe.hpp"
#include "app/provider_status.hpp"
#include "app/run_trees.hpp"
#include "app/sealed_stores.hpp"
#include "app/secret_broker.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/models/model.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kSessionsToVerify = 100;

Finding check_project(const Project& project) {
  if (project.trusted) return {"project", Health::kGood, project.root + " is trusted"};
  return {"project", Health::kMissing, project_notice(project)};
}

/// Why the journal's file, or files next to it, cannot be written; empty if they can. Leaves nothing behind.
std::string why_unwritable(const std::string& journal) {
  // To open and close it would drop the locks that this process may have on it.
  if (faccessat(AT_FDCWD, journal.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT)
    return std::strerror(errno);
  std::error_code unreadable;
  std::filesystem::path folder = std::filesystem::absolute(journal, unreadable).parent_path();
  if (unreadable) return unreadable.message();
  while (!std::filesystem::exists(folder, unreadable) && folder.has_relative_path())
    folder = folder.parent_path();
  std::string file = folder / ".praxis-doctor-XXXXXX";
  const int fd = mkostemp(file.data(), O_CLOEXEC);
  if (fd < 0) return folder.string() + ": " + std::strerror(errno);
  close(fd);
  unlink(file.c_str());
  return "";
}

Finding check_journal(const Workspace& workspace) {
  if (!workspace.keeps_runs()) return {"journal", Health::kGood, "in memory: runs are not stored"};
  const auto failed = [&](const Error& error) { return Finding{"journal", Health::kBad, error.message}; };
  const auto journal = open_journal(workspace, JournalUse::kLook);
  const bool is_missing = !journal && journal.error().kind() == ErrorKind::kNotFound;
  if (!journal && !is_missing) return failed(journal.error());
  if (!is_postgres_address(workspace.journal)) {
    if (const std::string why = why_unwritable(workspace.journal); !why.empty())
      return {"journal", Health::kBad, workspace.journal + " cannot be written: " + why};
  }
  if (is_missing) {
    return {"journal", Health::kMissing, workspace.journal + " will be created by the first run"};
  }
  const auto rows = (*journal)->sessions(kSessionsToVerify);
  if (!rows) return failed(rows.error());
  for (const SessionRow& row : *rows) {
    if (const auto records = read_records(**journal, row.id); !records) return failed(records.error());
  }
  return {"journal", Health::kGood,
          workspace.journal + ", newest runs verified: " + std::to_string(rows->size())};
}

Finding check_provider(const ProviderFacts& provider, const ProviderStatus& status, bool online) {
  Finding check{"provider " + provider.id, Health::kGood, status.detail};
  if (status.state == ProviderStatus::State::kUnusable) check.health = Health::kBad;
  if (status.state == ProviderStatus::State::kLacksKey) check.health = Health::kMissing;
  if (!online || status.base_url.empty()) return check;
  const ProbeResult probe = probe_provider(provider);
  check.detail += ", " + probe.detail;
  if (!probe.works) check.health = Health::kBad;
  return check;
}

/// The providers that have a setting, and those of the configured model.
std::vector<Finding> check_providers(const Workspace& workspace, bool online) {
  const auto catalog = open_catalog(workspace);
  if (!catalog) return {{"providers", Health::kBad, catalog.error().message}};
  const auto wanted = providers_of_model(workspace.config.get("model"));
  std::vector<Finding> checks;
  for (const std::string& id : (*catalog)->providers()) {
    const ProviderFacts& provider = *(*catalog)->provider(id);
    const ProviderStatus status = status_of(provider, workspace);
    const bool is_wanted = std::ranges::find(wanted, id) != wanted.end();
    if (status.configured || is_wanted) checks.push_back(check_provider(provider, status, online));
  }
  if (checks.empty()) {
    checks.push_back({"providers", Health::kMissing,
                      "no provider has a key; praxis models --all lists where keys are looked up"});
  }
  return checks;
}

/// Whether the configured model can be made, as a run does it.
Finding check_model(const Workspace& workspace) {
  const std::string name = workspace.config.get("model");
  if (name.empty()) {
    return {"model", Health::kMissing,
            "none is set; --model PROVIDER:NAME, PRAXIS_MODEL or model = in the configuration sets one"};
  }
  const auto catalog = open_catalog(workspace);
  if (!catalog) return {"model", Health::kBad, catalog.error().message};
  const auto model = make_model(
      name,
      {.http = make_http_client(), .executor = nullptr, .env = environment_variable, .catalog = *catalog});
  return model ? Finding{"model", Health::kGood, name}
               : Finding{"model", Health::kBad, model.error().message};
}

/// The pending steps of all runs.
Finding check_people(const Workspace& workspace) {
  Finding none{"people", Health::kGood, "no step awaits a human"};
  if (!workspace.keeps_runs()) return none;
  auto journal = open_journal(workspace, JournalUse::kLook);
  if (!journal) return none;  // the check of the journal says why
  RunTrees trees(*std::move(journal), RunTrees::Roots::kBusy);
  if (auto read = trees.refresh(); !read) return {"people", Health::kBad, read.error().message};
  std::size_t waiting = 0;
  for (const AgentNode& node : trees.nodes()) waiting += node.pending.size();
  const auto doubts = calls_in_doubt(workspace);
  if (!doubts) return {"people", Health::kBad, doubts.error().message};
  if (waiting == 0 && doubts->empty()) return none;
  std::string detail =
      std::to_string(waiting) + (waiting == 1 ? " step waits" : " steps wait") + " for a human";
  if (!doubts->empty()) {
    detail += ", " + std::to_string(doubts->size()) + (doubts->size() == 1 ? " call" : " calls") +
              " may or may not have run when the process of the run ended";
  }
  return {"people", Health::kGood, detail + "; praxis approve lists them"};
}

/// The servers that wanted a login when they were last used. Tokens that can be renewed are not asked about.
std::optional<Finding> check_logins() {
  const std::string folder = state_folder();
  if (folder.empty()) return std::nullopt;
  const auto entries = McpLogins(folder).all();
  if (!entries) return Finding{"mcp logins", Health::kBad, entries.error().message};
  std::size_t logins = 0;
  std::string missing;
  for (const McpLoginEntry& entry : *entries) {
    if (entry.login) ++logins;
    if (entry.wanted) missing += (missing.empty() ? "" : "; ") + entry.server + ": " + entry.command;
  }
  if (!missing.empty()) return Finding{"mcp logins", Health::kMissing, "wanted by " + missing};
  if (logins == 0) return std::nullopt;
  return Finding{"mcp logins", Health::kGood,
                 std::to_string(logins) + (logins == 1 ? " server" : " servers")};
}

/// The secrets that tools may name. Commands and the keyring are not asked; `praxis secrets check` does that.
std::optional<Finding> check_secrets(const Workspace& workspace) {
  using Kind = SecretSource::Kind;
  if (!workspace.secrets || workspace.secrets->rules().empty()) return std::nullopt;
  std::string names, problems;
  for (const auto& [name, rule] : workspace.secrets->rules()) {
    names += (names.empty() ? "" : ", ") + name;
    if (rule.source.kind != Kind::kFile && rule.source.kind != Kind::kVariable) continue;
    if (const auto value = read_secret_value(rule); !value)
      problems += (problems.empty() ? "" : "; ") + value.error().message;
  }
  if (!problems.empty()) return Finding{"secrets", Health::kBad, problems};
  return Finding{"secrets", Health::kGood, names + "; praxis secrets check also runs commands"};
}

/// Which of the journal and the stores next to it are sealed; nothing if no key is set and all are plain.
std::vector<Finding> check_seals(const Workspace& workspace) {
  const bool has_key = !workspace.config.get("encryption.journal_key").empty();
  std::vector<Finding> findings;
  for (const StoreState& state : store_states(workspace)) {
    const std::string name(state.store.form->what);
    const std::string& path = state.store.path;
    if (!state.seal) {
      findings.push_back({name, Health::kBad, state.seal.error().message});
    } else if (!*state.seal && has_key) {
      findings.push_back({name, Health::kBad, path + " is not sealed; praxis journal seal seals it"});
    } else if (*state.seal) {
      // Opening it compares the values with their sum.
      const auto opened = open_sqlite_file(path, *state.store.form, false, seal_secret(workspace));
      const bool is_clean = (*state.seal)->is_clean;
      findings.push_back(
          !opened ? Finding{name, Health::kBad, opened.error().message}
          : is_clean
              ? Finding{name, Health::kGood, path + " is sealed"}
              : Finding{name, Health::kBad,
                        path + " is sealed, and may hold older values; praxis journal seal removes them"});
    }
  }
  return findings;
}

Finding check_files(const Config& config) {
  std::string names;
  for (const std::string& file : config.files) names += (names.empty() ? "" : ", ") + file;
  return {"configuration", Health::kGood, names.empty() ? "no files" : names};
}

}  // namespace

std::string_view to_string(Health health) {
  switch (health) {
    case Health::kGood:
      return "ok";
    case Health::kMissing:
      return "missing";
    case Health::kBad:
      return "failed";
  }
  std::unreachable();
}

Health health_from(std::string_view name) {
  for (const Health each : {Health::kGood, Health::kMissing}) {
    if (name == to_string(each)) return each;
  }
  return Health::kBad;
}

std::vector<Finding> examine_workspace(const Workspace& workspace, bool online) {
  std::vector<Finding> findings{check_files(workspace.config)};
  for (const std::string& warning : workspace.config.warnings)
    findings.push_back({"configuration", Health::kBad, warning});
  if (workspace.project && workspace.project->has_content())
    findings.push_back(check_project(*workspace.project));
  findings.push_back(check_journal(workspace));
  std::ranges::move(check_seals(workspace), std::back_inserter(findings));
  findings.push_back(check_people(workspace));
  if (auto logins = check_logins()) findings.push_back(*std::move(logins));
  if (auto secrets = check_secrets(workspace)) findings.push_back(*std::move(secrets));
  findings.push_back(check_model(workspace));
  std::ranges::move(check_providers(workspace, online), std::back_inserter(findings));
  return findings;
}

std::vector<Finding> examine_sandbox() {
  const SandboxSupport& sandbox = probe_sandbox();
  if (sandbox.full()) {
    const std::string memory = sandbox.memory_group ? "its memory is bounded by a control group"
                                                    : "its memory is measured four times a second, because "
                                                      "this user cannot make a control group";
    return {
        {"sandbox", Health::kGood, "full: shell and python run in it; " + sandbox.version + "; " + memory}};
  }
  std::vector<Finding> checks{
      {"sandbox", Health::kMissing, "unavailable: calls of shell and python are refused"}};
  for (const std::string& missing : sandbox.missing) checks.push_back({"sandbox", Health::kMissing, missing});
  return checks;
}

bool are_healthy(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings,
                              [](const Finding& finding) { return finding.health == Health::kBad; });
}

}  // namespace praxis::app
