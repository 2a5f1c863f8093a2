// `fork` and `rewind`: create alternatives of a run.
#include <fmt/format.h>

#include "app/hints.hpp"
#include "app/turn_message.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/editor.hpp"
#include "cli/files.hpp"
#include "cli/fork_point.hpp"
#include "cli/place.hpp"
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

}  // namespace praxis::cli
