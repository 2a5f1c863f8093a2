// `secrets`: lists the secrets of the configuration, and checks that they can be read (docs/secrets.md).
// Shows no value.
#include <fmt/format.h>

#include <ranges>
#include <string>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/secret_broker.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"

namespace praxis::cli {
namespace {

/// One secret, and what is wrong with it if it was checked.
void show_secret(const SecretRule& rule, const SecretsOptions& options, const std::string& problem,
                 Console& console) {
  const bool checks = options.verb == SecretsOptions::Verb::kCheck;
  const auto list = [](const std::vector<std::string>& all) { return JsonArray(all.begin(), all.end()); };
  if (options.json) {
    JsonObject fields{{"name", rule.name},
                      {"from", rule.source.shown()},
                      {"hosts", list(rule.hosts)},
                      {"tools", list(rule.tools)},
                      {"agents", list(rule.agents)}};
    if (checks) fields["ok"] = problem.empty();
    if (checks && !problem.empty()) fields["problem"] = problem;
    console.item("secret", fields);
    return;
  }
  std::string line = fmt::format("{:16} {}", rule.name, rule.source.shown());
  if (checks) {
    line = (problem.empty() ? "ok       " : "failed   ") + line;
    if (!problem.empty()) line += "  " + problem;
  } else {
    line += "  for " + (rule.hosts.empty() ? "no host" : app::joined(rule.hosts));
    if (!rule.tools.empty()) line += "  tools " + app::joined(rule.tools);
    for (const std::string& agent : rule.agents) line += "  agent " + agent;
  }
  console.out.line(visible_text(line));
}

}  // namespace

Result<ExitStatus> execute(const SecretsOptions& options, Console& console) {
  const auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto& rules = workspace->secrets->rules();
  if (!options.name.empty() && !rules.contains(options.name))
    return fail(app::usage_error("the configuration has no secret " + app::in_quotes(options.name),
                                 "praxis secrets lists them"));
  std::size_t failed = 0;
  for (const SecretRule& rule : std::views::values(rules)) {
    if (!options.name.empty() && rule.name != options.name) continue;
    std::string problem;
    if (options.verb == SecretsOptions::Verb::kCheck) {
      if (const auto value = read_secret_value(rule); !value) problem = value.error().message;
    }
    if (!problem.empty()) ++failed;
    show_secret(rule, options, problem, console);
  }
  console.result({{"secrets", rules.size()}, {"failed", failed}});
  if (rules.empty() && !options.json)
    console.err.line("there are no secrets; a table [secrets.NAME] of the configuration adds one");
  return failed == 0 ? ExitStatus::kFinished : ExitStatus::kUsage;
}

}  // namespace praxis::cli
