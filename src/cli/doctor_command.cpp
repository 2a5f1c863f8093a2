// `doctor`: shows the settings and their origins, and checks whether they work. Never shows secrets.
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sodium/version.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <boost/version.hpp>
#include <iterator>
#include <optional>

#include "app/config_text.hpp"
#include "app/doctor.hpp"
#include "app/plain_text.hpp"
#include "app/repairs.hpp"
#include "app/restate_probe.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/doctor_journal.hpp"
#include "cli/place.hpp"

namespace praxis::cli {
namespace {

using app::Finding;
using app::Health;

Finding check_terminal(const Terminal& terminal) {
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
  std::vector<Finding> checks;

  bool healthy() const {
    return app::are_healthy(checks) &&
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
    report.checks = app::examine_workspace(*report.workspace, options.online);
    const EngineOptions& engine = options.engine;
    if (!engine.name.empty()) {
      const app::RestatePlace place{engine.ingress, engine.admin,
                                    engine.address.empty() ? "http://" + engine.listen : engine.address};
      std::ranges::move(app::examine_restate(place), std::back_inserter(report.checks));
    }
  }
  std::ranges::move(app::examine_sandbox(), std::back_inserter(report.checks));
  report.checks.push_back(check_terminal(console.terminal));
  report.checks.push_back({"program", Health::kGood, "praxis " PRAXIS_VERSION});
  report.checks.push_back({"built with", Health::kGood, built_with()});
  return report;
}

JsonObject report_json(const Report& report) {
  JsonArray checks;
  for (const Finding& check : report.checks) {
    checks.push_back(
        JsonObject{{"name", check.name}, {"status", to_string(check.health)}, {"detail", check.detail}});
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
  for (const Finding& check : report.checks) {
    console.out.line(fmt::format("{}{:8}{} {:22} {}", has_color ? color_for(check.health) : "",
                                 to_string(check.health), has_color ? kPlain : "", check.name,
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
