// `eval`: runs the cases of a suite and reports what became of them; `eval add` makes a case from a run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "app/transcript.hpp"
#include "app/without_secrets.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/home_question.hpp"
#include "cli/interrupts.hpp"
#include "cli/live_traces.hpp"
#include "cli/place.hpp"
#include "evals/add_case.hpp"
#include "evals/report.hpp"
#include "evals/run_suite.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;
using evals::TrialResult;

std::string absolute(const std::string& path) { return path.empty() ? path : fs::absolute(path).string(); }

Result<ExitStatus> add_to_suite(const EvalOptions& options, Console& console) {
  if (options.words.size() != 3)
    return fail(app::usage_error("add takes a run and a suite", "praxis eval add last suite.toml"));
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const std::string& path = options.words[2];
  if (!path.ends_with(".toml"))
    return fail(app::usage_error("cases can be added to a suite in TOML only, not to " + app::in_quotes(path),
                                 "praxis eval add last suite.toml"));
  const auto run = app::open_session(*workspace, options.words[1], app::JournalUse::kLook);
  if (!run) return fail(run.error());
  std::string text;
  if (fs::exists(path)) {
    auto read = read_input(path);
    if (!read) return fail(read.error());
    text = *std::move(read);
  }
  const auto added = evals::add_case(*run, text, path);
  if (!added) return fail(added.error());
  if (auto written = write_file(path, added->text); !written) return fail(written.error());
  console.result({{"case", added->id}, {"suite", path}, {"run_id", run->id.str()}});
  if (!options.json)
    console.out.line(fmt::format("added {} to {}", app::one_line(added->id, 80), app::one_line(path, 200)));
  return ExitStatus::kFinished;
}

/// What programs of checks must not read.
std::vector<std::string> hidden_files(const app::Workspace& workspace) {
  const std::vector<std::string> folders = app::own_folders();
  std::vector<std::string> hidden = folders;
  // What is in a folder that is seen as empty cannot be hidden once more.
  std::ranges::copy_if(app::files_of_runs(workspace), std::back_inserter(hidden), [&](const auto& file) {
    return std::ranges::none_of(folders, [&](const auto& each) { return file.starts_with(each + '/'); });
  });
  return hidden;
}

/// A run as `praxis export` gives it to others; empty if it cannot be read.
std::string exported_text(const std::shared_ptr<Journal>& journal, const SessionId& run,
                          const app::Redactions& redactions) {
  const auto stored = app::read_session(journal, run);
  if (!stored) return {};
  return app::transcript_markdown(app::transcript_for_export(stored->records, stored->state, redactions));
}

/// One evaluation, from the suite to the reports.
class Evaluation {
 public:
  Evaluation(const EvalOptions& options, Interrupts& interrupts, Console& console)
      : options_(options), interrupts_(interrupts), console_(console) {}

  Result<ExitStatus> run() {
    auto workspace = open_place(options_.place, console_);
    if (!workspace) return fail(workspace.error());
    workspace->waits.stop_waiting = interrupts_.stop_token();
    redaction_ = app::Redactions(*workspace).at(&RedactRules::exports);
    auto suite = evals::read_suite(options_.words.front());
    if (!suite) return fail(suite.error());
    if (auto kept = evals::keep_tagged(*suite, options_.tags); !kept) return fail(kept.error());
    if (auto read = read_baseline(); !read) return fail(read.error());
    auto runtime = app::open_runtime(*workspace, {.principal = cli_author(), .stream = false});
    if (!runtime) return fail(runtime.error());
    const auto traces = options_.replay ? nullptr : live_traces(*workspace, console_);
    evals::VariantMaking making{.model = options_.model,
                                .accept_home = home_acceptance(options_.allow_home, console_),
                                .warn = [&](const std::string& text) {
                                  console_.err.line(visible_text("praxis: warning: " + text));
                                }};
    auto variants = evals::prepare_variants(*suite, making, *workspace, **runtime);
    if (!variants) return fail(variants.error());
    auto judge = evals::prepare_judge(*suite, making, *workspace, **runtime);
    if (!judge) return fail(judge.error());
    evals::SuiteRun run = how(suite->runs());
    run.judge = *std::move(judge);
    const auto offline = off_line(*workspace, *runtime, run);
    if (!offline) return fail(offline.error());
    run.hide = hidden_files(*workspace);
    auto result = evals::run_suite(*suite, *variants, **runtime, run);
    if (!result) return fail(result.error());
    for (TrialResult& trial : result->trials) trial = shown(std::move(trial));
    evals::ReportHead head{suite->name, app::place_options(*workspace)};
    head.run_text = [redactions = app::Redactions(*workspace),
                     journal = std::shared_ptr<Journal>(*runtime, &(*runtime)->journal())](
                        const SessionId& id) { return exported_text(journal, id, redactions); };
    if (result->judge) head.notes.push_back(evals::judge_text(*result->judge));
    return report(head, *result);
  }

 private:
  /// What makes the recorded runs again, if that is asked for. A judge that is a script or a cassette then
  /// judges apart from the journal; any other only gives the judgements that are recorded.
  Result<std::unique_ptr<evals::OfflineRuns>> off_line(const app::Workspace& workspace,
                                                       const std::shared_ptr<Runtime>& runtime,
                                                       evals::SuiteRun& run) const {
    if (!options_.replay) return nullptr;
    auto made = std::make_unique<evals::OfflineRuns>(
        evals::OfflineRunsOptions{.workspace = workspace,
                                  .journal = std::shared_ptr<Journal>(runtime, &runtime->journal()),
                                  .principal = cli_author(),
                                  .stop = interrupts_.stop_token()});
    if (run.judge) {
      run.judge->only_recorded = !evals::answers_from_files(run.judge->agent.spec().model);
      if (!run.judge->only_recorded) {
        auto apart = made->open_runtime();
        if (!apart) return fail(apart.error());
        run.judge->apart = *std::move(apart);
      }
    }
    run.offline = made.get();
    return made;
  }

