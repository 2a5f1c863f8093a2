// `replay`: verifies a run, or runs it again with changes.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "app/envelope.hpp"
#include "app/hints.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "app/reopen_run.hpp"
#include "app/shown_run.hpp"
#include "app/transcript.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/agent_changes.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/home_question.hpp"
#include "cli/interrupts.hpp"
#include "cli/markdown.hpp"
#include "cli/place.hpp"
#include "evals/counterfactual.hpp"
#include "praxis/app/agent_file.hpp"

namespace praxis::cli {
namespace {

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

/// Makes the session what it was after record `seq`.
Status cut_at(app::StoredSession& stored, std::uint64_t seq) {
  if (seq > stored.records.size()) {
    return fail(app::usage_error(
        fmt::format("run {} has {} records but no record {}", stored.id.str(), stored.records.size(), seq)));
  }
  stored.records.erase(stored.records.begin() + static_cast<std::ptrdiff_t>(seq), stored.records.end());
  auto state = fold(stored.records);
  if (!state) return fail(state.error());
  stored.state = *std::move(state);
  return {};
}

/// Where a session that was cut stands.
std::string place_text(const app::StoredSession& stored, std::size_t all) {
  const StoredRecord& last = stored.records.back();
  const State& state = stored.state;
  const std::string turn = state.turn ? fmt::format(", in turn {}", state.turn->id.str()) : "";
  return fmt::format("\nrecord {} of {} ({}): {}{}, {}", last.seq, all, kind_name(last.record.body),
                     to_string(state.status()), turn, app::show_usage(state.usage));
}

/// A replay with changes: the log is verified, then the run is run again unchanged in memory, then changed in
/// a fork.
class ChangedReplay {
 public:
  ChangedReplay(const ReplayOptions& options, Console& console) : options_(options), console_(console) {}

  Result<ExitStatus> run() {
    auto changes = read_changes();
    if (!changes) return fail(changes.error());
    auto workspace = open_place(options_.place, console_);
    if (!workspace) return fail(workspace.error());
    workspace->waits.stop_waiting = interrupts_.stop_token();
    const auto stored = app::open_session(*workspace, options_.id, app::JournalUse::kLook);
    if (!stored) return fail(stored.error());
    const auto plan = evals::plan_replay(*stored, *changes);
    const auto unchanged = evals::plan_replay(*stored, {.from = changes->from});
    if (!plan || !unchanged) return fail(plan ? unchanged.error() : plan.error());
    fields_ = {{"run_id", stored->id.str()}, {"changed_run_id", nullptr}};
    const auto verified = replay(stored->records);
    if (!verified) return fail(verified.error());
    fields_["records"] = verified->records;
    fields_["derived"] = verified->derived;
    fields_["divergence"] = divergence_json(verified->divergence);
    fields_["identical"] = !verified->divergence;
    if (verified->divergence) return diverged({replay_text(*stored, *verified)});
    const evals::ReplayRun how = replay_run();
    if (auto opens = enter(*stored, *workspace, how); !opens) return fail(opens.error());
    const auto same = evals::replay_unchanged(*stored, *workspace, *unchanged, how);
    if (!same) return fail(same.error());
    if (!same->is_same()) return differs(*same);
    const auto changed = evals::replay_changed(*stored, *workspace, *plan, *changes, how);
    if (!changed) return fail(changed.error());
    return report(*changed, *workspace);
  }

 private:
  Result<evals::Changes> read_changes() const {
    evals::Changes changes{.model = options_.model, .prompt = options_.prompt, .from = options_.from};
    for (const std::string& text : options_.tools) {
      auto change = evals::read_tool_change(text);
      if (!change) return fail(change.error());
      changes.tools.insert_or_assign(std::move(change->first), std::move(change->second));
    }
    return changes;
  }

  evals::ReplayRun replay_run() {
    return {.principal = cli_author(),
            .accept = agent_acceptance(options_.accept_agent, console_),
            .accept_home = home_acceptance(options_.allow_home, console_),
            .stop = interrupts_.stop_token()};
  }

  /// Enters the folder of the run, and finds out whether its agent can be used.
  Status enter(const app::StoredSession& stored, const app::Workspace& workspace,
               const evals::ReplayRun& how) const {
    return app::check_reopening(stored, workspace,
                                {.use = {.principal = how.principal},
                                 .model = options_.model,
                                 .accept = how.accept,
                                 .accept_home = how.accept_home,
                                 .stays_here = !options_.place.folder.empty()});
  }

