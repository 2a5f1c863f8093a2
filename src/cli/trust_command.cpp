// `trust`: shows what a project would set or let run, keeps or revokes the user's trust in it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/folder_instructions.hpp"
#include "app/hints.hpp"
#include "app/line_changes.hpp"
#include "app/plain_text.hpp"
#include "app/project_text.hpp"
#include "app/trust.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "base/visible_text.hpp"
#include "cli/commands.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/json/json.hpp"

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

std::string_view state_of(const app::InstructionFile& file) {
  if (!file.problem.empty()) return "unusable";
  if (file.trusted) return "trusted";
  return file.changed ? "changed" : "untrusted";
}

/// What the user is asked to trust: the project of the folder and the instructions that agents find here.
struct Offer {
  std::shared_ptr<const app::Project> project;  ///< null: none, or nothing to trust in it
  std::vector<app::InstructionFile> files;      ///< that could count

  bool is_trusted() const {
    return (!project || project->trusted) && std::ranges::all_of(files, &app::InstructionFile::trusted);
  }
  /// That of the project alone if there are no instructions.
  std::string digest() const {
    if (files.empty()) return project->digest().hex();
    JsonArray all{project ? project->digest().hex() : std::string()};
    for (const app::InstructionFile& file : files) all.push_back(JsonArray{file.path, file.digest()});
    return digest_of(to_canonical_json(all)).hex();
  }
  std::string_view state() const {
    if (project && !project->problem.empty()) return "unusable";
    if (is_trusted()) return "trusted";
    const bool changed = (project && project->changed) ||
                         std::ranges::any_of(files, [](const auto& file) { return file.changed; });
    return changed ? "changed" : "untrusted";
  }
};

JsonObject offer_json(const Offer& offer) {
  const auto shown = offer.project ? app::describe_project(*offer.project) : std::vector<std::string>{};
  JsonObject files;
  if (offer.project) {
    for (const auto& [path, text] : offer.project->files) files[path] = digest_of(text).hex();
  }
  for (const app::InstructionFile& file : offer.files) files[file.path] = file.digest();
  return JsonObject{{"project", offer.project ? offer.project->root : std::string()},
                    {"state", offer.state()},
                    {"digest", offer.digest()},
                    {"files", std::move(files)},
                    {"shown", JsonArray(shown.begin(), shown.end())},
                    {"problem", offer.project ? offer.project->problem : std::string()}};
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
  return {};
}

/// The lines of the file, as they are shown and kept for the next comparison.
std::vector<std::string> instruction_lines(const app::InstructionFile& file) {
  std::vector<std::string> lines;
  for (const auto line : std::views::split(file.text, '\n'))
    lines.push_back("  " + app::exact(std::string_view(line.begin(), line.end())));
  if (file.text.ends_with('\n')) lines.pop_back();
  return lines;
}

/// Writes the instructions whole, or what changed in them since they were trusted.
Status show(const app::InstructionFile& file, const app::TrustedProjects& store, Console& console) {
  console.out.line(
      fmt::format("instructions {}: {}, {} bytes", app::exact(file.path), state_of(file), file.text.size()));
  if (!file.changed) {
    for (const std::string& line : instruction_lines(file)) console.out.line(line);
    return {};
  }
  const auto all = store.all();
  if (!all) return fail(all.error());
  const auto before = std::ranges::find(*all, file.path, &app::TrustedProject::root);
  console.out.line("since you trusted them (+ is new, - is gone):");
  for (const std::string& line : app::marked_changes(
           before == all->end() ? std::vector<std::string>{} : before->shown, instruction_lines(file)))
    console.out.line(line);
  return {};
}

Status show(const Offer& offer, Console& console) {
  if (offer.project) {
    if (auto shown = show(*offer.project, console); !shown) return shown;
  }
  for (const app::InstructionFile& file : offer.files) {
    const auto store = trusted_projects();
    if (!store) return fail(store.error());
    if (auto shown = show(file, *store, console); !shown) return shown;
  }
  console.out.line("digest " + offer.digest());
  return {};
}