  Status read_baseline() {
    if (options_.baseline.empty()) return {};
    auto text = read_input(options_.baseline);
    if (!text) return fail(text.error());
    auto read = evals::read_baseline(*text, options_.baseline);
    if (!read) return fail(read.error());
    baseline_ = *std::move(read);
    return {};
  }

  evals::SuiteRun how(std::size_t runs) {
    interrupts_.on_first([this] {
      console_.err.line(
          "stopping: runs in progress finish first; once more stops now, and the same command continues");
    });
    return {.round = options_.round,
            .jobs = options_.jobs,
            .max_usd = options_.max_usd.value_or(MicroUsd{}),
            .stop = interrupts_.stop_token(),
            .done = [this, runs](const TrialResult& trial) { show(trial, runs); }};
  }

  /// The trial as reports may show it.
  TrialResult shown(TrialResult trial) const {
    for (std::string& problem : trial.problems) problem = redaction_.text(std::move(problem));
    return trial;
  }

  void show(const TrialResult& trial, std::size_t runs) {
    ++done_;
    if (options_.json) console_.item("eval_run", evals::trial_json(shown(trial)));
    if (options_.json || options_.quiet || trial.from_journal) return;
    console_.err.line(fmt::format("{}/{} {}: {}, {}", done_, runs, evals::to_string(trial.verdict),
                                  app::one_line(trial.test, 40), app::one_line(trial.variant, 40)));
  }

  Result<ExitStatus> report(const evals::ReportHead& head, const evals::SuiteResult& result) {
    const evals::Summary summary = evals::summarise(result.trials, baseline_ ? &*baseline_ : nullptr);
    JsonObject fields = evals::summary_json(summary);
    fields["suite"] = head.suite;
    fields["missing"] = result.missing;
    fields["judge"] = result.judge ? Json(evals::judge_json(*result.judge)) : Json(nullptr);
    console_.result(std::move(fields));
    if (!options_.junit.empty()) {
      if (auto written = write_file(options_.junit, evals::junit_report(head, summary)); !written)
        return fail(written.error());
    }
    if (!options_.html.empty()) {
      if (auto written = write_file(options_.html, evals::html_report(head, summary)); !written)
        return fail(written.error());
    }
    if (!options_.json) {
      const std::size_t columns = console_.terminal.out ? terminal_size(STDOUT_FILENO).columns : 100;
      for (const std::string& line : evals::text_report(head, summary, columns)) console_.out.line(line);
    }
    return status_of(summary, result);
  }

  /// The exit status, with the reason on standard error.
  ExitStatus status_of(const evals::Summary& summary, const evals::SuiteResult& result) {
    if (result.missing > 0)
      console_.err.line(fmt::format("{} runs did not begin; the same command continues", result.missing));
    if (const int signal = interrupts_.received(); signal != 0)
      return exit_status(make_error(ErrorCode::kCancelled, ""), signal);
    if (result.over_budget && result.missing > 0) return ExitStatus::kLimit;
    const auto differing = std::ranges::count_if(result.trials, &TrialResult::differs);
    if (differing > 0) {
      console_.err.line(fmt::format("{} of {} runs are not as recorded", differing, result.trials.size()));
      return ExitStatus::kDiverged;
    }
    bool is_below = false, has_errors = false;
    for (const evals::VariantSummary& sum : summary.variants) {
      has_errors = has_errors || sum.errors > 0;
      if (!options_.threshold || sum.score >= *options_.threshold) continue;
      is_below = true;
      console_.err.line(fmt::format("{}: the score {:.3f} is below {}", app::one_line(sum.name, 40),
                                    sum.score, *options_.threshold));
    }
    for (const evals::Comparison& each : summary.comparisons) {
      if (!baseline_ || each.against != evals::kBaselineName || !each.is_worse()) continue;
      is_below = true;
      console_.err.line(app::one_line(each.variant, 40) + ": worse than the baseline");
    }
    if (is_below) return ExitStatus::kBelow;
    return has_errors ? ExitStatus::kFailed : ExitStatus::kFinished;
  }

  const EvalOptions& options_;
  Interrupts& interrupts_;
  Console& console_;
  std::optional<std::vector<TrialResult>> baseline_;
  redact::Redaction redaction_;  ///< of problems, which quote answers
  std::size_t done_ = 0;
};

}  // namespace

Result<ExitStatus> execute(const EvalOptions& options, Console& console) {
  if (options.words.empty()) return fail(app::usage_error("no suite given", "praxis eval suite.toml"));
  if (options.words.front() == "add") return add_to_suite(options, console);
  if (options.words.size() > 1)
    return fail(
        app::usage_error("unexpected argument " + app::in_quotes(options.words[1]), "praxis eval --help"));
  Interrupts interrupts;
  EvalOptions here = options;
  // The folder of the evaluation may be another one.
  for (std::string* path : {&here.baseline, &here.junit, &here.html}) *path = absolute(*path);
  return Evaluation(here, interrupts, console).run();
}

}  // namespace praxis::cli
