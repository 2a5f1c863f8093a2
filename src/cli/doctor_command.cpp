// `doctor`: shows the settings and their origins, and checks whether they work. Never shows secrets.
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sodium/version.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <boost/version.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include "app/calls_in_doubt.hpp"
#include "app/config_text.hpp"
#include "app/plain_text.hpp"
#include "app/provider_probe.hpp"
#include "app/provider_status.hpp"
#include "app/repairs.hpp"
#include "app/run_trees.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/doctor_journal.hpp"
#include "cli/place.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/models/model.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kSessionsToVerify = 100;

enum class Health : std::uint8_t { kGood, kMissing, kBad };

struct Check {
  std::string name;
  Health health = Health::kGood;
  std::string detail;
};

std::string_view word_for(Health health) {
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

Check check_project(const app::Project& project) {
  if (project.trusted) return {"project", Health::kGood, project.root + " is trusted"};
  return {"project", Health::kMissing, app::project_notice(project)};
}

/// Why the journal's file, or files next to it, cannot be written; empty if they can. Leaves nothing behind.
std::string why_unwritable(const std::string& journal) {
  if (const int fd = open(journal.c_str(), O_WRONLY | O_CLOEXEC); fd >= 0) {
    close(fd);
  } else if (errno != ENOENT) {
    return std::strerror(errno);
  }
  std::filesystem::path folder = std::filesystem::absolute(journal).parent_path();
  std::error_code unreadable;
  while (!std::filesystem::exists(folder, unreadable) && folder.has_relative_path())
    folder = folder.parent_path();
  std::string file = folder / ".praxis-doctor-XXXXXX";
  const int fd = mkostemp(file.data(), O_CLOEXEC);
  if (fd < 0) return fmt::format("{}: {}", folder.string(), std::strerror(errno));
  close(fd);
  unlink(file.c_str());
  return "";
}

Check check_journal(const app::Workspace& workspace) {
  if (!workspace.keeps_runs()) return {"journal", Health::kGood, "in memory: runs are not stored"};
  const auto failed = [&](const Error& error) { return Check{"journal", Health::kBad, error.message}; };
  const auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  const bool is_missing = !journal && journal.error().kind() == ErrorKind::kNotFound;
  if (!journal && !is_missing) return failed(journal.error());
  if (!is_postgres_address(workspace.journal)) {
    if (const std::string why = why_unwritable(workspace.journal); !why.empty())
      return {"journal", Health::kBad, fmt::format("{} cannot be written: {}", workspace.journal, why)};
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
          fmt::format("{}, the newest {} runs verified", workspace.journal, rows->size())};
}

Check check_provider(const ProviderFacts& provider, const app::ProviderStatus& status, bool online) {
  Check check{"provider " + provider.id, Health::kGood, status.detail};
  if (status.state == app::ProviderStatus::State::kUnusable) check.health = Health::kBad;
  if (status.state == app::ProviderStatus::State::kLacksKey) check.health = Health::kMissing;
  if (!online || status.base_url.empty()) return check;
  const app::ProbeResult probe = app::probe_provider(provider);
  check.detail += ", " + probe.detail;
  if (!probe.works) check.health = Health::kBad;
  return check;
}

/// The providers that have a setting, and those of the configured model.
std::vector<Check> check_providers(const app::Workspace& workspace, bool online) {
  const auto catalog = app::open_catalog(workspace);
  if (!catalog) return {{"providers", Health::kBad, catalog.error().message}};
  const auto wanted = app::providers_of_model(workspace.config.get("model"));
  std::vector<Check> checks;
  for (const std::string& id : (*catalog)->providers()) {
    const ProviderFacts& provider = *(*catalog)->provider(id);
    const app::ProviderStatus status = app::status_of(provider, workspace);
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
Check check_model(const app::Workspace& workspace) {
  const std::string name = workspace.config.get("model");
  if (name.empty()) {
    return {"model", Health::kMissing,
            "none is set; --model PROVIDER:NAME, PRAXIS_MODEL or model = in the configuration sets one"};
  }
  const auto catalog = app::open_catalog(workspace);
  if (!catalog) return {"model", Health::kBad, catalog.error().message};
  const auto model = make_model(name, {.http = make_http_client(),
                                       .executor = nullptr,
                                       .env = app::environment_variable,
                                       .catalog = *catalog});
  return model ? Check{"model", Health::kGood, name} : Check{"model", Health::kBad, model.error().message};
}

/// Whether `shell` and `python` can run.
std::vector<Check> check_sandbox() {
  const SandboxSupport& sandbox = probe_sandbox();
  if (sandbox.full()) {
    const std::string memory = sandbox.memory_group ? "its memory is bounded by a control group"
                                                    : "its memory is measured four times a second, because "
                                                      "this user cannot make a control group";
    return {
        {"sandbox", Health::kGood, "full: shell and python run in it; " + sandbox.version + "; " + memory}};
  }
  std::vector<Check> checks{
      {"sandbox", Health::kMissing, "unavailable: calls of shell and python are refused"}};
  for (const std::string& missing : sandbox.missing) checks.push_back({"sandbox", Health::kMissing, missing});
  return checks;
}

/// The pending steps of all runs.
Check check_people(const app::Workspace& workspace) {
  Check none{"people", Health::kGood, "no step awaits a human"};
  if (!workspace.keeps_runs()) return none;
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal) return none;  // the check of the journal says why
  app::RunTrees trees(*std::move(journal), app::RunTrees::Roots::kBusy);
  if (auto read = trees.refresh(); !read) return {"people", Health::kBad, read.error().message};
  std::size_t waiting = 0;
  for (const AgentNode& node : trees.nodes()) waiting += node.pending.size();
  const auto doubts = app::calls_in_doubt(workspace);
  if (!doubts) return {"people", Health::kBad, doubts.error().message};
  if (waiting == 0 && doubts->empty()) return none;
  std::string detail = fmt::format("{} {} for a human", waiting, waiting == 1 ? "step waits" : "steps wait");
  if (!doubts->empty()) {
    detail += fmt::format(", {} {} may or may not have run when the process of the run ended", doubts->size(),
                          doubts->size() == 1 ? "call" : "calls");
  }
  return {"people", Health::kGood, detail + "; praxis approve lists them"};
}

Check check_terminal(const Terminal& terminal) {
  return {"terminal", Health::kGood,
          fmt::format("standard output {}, standard error {}, colours {}, TERM={}",
                      terminal.out ? "yes" : "no", terminal.err ? "yes" : "no", terminal.color ? "on" : "off",
                      app::environment_variable("TERM"))};
}

std::string built_with() {
  return fmt::format("{} {}, Boost {}.{}.{}, fmt {}.{}.{}, libsodium {}, OpenSSL {}, SQLite {}, zlib {}",
#ifdef __clang__
                     "clang",
#else
                     "g++",
#endif
                     __VERSION__, BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100,
                     FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, SODIUM_VERSION_STRING,
                     OpenSSL_version(OPENSSL_VERSION_STRING), sqlite3_libversion(), zlibVersion());
}

struct Report {
  std::vector<app::Repair> repairs;
  std::optional<app::Workspace> workspace;
  std::vector<Check> checks;

  bool healthy() const {
    return std::ranges::none_of(checks, [](const Check& check) { return check.health == Health::kBad; }) &&
           std::ranges::all_of(repairs, [](const app::Repair& repair) { return repair.error.empty(); });
  }
};

Report examine(const DoctorOptions& options, Console& console) {
  Report report;
  if (options.fix) report.repairs = app::repair_own_files();
  auto workspace = open_place(options.place, console);
  if (!workspace) {
    report.checks.push_back({"configuration", Health::kBad, workspace.error().message});
  } else {
    report.workspace = *std::move(workspace);
    if (options.fix)
      std::ranges::move(app::repair_configured_files(*report.workspace), std::back_inserter(report.repairs));
    const auto& files = report.workspace->config.files;
    report.checks.push_back({"configuration", Health::kGood,
                             files.empty() ? "no files" : fmt::format("{}", fmt::join(files, ", "))});
    for (const std::string& warning : report.workspace->config.warnings)
      report.checks.push_back({"configuration", Health::kBad, warning});
    if (report.workspace->project && report.workspace->project->has_content())
      report.checks.push_back(check_project(*report.workspace->project));
    report.checks.push_back(check_journal(*report.workspace));
    report.checks.push_back(check_people(*report.workspace));
    report.checks.push_back(check_model(*report.workspace));
    std::ranges::move(check_providers(*report.workspace, options.online), std::back_inserter(report.checks));
  }
  std::ranges::move(check_sandbox(), std::back_inserter(report.checks));
  report.checks.push_back(check_terminal(console.terminal));
  report.checks.push_back({"program", Health::kGood, "praxis " PRAXIS_VERSION});
  report.checks.push_back({"built with", Health::kGood, built_with()});
  return report;
}

JsonObject report_json(const Report& report) {
  JsonArray checks;
  for (const Check& check : report.checks) {
    checks.push_back(
        JsonObject{{"name", check.name}, {"status", word_for(check.health)}, {"detail", check.detail}});
  }
  JsonObject settings;
  if (report.workspace) {
    for (const auto& [key, setting] : report.workspace->config.settings) {
      settings[key] = JsonObject{{"value", app::shown_value(key, setting)}, {"origin", setting.origin}};
    }
  }
  JsonArray repairs;
  for (const app::Repair& repair : report.repairs) {
    repairs.push_back(JsonObject{{"path", repair.path},
                                 {"done", repair.error.empty() ? Json(repair.done) : Json(nullptr)},
                                 {"error", repair.error.empty() ? Json(nullptr) : Json(repair.error)}});
  }
  return JsonObject{{"healthy", report.healthy()},
                    {"repairs", std::move(repairs)},
                    {"checks", std::move(checks)},
                    {"settings", std::move(settings)}};
}

std::string_view color_for(Health health) {
  return health == Health::kGood ? kGreen : health == Health::kBad ? kRed : kYellow;
}

void print(const Report& report, Console& console) {
  const bool has_color = console.terminal.out_color;
  for (const app::Repair& repair : report.repairs) {
    const bool is_done = repair.error.empty();
    console.out.line(fmt::format("{}{:8}{} {} {}", has_color ? (is_done ? kGreen : kRed) : "",
                                 is_done ? "fixed" : "failed", has_color ? kPlain : "",
                                 visible_text(repair.path), is_done ? repair.done : repair.error));
  }
  for (const Check& check : report.checks) {
    console.out.line(fmt::format("{}{:8}{} {:22} {}", has_color ? color_for(check.health) : "",
                                 word_for(check.health), has_color ? kPlain : "", check.name,
                                 visible_text(check.detail)));
  }
  if (!report.workspace) return;
  for (const auto& [key, setting] : report.workspace->config.settings) {
    console.out.line(visible_text(
        fmt::format("{:8} {} = {} ({})", "setting", key, app::shown_value(key, setting), setting.origin)));
  }
}

}  // namespace

Result<ExitStatus> execute(const DoctorOptions& options, Console& console) {
  if (options.accept_loss) return accept_loss(options, console);
  if (options.head) return show_or_check_head(options, console);
  const Report report = examine(options, console);
  console.result(report_json(report));
  if (!options.json) print(report, console);
  return report.healthy() ? ExitStatus::kFinished : ExitStatus::kUsage;
}

}  // namespace praxis::cli
