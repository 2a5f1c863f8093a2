// `fork`, `rewind` and `replay`: create alternatives of a run, and verify it.
#include <fmt/format.h>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/transcript.hpp"
#include "app/turn_message.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/editor.hpp"
#include "cli/files.hpp"
#include "cli/fork_point.hpp"
#include "cli/markdown.hpp"
#include "cli/place.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {
namespace {

Error no_such_record(const app::StoredSession& stored, std::uint64_t seq) {
  return app::usage_error(
      fmt::format("run {} has {} records but no record {}", stored.id.str(), stored.records.size(), seq));
}

/// The record after which the branch starts; 0: the last one.
Result<std::uint64_t> seq_of(const ForkOptions& options, const ForkPoint& point,
                             const app::StoredSession& stored) {
  const bool is_point = point.is_given();
  if (is_point && options.seq) return fail(app::usage_error("@STEP and --seq exclude each other; give one"));
  if (is_point) return seq_of_point(stored.records, point);
  if (!options.seq) return 0;
  if (*options.seq <= stored.records.size()) return *options.seq;
  return fail(no_such_record(stored, *options.seq));
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

/// Makes the session what it was after record `seq`.
Status cut_at(app::StoredSession& stored, std::uint64_t seq) {
  if (seq > stored.records.size()) return fail(no_such_record(stored, seq));
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

/// What a branch is run with; no text: it is only made.
struct BranchMessage {
  std::string text;
  std::vector<Part> rest = {};  ///< images and files
};

/// Lets the user edit the message that began the turn at `seq`, and moves `seq` to before that turn.
Result<BranchMessage> edited_message(const app::StoredSession& stored, std::uint64_t& seq) {
  auto message = app::turn_message_at(stored.records, seq);
  if (!message) return fail(message.error());
  auto text = edit_text(message->text, ".md");
  if (!text) return fail(text.error());
  if (!message->text.ends_with('\n')) text->erase(text->find_last_not_of('\n') + 1);  // of the editor
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(app::usage_error("the message is empty; no branch was made"));
  seq = message->before;
  return BranchMessage{*std::move(text), std::move(message->rest)};
}

/// Runs the branch with the message. A branch within a turn gets it as a command at its next step.
Result<ExitStatus> run_branch(const ForkOptions& options, const SessionId& branch, BranchMessage message,
                              bool within_turn, Console& console) {
  ResumeOptions resume;
  resume.place = options.place;
  resume.id = branch.str();
  resume.model = options.model;
  resume.output.json = options.json;
  if (!within_turn) {
    resume.prompt = std::move(message.text);
    resume.with_prompt = std::move(message.rest);
    return execute(resume, console);
  }
  TreeCommandOptions steer;
  steer.place = options.place;
  steer.name = "steer";
  steer.verb = CommandVerb::kSteer;
  steer.node = branch.str();
  steer.text = std::move(message.text);
  auto steered = execute(steer, console);
  return steered ? execute(resume, console) : steered;
}

/// Takes the files of the run back to what they were after the record. What is said goes to standard error.
Status take_files_back(const app::Workspace& workspace, const app::StoredSession& stored, std::uint64_t seq,
                       Console& console) {
  const auto done = restore_run_files(workspace, stored, {seq}, {.yes = true, .quiet = true}, console);
  return done ? Status{} : fail(done.error());
}

}  // namespace

Result<ExitStatus> execute(const ForkOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto point = fork_point(options.id);
  if (!point) return fail(point.error());
  const auto stored = app::open_session(*workspace, point->id, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  auto seq = seq_of(options, *point, *stored);
  if (!seq) return fail(seq.error());
  auto message = options.edit ? edited_message(*stored, *seq) : BranchMessage{options.prompt};
  if (!message) return fail(message.error());
  if (options.files && *seq != 0) {
    if (auto back = take_files_back(*workspace, *stored, *seq, console); !back) return fail(back.error());
  }
  const auto branch = fork_session(*stored->journal, *system_environment(), stored->id, *seq);
  if (!branch) return fail(branch.error());
  console.result({{"run_id", branch->str()}, {"forked_from", stored->id.str()}});
  if (!options.json) console.out.line(branch->str());
  const auto state = fold(stored->records, *seq);
  const bool goes_on = state && state->turn.has_value();
  if (!message->text.empty()) return run_branch(options, *branch, *std::move(message), goes_on, console);
  console.err.line(fmt::format("resume: {}{}{}", app::resume_command(*workspace, *branch),
                               options.model.empty() ? "" : " --model " + app::shell_word(options.model),
                               goes_on ? "" : " \"PROMPT\""));
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const RewindOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto at = options.id.find('@');
  const std::string turn = at == std::string::npos ? options.turn : options.id.substr(at + 1);
  if (turn.empty() || (at != std::string::npos && !options.turn.empty()))
    return fail(app::usage_error("rewind to where? Give the first turn to undo",
                                 "praxis rewind ID@t2, or ID --to t2; 'praxis show' lists the turns"));
  auto stored = app::open_session(*workspace, options.id.substr(0, at), app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  std::optional<std::uint64_t> before;
  if (options.files) {
    const auto found = app::record_before_turn(stored->records, TurnId(turn));
    if (!found) return fail(found.error());
    before = *found;
  }
  const auto environment = system_environment();
  if (auto done = rewind_session(*stored->journal, *environment, stored->id, TurnId(turn)); !done) {
    return fail(done.error());
  }
  if (before) {
    if (auto back = take_files_back(*workspace, *stored, *before, console); !back) return fail(back.error());
  }
  console.result({{"run_id", stored->id.str()}, {"turn", turn}});
  console.err.line(fmt::format("run {} stands before {}\nresume: {} \"PROMPT\"", stored->id.str(), turn,
                               app::resume_command(*workspace, stored->id)));
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const ReplayOptions& options, Console& console) {
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
  const auto report = replay(stored->records, agent ? &agent->spec() : nullptr);
  if (!report) return fail(report.error());
  JsonObject fields{{"run_id", stored->id.str()},
                    {"identical", !report->divergence},
                    {"records", report->records},
                    {"derived", report->derived},
                    {"divergence", divergence_json(report->divergence)}};
  if (options.to) {
    const Json conversation = app::transcript(stored->records, stored->state);
    if (!options.json) {
      console.out.write(for_screen(console.terminal, app::transcript_markdown(conversation)));
      console.out.line(place_text(*stored, all));
    }
    fields["status"] = std::string(to_string(stored->state.status()));
    fields["conversation"] = conversation;
  }
  console.result(std::move(fields));
  if (!options.json) console.out.line(replay_text(*stored, *report));
  return report->divergence ? ExitStatus::kDiverged : ExitStatus::kFinished;
}

}  // namespace praxis::cli