Result<ExitStatus> accept(const Offer& offer, Console& console) {
  const auto store = trusted_projects();
  if (!store) return fail(store.error());
  if (offer.project) {
    const app::Project& project = *offer.project;
    if (auto added = store->add({project.root, project.digest().hex(), app::describe_project(project)});
        !added)
      return fail(added.error());
    console.err.line(fmt::format("{} is trusted until one of its files changes; praxis trust revoke ends it",
                                 app::exact(project.root)));
  }
  for (const app::InstructionFile& file : offer.files) {
    if (auto added = store->add({file.path, file.digest(), instruction_lines(file)}); !added)
      return fail(added.error());
    console.err.line(
        fmt::format("{} is trusted until it changes; praxis trust revoke ends it", app::exact(file.path)));
  }
  return ExitStatus::kFinished;
}

/// Asks for the user's word at the terminal.
Result<ExitStatus> ask(const Offer& offer, Console& console) {
  if (!can_confirm()) {
    return fail(app::usage_error("cannot ask for your trust: standard input is not a terminal",
                                 "praxis trust accept --digest " + offer.digest()));
  }
  const char* question =
      offer.project ? "Trust this project, exactly as shown?" : "Trust these instructions, exactly as shown?";
  if (confirmed(question, console)) return accept(offer, console);
  console.err.line("not trusted");
  return ExitStatus::kParked;
}

Result<ExitStatus> list(bool json, Console& console) {
  const auto store = trusted_projects();
  if (!store) return fail(store.error());
  const auto all = store->all();
  if (!all) return fail(all.error());
  for (const app::TrustedProject& each : *all) {
    const std::string_view state = app::is_instruction_file(each.root)
                                       ? state_of(app::instruction_file_at(each.root))
                                       : state_of(*app::project_at(each.root));
    if (json) {
      console.item("project", {{"project", each.root}, {"state", state}, {"digest", each.digest}});
    } else {
      console.out.line(fmt::format("{:9} {}", state, app::exact(each.root)));
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
  std::vector<std::string> all{root};
  if (options.target.empty()) {
    for (app::InstructionFile& file : app::current_instruction_files()) all.push_back(std::move(file.path));
  }
  std::vector<std::string> gone;
  for (const std::string& each : all) {
    const auto removed = store->remove(each);
    if (!removed) return fail(removed.error());
    if (*removed) gone.push_back(each);
  }
  console.result({{"project", gone.empty() ? root : gone.front()}});
  if (gone.empty())
    return fail(
        app::usage_error(app::in_quotes(root) + " is not trusted", "praxis trust list shows what is"));
  for (const std::string& each : gone) console.err.line(app::exact(each) + " is not trusted any more");
  return ExitStatus::kFinished;
}

/// What is here to trust. Instructions that can never count are reported.
Offer offer_of_folder(Console& console) {
  Offer offer;
  if (auto project = app::current_project(); project && project->has_content())
    offer.project = std::move(project);
  for (app::InstructionFile& file : app::current_instruction_files()) {
    if (file.problem.empty()) {
      offer.files.push_back(std::move(file));
    } else {
      console.err.line(visible_text("praxis: these instructions can never count: " + file.problem));
    }
  }
  return offer;
}

/// Shows what there is in the folder and, if asked to, decides about it.
Result<ExitStatus> decide(const TrustOptions& options, Console& console) {
  const Offer offer = offer_of_folder(console);
  if (!offer.project && offer.files.empty()) {
    return fail(app::usage_error(
        "there is no project here: no folder .praxis with settings or agents, and no AGENTS.md",
        "the home folder is not a project; your own agents are in ~/.config/praxis/agents"));
  }
  console.result(offer_json(offer));
  if (options.json && options.verb == Verb::kShow) return ExitStatus::kFinished;
  if (offer.project && !offer.project->problem.empty())
    return fail(app::usage_error("this project can never count: " + app::exact(offer.project->problem)));
  if (options.verb == Verb::kAccept && !options.digest.empty()) {
    if (options.digest == offer.digest()) return accept(offer, console);
    return fail(app::usage_error("the project has the digest " + offer.digest() + ", not the one given",
                                 "praxis trust show shows what changed"));
  }
  if (!options.json) {
    if (auto shown = show(offer, console); !shown) return fail(shown.error());
  }
  if (options.verb == Verb::kShow || offer.is_trusted()) return ExitStatus::kFinished;
  return ask(offer, console);
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
