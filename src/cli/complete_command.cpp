// `__complete`: what the completion scripts of shells ask for, one candidate a line with its description
// after a tab. Hidden, quick, and silent about every failure: a line that is being typed is no place for
// messages.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <sstream>

#include "app/config_keys.hpp"
#include "app/pending_steps.hpp"
#include "app/plain_text.hpp"
#include "app/provider_status.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/complete_words.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMostRows = 1000;  ///< read from the journal, with sub-agents
constexpr std::size_t kMostRuns = 100;
constexpr std::size_t kDescriptionColumns = 60;

/// Whether every shell takes the word unchanged. Names of files and runs come from others.
bool is_plain_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/@+=";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

class Candidates {
 public:
  Candidates(const WantedWord& wanted, Console& console) : wanted_(wanted), console_(console) {}

  void add(std::string_view word, std::string_view description = "") {
    if (!word.starts_with(wanted_.typed) || !is_plain_word(word)) return;
    std::string line = wanted_.before + std::string(word);
    if (!description.empty()) line += '\t' + app::one_line(description, kDescriptionColumns);
    console_.out.line(line);
  }
  void add_fixed() {
    std::istringstream words{std::string(wanted_.fixed)};
    for (std::string word; words >> word;) add(word);
  }

 private:
  const WantedWord& wanted_;
  Console& console_;
};

void add_commands(const ProgramText& program, Candidates& out) {
  for (const CommandText& command : program.commands) out.add(command.name, command.description);
  out.add("--help", "Print the help");
  out.add("--version", "Print the version");
}

void add_flags(const ProgramText& program, const std::string& name, Candidates& out) {
  const auto command = std::ranges::find(program.commands, name, &CommandText::name);
  for (const OptionText& option : command->options) {
    for (const std::string& flag : option.flags) out.add(flag, option.description);
  }
}

void add_runs(const app::Workspace& workspace, Candidates& out) {
  out.add("last", "the newest run");
  const auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal) return;
  const auto rows = (*journal)->sessions(kMostRows);
  if (!rows) return;
  std::size_t runs = 0;
  for (const SessionRow& row : *rows) {
    if (!row.parent.empty() || row.entries == 0) continue;
    if (++runs > kMostRuns) break;
    const std::string description = fmt::format("{} {} {}", row.agent, row.status, row.title);
    if (!row.name.empty()) out.add(row.name, description);
    out.add(row.id.str(), description);
  }
}

void add_steps(const app::Workspace& workspace, Candidates& out) {
  const auto steps = app::pending_in(workspace);
  if (!steps) return;
  for (const app::PendingStep& each : *steps)
    out.add(each.step.id.str(),
            fmt::format("{} {} {}", each.node.path, to_string(each.step.kind), each.step.tool));
}

void add_models(const app::Workspace& workspace, bool with_providers, Candidates& out) {
  const auto catalog = app::open_catalog(workspace);
  if (!catalog) return;
  for (const std::string& id : (*catalog)->providers()) {
    const ProviderFacts& provider = *(*catalog)->provider(id);
    if (with_providers) out.add(id, provider.name);
    if (!app::status_of(provider, workspace).configured) continue;
    for (const ModelFacts& model : (*catalog)->models(id))
      out.add(fmt::format("{}:{}", model.provider, model.id), model.name);
  }
}

void add_values(const WantedWord& wanted, Candidates& out) {
  const auto workspace = app::open_workspace(wanted.place);
  if (!workspace) return;
  switch (wanted.kind) {
    case WordKind::kRun:
      return add_runs(*workspace, out);
    case WordKind::kStep:
      return add_steps(*workspace, out);
    case WordKind::kAgent:
      for (const std::string& name : app::agent_names(*workspace)) out.add(name);
      return;
    case WordKind::kModel:
    case WordKind::kProvider:
      return add_models(*workspace, wanted.kind == WordKind::kProvider, out);
    case WordKind::kSetting:
      for (const SettingKey& key : app::scalar_keys()) out.add(key.path, key.description);
      return;
    default:
      return;
  }
}

void print_candidates(const CompleteOptions& options, Console& console) {
  const WantedWord wanted = wanted_word(options.program, options.words);
  Candidates out(wanted, console);
  out.add_fixed();
  if (wanted.kind == WordKind::kCommand) {
    add_commands(options.program, out);
  } else if (wanted.kind == WordKind::kFlag) {
    add_flags(options.program, wanted.command, out);
  } else if (wanted.kind != WordKind::kUnknown && wanted.kind != WordKind::kFixed) {
    add_values(wanted, out);
  }
}

}  // namespace

Result<ExitStatus> execute(const CompleteOptions& options, Console& console) {
  try {
    print_candidates(options, console);
  } catch (const std::exception&) {  // as if there were nothing to offer
    return ExitStatus::kFinished;
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
