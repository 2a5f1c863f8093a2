#include "cli/turn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "app/envelope.hpp"
#include "app/hints.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "app/reopen_run.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/author.hpp"
#include "cli/denials.hpp"
#include "cli/kept_run.hpp"
#include "cli/progress.hpp"
#include "cli/questions.hpp"
#include "driver/nothing_to_resume.hpp"
#include "logs/read_state.hpp"
#include "models/recording/recorder.hpp"

namespace praxis::cli {
namespace {

std::string sum_of(const AgentResult& result) {
  const Usage all = result.usage + result.usage_children;
  return fmt::format("{} {}, {}, {}", result.steps, result.steps == 1 ? "step" : "steps",
                     app::show_duration(result.finished_at - result.started_at), app::show_usage(all));
}

/// Whether `resume` continues the turn that ended with `result`, instead of starting another.
bool can_continue(Journal& journal, const AgentResult& result) {
  if (result.success) return false;
  const auto state = read_state(journal, result.session);
  return state && app::can_continue(*state);
}

/// How the turn ended and how to resume it.
std::string ending(const app::Workspace& workspace, const TurnEnd& ended) {
  const AgentResult& result = ended.result;
  std::string text;
  if (result.reason) text = fmt::format("{}: {}\n", to_string(*result.reason), sum_of(result));
  for (const std::string& denial : result.denials)
    text += fmt::format("denied: {}\n", app::one_line(denial, 200));
  for (const ActionResult& action : result.actions) {
    if (action.outcome == Outcome::kUnknown)
      text += fmt::format("unknown: {} may or may not have taken effect\n", app::one_line(action.tool, 64));
  }
  for (const std::string& warning : result.warnings)
    text += fmt::format("warning: {}\n", app::one_line(warning, 200));
  text += app::pending_text(workspace, result, terminal_size(STDERR_FILENO).columns);
  text += fmt::format("run {}\n", result.session.str());
  if (!workspace.keeps_runs()) return text;
  const std::string resume = app::resume_command(workspace, result.session);
  if (result.reason && !ended.can_continue) return text + fmt::format("resume: {} \"PROMPT\"\n", resume);
  return result.pending.empty() ? text + fmt::format("resume: {}\n", resume) : text;
}

/// Whether the last message goes to a file. `-` is standard output, which gets it anyway.
bool has_file(const TurnOutput& output) { return !output.file.empty() && output.file != "-"; }

/// The size of the recording so far, in bytes.
std::uintmax_t recorded_bytes(const TurnOutput& output) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(output.record_to + '/' + kExchangesFile, missing);
  return missing ? 0 : size;
}

/// Reports a `--record` that recorded nothing.
void check_recording(const TurnOutput& output, std::uintmax_t before, Console& console) {
  if (output.record_to.empty() || recorded_bytes(output) > before) return;
  console.err.line(
      visible_text(fmt::format("praxis: warning: --record {}: nothing was recorded, because no model was "
                               "called over HTTP; script: and cassette: models are not",
                               output.record_to)));
}

}  // namespace

ExitStatus tell(TurnEnd ended, const app::Workspace& workspace, const TurnOutput& output, Console& console) {
  const AgentResult& result = ended.result;
  console.result(std::move(ended.fields));
  ExitStatus status = exit_status(result, ended.signal);
  const bool has_ended = status == ExitStatus::kFinished || status == ExitStatus::kFailed;
  if (ended.blocked && has_ended) status = ExitStatus::kBlocked;
  if (has_file(output) && result.reason != StopReason::kInvalidOutput) {
    const bool needs_end = !result.text.empty() && !result.text.ends_with('\n');
    if (auto written = write_file(output.file, result.text + (needs_end ? "\n" : "")); !written) {
      console.fields->at("errors").get_array().push_back(to_json(written.error()));
      status = console.report(written.error());
    }
  }
  if (result.error) console.report(*result.error);
  if (!output.quiet || status != ExitStatus::kFinished) console.err.write(ending(workspace, ended));
  return status;
}

app::RuntimeUse runtime_use(const TurnOutput& output) {
  return {cli_author(), output.stream, output.record_to};
}

TurnOutput with_absolute_paths(TurnOutput output) {
  if (has_file(output)) output.file = std::filesystem::absolute(output.file).string();
  if (!output.record_to.empty()) output.record_to = std::filesystem::absolute(output.record_to).string();
  return output;
}