  void show(const std::vector<evals::StepPair>& steps) {
    for (const evals::StepPair& pair : steps) {
      if (options_.json) {
        console_.item("replay_step", evals::pair_json(pair));
        continue;
      }
      for (const std::string& line : evals::pair_text(pair)) console_.out.line(line);
    }
  }

  /// The unchanged replay is not what was recorded, so that changes would prove nothing.
  ExitStatus diverged(const std::vector<std::string>& lines) {
    console_.result(std::move(fields_));
    if (!options_.json) {
      for (const std::string& line : lines) console_.out.line(line);
    }
    console_.err.line("the unchanged replay is not identical; nothing was changed");
    return ExitStatus::kDiverged;
  }
  ExitStatus differs(const evals::Replayed& same) {
    show(same.steps);
    fields_["identical"] = false;
    std::vector<std::string> lines;
    if (same.last && same.last->error) lines.push_back(app::one_line(same.last->error->message, 400));
    return diverged(lines);
  }

  Result<ExitStatus> report(const evals::Replayed& changed, const app::Workspace& workspace) {
    show(changed.steps);
    std::uint64_t differing = 0;
    for (const evals::StepPair& pair : changed.steps) differing += pair.differences.empty() ? 0 : 1;
    const AgentResult& last = *changed.last;
    fields_["changed_run_id"] = changed.run.str();
    fields_["differing_steps"] = differing;
    fields_["recorded"] = JsonObject{{"steps", changed.recorded_steps},
                                     {"cost_usd", app::cost_or_null(changed.recorded_usage)}};
    fields_["now"] = JsonObject{{"steps", changed.steps_now},
                                {"cost_usd", app::cost_or_null(changed.usage_now)},
                                {"recorded_answers", changed.answers.recorded},
                                {"termination", last.reason ? Json(to_string(*last.reason)) : Json(nullptr)}};
    console_.result(std::move(fields_));
    if (!options_.json) {
      const std::string ended = !last.reason   ? "waits for a human"
                                : last.success ? ""
                                               : std::string(to_string(*last.reason));
      console_.out.line(fmt::format("run {}: {} of {} steps differ{}{}", changed.run.str(), differing,
                                    changed.steps.size(), ended.empty() ? "" : "; ", ended));
    }
    if (!last.reason) {
      console_.err.write(app::pending_text(workspace, last, terminal_size(STDERR_FILENO).columns));
    } else if (last.error) {
      console_.err.line(visible_text("praxis: " + last.error->message));
    }
    return exit_status(last, interrupts_.received());
  }

  const ReplayOptions& options_;
  Console& console_;
  Interrupts interrupts_;
  JsonObject fields_;
};

}  // namespace

Result<ExitStatus> execute(const ReplayOptions& options, Console& console) {
  if (options.changes()) return ChangedReplay(options, console).run();
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  const std::size_t all = stored->records.size();
  if (options.to) {
    if (auto cut = cut_at(*stored, *options.to); !cut) return fail(cut.error());
  }
  std::optional<Agent> agent;
  if (!options.agent.empty()) {
    auto loaded = load_agent_file(options.agent);
    if (!loaded) return fail(loaded.error());
    agent = *std::move(loaded);
  }
  auto report = replay(stored->records, agent ? &agent->spec() : nullptr);
  if (!report) return fail(report.error());
  const app::Redactions redactions(*workspace);
  const redact::Redaction filters = redactions.filters_of_shown(*stored->state.agent);
  app::redact_difference(report->divergence, filters, filters);
  const auto shown = app::shown_run(*std::move(stored), redactions);
  if (!shown) return fail(shown.error());
  JsonObject fields{{"run_id", shown->id.str()},
                    {"identical", !report->divergence},
                    {"records", report->records},
                    {"derived", report->derived},
                    {"divergence", divergence_json(report->divergence)}};
  if (options.to) {
    const Json conversation = app::transcript(shown->records, shown->state);
    if (!options.json) {
      console.out.write(for_screen(console.terminal, app::transcript_markdown(conversation)));
      console.out.line(place_text(*shown, all));
    }
    fields["status"] = std::string(to_string(shown->state.status()));
    fields["conversation"] = conversation;
  }
  console.result(std::move(fields));
  if (!options.json) console.out.line(replay_text(*shown, *report));
  return report->divergence ? ExitStatus::kDiverged : ExitStatus::kFinished;
}

}  // namespace praxis::cli
