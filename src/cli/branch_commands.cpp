// `fork`, `rewind` and `replay`: create alternatives of a run, and verify it.
#include <fmt/format.h>

#include <charconv>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {
namespace {

/// The parts of `ID@STEP`.
struct ForkPoint {
  std::string id;
  std::optional<std::uint32_t> step;
};

Result<ForkPoint> fork_point(const std::string& text) {
  const auto at = text.find('@');
  if (at == std::string::npos) return ForkPoint{text, std::nullopt};
  const std::string step = text.substr(at + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
  const bool is_number = error == std::errc{} && end == step.data() + step.size() && number > 0;
  if (!is_number)
    return fail(
        app::usage_error(fmt::format("\"{}\" is not a step number; write ID@3 for the third step", step)));
  return ForkPoint{text.substr(0, at), number};
}

/// The record after which the branch starts; 0: the last one.
Result<std::uint64_t> seq_of(const ForkOptions& options, const ForkPoint& point,
                             const app::StoredSession& stored) {
  if (point.step && options.seq)
    return fail(app::usage_error("@STEP and --seq exclude each other; give one"));
  if (point.step) return seq_of_step(stored.records, *point.step);
  if (!options.seq) return 0;
  if (*options.seq <= stored.records.size()) return *options.seq;
  return fail(app::usage_error(fmt::format("run {} has {} records but no record {}", stored.id.str(),
                                           stored.records.size(), *options.seq)));
}

Json divergence_json(const std::optional<Divergence>& divergence) {
  if (!divergence) return nullptr;
  return JsonObject{{"seq", divergence->seq},
                    {"field", divergence->field},
                    {"expected", divergence->expected},
                    {"found", divergence->found}};
}

std::string replay_text(const app::StoredSession& stored, const ReplayReport& report) {
  if (!report.divergence) {
    return fmt::format("{}: identical, {} records replayed, {} of them derived again", stored.id.str(),
                       report.records, report.derived);
  }
  const Divergence& first = *report.divergence;
  return fmt::format("{}: diverges at record {}, {}\n  recorded: {}\n  now:      {}", stored.id.str(),
                     first.seq, first.field, app::one_line(first.expected, 400),
                     app::one_line(first.found, 400));
}

/// Runs the branch with the prompt. A branch within a turn gets it as a command at its next step.
Result<ExitStatus> run_branch(const ForkOptions& options, const SessionId& branch, bool within_turn,
                              Console& console) {
  ResumeOptions resume;
  resume.place = options.place;
  resume.id = branch.str();
  resume.model = options.model;
  resume.output.json = options.json;
  if (!within_turn) {
    resume.prompt = options.prompt;
    return execute(resume, console);
  }
  TreeCommandOptions steer;
  steer.place = options.place;
  steer.name = "steer";
  steer.verb = CommandVerb::kSteer;
  steer.node = branch.str();
  steer.text = options.prompt;
  auto steered = execute(steer, console);
  return steered ? execute(resume, console) : steered;
}

}  // namespace

Result<ExitStatus> execute(const ForkOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto point = fork_point(options.id);
  if (!point) return fail(point.error());
  const auto stored = app::open_session(*workspace, point->id, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  const auto seq = seq_of(options, *point, *stored);
  if (!seq) return fail(seq.error());
  const auto branch = fork_session(*stored->journal, *system_environment(), stored->id, *seq);
  if (!branch) return fail(branch.error());
  console.result({{"run_id", branch->str()}, {"forked_from", stored->id.str()}});
  if (!options.json) console.out.line(branch->str());
  const auto state = fold(stored->records, *seq);
  const bool goes_on = state && state->turn.has_value();
  if (!options.prompt.empty()) return run_branch(options, *branch, goes_on, console);
  console.err.line(fmt::format("resume: {}{}{}", app::resume_command(*workspace, *branch),
                               options.model.empty() ? "" : " --model " + app::shell_word(options.model),
                               goes_on ? "" : " \"PROMPT\""));
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const RewindOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto stored = app::open_session(*workspace, options.id, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  const auto environment = system_environment();
  if (auto done = rewind_session(*stored->journal, *environment, stored->id, TurnId(options.turn)); !done) {
    return fail(done.error());
  }
  console.result({{"run_id", stored->id.str()}, {"turn", options.turn}});
  console.err.line(fmt::format("run {} stands before {}\nresume: {} \"PROMPT\"", stored->id.str(),
                               options.turn, app::resume_command(*workspace, stored->id)));
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const ReplayOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  std::optional<Agent> agent;
  if (!options.agent.empty()) {
    auto loaded = load_agent_file(options.agent);
    if (!loaded) return fail(loaded.error());
    agent = *std::move(loaded);
  }
  const auto report = replay(stored->records, agent ? &agent->spec() : nullptr);
  if (!report) return fail(report.error());
  console.result({{"run_id", stored->id.str()},
                  {"identical", !report->divergence},
                  {"records", report->records},
                  {"derived", report->derived},
                  {"divergence", divergence_json(report->divergence)}});
  if (!options.json) console.out.line(replay_text(*stored, *report));
  return report->divergence ? ExitStatus::kDiverged : ExitStatus::kFinished;
}

}  // namespace praxis::cli