Status check_output(const TurnOutput& output) {
  if (output.quiet && output.verbose) return fail(app::usage_error("give either -q or -v, not both"));
  if (output.file == "-" && output.json)
    return fail(app::usage_error("-o - and --json both write to standard output",
                                 "without -o, the last line of --json has the last message as \"result\""));
  if (!has_file(output)) return {};
  const int fd = open(output.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return fail(app::usage_error(fmt::format("cannot write \"{}\": {}", output.file, std::strerror(errno))));
  close(fd);
  return {};
}

Verbosity verbosity_of(const TurnOutput& output) {
  if (output.quiet) return Verbosity::kQuiet;
  return output.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
}

namespace {

/// Returns the status of the turn. `is_next`: it begins with a queued message. If that was withdrawn after
/// the look at the queue, the status is `kFinished`, as that of the turn before it.
ExitStatus follow_turn(const SessionId& session, const std::function<Run()>& start, bool is_next,
                       Runtime& runtime, const app::Workspace& workspace, const TurnOutput& output,
                       Interrupts& interrupts, Console& console) {
  std::optional<Progress> progress;
  std::shared_ptr<Questions> questions;
  if (!output.json)
    progress.emplace(console, session, paths_below(runtime.journal(), session), verbosity_of(output));
  if (progress && !output.no_input && StepDialog::can_ask(console)) {
    questions = std::make_shared<Questions>(console, *progress, runtime.journal());
    runtime.set_approval_handler([questions](const ParkedStep& step, const std::stop_token& stop) {
      return questions->ask(step, stop);
    });
  }
  const std::uintmax_t recorded = recorded_bytes(output);
  Denials denials(session);
  Run run = start();  // after the handler is set: a turn that waits before would end instead of asking
  interrupts.on_first([run]() mutable { run.interrupt(); });
  for (const Event& event : run) {
    denials.add(event);
    if (progress) {
      progress->show(event);
    } else {
      console.json(app::program_json(event));
    }
  }
  auto result = run.report();
  if (result) std::ranges::copy(denials.below(), std::back_inserter(result->denials));
  if (questions) {
    runtime.set_approval_handler(nullptr);
    questions->close();
  }
  if (progress && result) progress->finish(*result);
  progress.reset();
  if (!result && is_next && !interrupts.received() && has_nothing_to_resume(result.error()))
    return ExitStatus::kFinished;
  check_recording(output, recorded, console);
  if (result) {
    return tell({.result = *result,
                 .fields = app::run_fields(*result),
                 .can_continue = can_continue(runtime.journal(), *result),
                 .blocked = denials.any() && !output.denials_ok,
                 .signal = interrupts.received()},
                workspace, output, console);
  }
  console.result(app::run_fields(result.error(), run.session_id()));
  const ExitStatus status = console.report(result.error(), interrupts.received());
  if (is_journal_gone(result.error()))
    console.err.write(keep_run(runtime.journal(), run.session_id(), workspace));
  return status;
}

void tell_queued(std::size_t queued, const SessionId& session, const app::Workspace& workspace,
                 Console& console) {
  if (queued == 0 || !workspace.keeps_runs()) return;
  console.err.line(fmt::format("queued: {} {}; the next turn begins with {}", queued,
                               queued == 1 ? "message" : "messages",
                               app::resume_command(workspace, session)));
}

}  // namespace

ExitStatus follow(Session session, const StartTurn& start, Runtime& runtime, const app::Workspace& workspace,
                  const TurnOutput& output, Interrupts& interrupts, Console& console) {
  const auto turn = [&](const std::function<Run()>& begin, bool is_next) {
    return follow_turn(session.session_id(), begin, is_next, runtime, workspace, output, interrupts, console);
  };
  ExitStatus status = turn([&] { return start(session); }, false);
  while (status == ExitStatus::kFinished && session.queued() > 0)
    status = turn([&] { return session.resume({}, cli_author()); }, true);
  tell_queued(session.queued(), session.session_id(), workspace, console);
  return status;
}

Result<ExitStatus> follow_team(Team& team, const StartTeamTurn& start, Runtime& runtime,
                               const app::Workspace& workspace, const TurnOutput& output,
                               Interrupts& interrupts, Console& console) {
  const auto begun = team.begin();
  if (!begun) return fail(begun.error());
  const SessionId id = begun->session_id();
  const auto turn = [&](const std::function<Run()>& begin, bool is_next) {
    return follow_turn(id, begin, is_next, runtime, workspace, output, interrupts, console);
  };
  // Each member has a handle of its own on the conversation.
  const auto queued = [&] {
    const auto session = team.begin();
    return session ? session->queued() : 0;
  };
  ExitStatus status = turn([&] { return start(team); }, false);
  while (status == ExitStatus::kFinished && queued() > 0)
    status = turn([&] { return team.stream_resume({}, cli_author()); }, true);
  tell_queued(queued(), id, workspace, console);
  return status;
}

Result<ExitStatus> follow_run(app::OpenRun& run, const StartTurn& one, const StartTeamTurn& all,
                              const app::Workspace& workspace, const TurnOutput& output,
                              Interrupts& interrupts, Console& console) {
  if (run.team) return follow_team(*run.team, all, *run.runtime, workspace, output, interrupts, console);
  return follow(run.session, one, *run.runtime, workspace, output, interrupts, console);
}

}  // namespace praxis::cli
