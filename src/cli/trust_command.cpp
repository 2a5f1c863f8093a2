// `trust`: shows what a project would set or let run, keeps or revokes the user's trust in it.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/hints.hpp"
#include "app/line_changes.hpp"
#include "app/plain_text.hpp"
#include "app/project_text.hpp"
#include "app/trust.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;
using Verb = TrustOptions::Verb;

/// The store of trusted projects. Error `kInput`: there is no place for it.
Result<app::TrustedProjects> trusted_projects() {
  if (std::string folder = app::state_folder(); !folder.empty())
    return app::TrustedProjects(std::move(folder));
  return fail(app::usage_error("there is no place for trust: neither HOME nor XDG_STATE_HOME is set"));
}

std::string_view state_of(const app::Project& project) {
  if (!project.problem.empty()) return "unusable";
  if (project.trusted) return "trusted";
  return project.changed ? "changed" : "untrusted";
}

JsonObject project_json(const app::Project& project) {
  const auto shown = app::describe_project(project);
  JsonObject files;
  for (const auto& [path, text] : project.files) files[path] = digest_of(text).hex();
  return JsonObject{{"project", project.root},
                    {"state", state_of(project)},
                    {"digest", project.digest().hex()},
                    {"files", std::move(files)},
                    {"shown", JsonArray(shown.begin(), shown.end())},
                    {"problem", project.problem}};
}

/// Writes the project in plain words; what changed since it was trusted is marked.
Status show(const app::Project& project, Console& console) {
  const auto before = app::trust_in(project);
  if (!before) return fail(before.error());
  const auto lines = app::describe_project(project);
  console.out.line(fmt::format("project {}: {}", app::exact(project.root), state_of(project)));
  if (project.changed) {
    console.out.line("since you trusted it (+ is new, - is gone):");
    if (before->shown == lines) console.out.line("  only comments or the layout of files changed");
  }
  for (const std::string& line : project.changed ? app::marked_changes(before->shown, lines) : lines)
    console.out.line(line);
  console.out.line("digest " + project.digest().hex());
  return {};
}

Result<ExitStatus> accept(const app::Project& project, Console& console) {
  const auto store = trusted_projects();
  if (!store) return fail(store.error());
  if (auto added = store->add({project.root, project.digest().hex(), app::describe_project(project)}); !added)
    return fail(added.error());
  console.err.line(fmt::format("{} is trusted until one of its files changes; praxis trust revoke ends it",
                               app::exact(project.root)));
  return ExitStatus::kFinished;
}

/// Asks for the user's word at the terminal.
Result<ExitStatus> ask(const app::Project& project, Console& console) {
  if (!can_confirm()) {
    return fail(app::usage_error("cannot ask for your trust: standard input is not a terminal",
                                 "praxis trust accept --digest " + project.digest().hex()));
  }
  if (confirmed("Trust this project, exactly as shown?", console)) return accept(project, console);
  console.err.line("not trusted");
  return ExitStatus::kParked;
}

Result<ExitStatus> list(bool json, Console& console) {
  const auto store = trusted_projects();
  if (!store) return fail(store.error());
  const auto all = store->all();
  if (!all) return fail(all.error());
  for (const app::TrustedProject& each : *all) {
    const auto now = app::project_at(each.root);
    if (json) {
      console.item("project", {{"project", each.root}, {"state", state_of(*now)}, {"digest", each.digest}});
    } else {
      console.out.line(fmt::format("{:9} {}", state_of(*now), app::exact(each.root)));
    }
  }
  if (all->empty() && !json) console.err.line("no project is trusted");
  return ExitStatus::kFinished;
}

Result<ExitStatus> revoke(const TrustOptions& options, Console& console) {
  const auto store = trusted_projects();
  if (!store) return fail(store.error());
  std::error_code ignored;
  std::string root = fs::weakly_canonical(options.target.empty() ? "." : options.target, ignored).string();
  if (root.size() > 1 && root.ends_with('/')) root.pop_back();
  if (options.target.empty()) {
    if (auto found = app::find_project_root(root, app::environment_variable("HOME")); !found.empty())
      root = found;
  }
  const auto removed = store->remove(root);
  if (!removed) return fail(removed.error());
  console.result({{"project", root}});
  if (!*removed)
    return fail(
        app::usage_error(app::in_quotes(root) + " is not trusted", "praxis trust list shows what is"));
  console.err.line(app::exact(root) + " is not trusted any more");
  return ExitStatus::kFinished;
}

/// Shows the project of the folder and, if asked to, decides about it.
Result<ExitStatus> decide(const TrustOptions& options, Console& console) {
  const auto project = app::current_project();
  if (!project || !project->has_content()) {
    return fail(
        app::usage_error("there is no project here: no folder .praxis with settings or agents",
                         "the home folder is not a project; your own agents are in ~/.config/praxis/agents"));
  }
  console.result(project_json(*project));
  if (options.json && options.verb == Verb::kShow) return ExitStatus::kFinished;
  if (!project->problem.empty())
    return fail(app::usage_error("this project can never count: " + app::exact(project->problem)));
  if (options.verb == Verb::kAccept && !options.digest.empty()) {
    if (options.digest == project->digest().hex()) return accept(*project, console);
    return fail(
        app::usage_error("the project has the digest " + project->digest().hex() + ", not the one given",
                         "praxis trust show shows what changed"));
  }
  if (!options.json) {
    if (auto shown = show(*project, console); !shown) return fail(shown.error());
  }
  if (options.verb == Verb::kShow || project->trusted) return ExitStatus::kFinished;
  return ask(*project, console);
}

}  // namespace

Result<ExitStatus> execute(const TrustOptions& options, Console& console) {
  if (auto entered = app::enter_place({options.folder, ""}); !entered) return fail(entered.error());
  if (!options.digest.empty() && options.verb != Verb::kAccept)
    return fail(app::usage_error("--digest belongs to praxis trust accept"));
  if (!options.target.empty() && options.verb != Verb::kRevoke)
    return fail(app::usage_error("a folder belongs to praxis trust revoke; name others with -C"));
  if (options.json && options.verb == Verb::kAsk)
    return fail(app::usage_error("praxis trust --json needs show, list, accept or revoke"));
  if (options.verb == Verb::kList) return list(options.json, console);
  if (options.verb == Verb::kRevoke) return revoke(options, console);
  return decide(options, console);
}

}  // namespace praxis::cli
