#include "cli/doctor_journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/workspace.hpp"
#include "journal/accept_loss.hpp"
#include "praxis/journal/postgres_journal.hpp"

namespace praxis::cli {
namespace {

/// The path of the journal's file, without symbolic links, as processes that write to it use it.
Result<std::string> journal_of(const DoctorOptions& options) {
  const auto workspace = app::open_workspace(options.place);
  if (!workspace) return fail(workspace.error());
  if (!workspace->keeps_runs())
    return fail(
        app::usage_error("runs are kept in memory, so there is no journal", "--journal FILE names one"));
  if (is_postgres_address(workspace->journal))
    return fail(app::usage_error("the journal is a database, whose server watches over what it has lost",
                                 "praxis doctor checks the newest runs"));
  std::error_code failed;
  const auto path = std::filesystem::canonical(workspace->journal, failed);
  return failed ? workspace->journal : path.string();
}

std::string sentence(const LostRecords& lost) {
  const std::string which = lost.left + 1 == lost.acknowledged
                                ? fmt::format("record {}", lost.acknowledged)
                                : fmt::format("records {} to {}", lost.left + 1, lost.acknowledged);
  return fmt::format("session {} lost {}", lost.session, which);
}

/// Asks for confirmation; false unless the user says yes.
Result<bool> confirmed(bool yes, Console& console) {
  if (yes) return true;
  if (isatty(STDIN_FILENO) != 1)
    return fail(app::usage_error("cannot ask for confirmation: standard input is not a terminal",
                                 "--yes accepts the loss without confirmation"));
  console.err.write("Go on with what is left? Calls that were lost may be repeated. [y/N] ");
  std::string answer(16, '\0');
  const auto got = read(STDIN_FILENO, answer.data(), answer.size());
  return got > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

}  // namespace

Result<ExitStatus> show_or_check_head(const DoctorOptions& options, Console& console) {
  const auto path = journal_of(options);
  if (!path) return fail(path.error());
  if (options.head->empty()) {
    const auto head = head_of_journal(*path);
    if (!head) return fail(head.error());
    console.result({{"head", to_text(*head)}});
    if (!options.json) console.out.line(to_text(*head));
    return ExitStatus::kFinished;
  }
  const auto head = parse_journal_head(*options.head);
  if (!head)
    return fail(app::usage_error("the text after --head is not a head, or not complete",
                                 "praxis doctor --head prints one; quote it"));
  if (auto checked = check_journal_head(*path, *head); !checked) return fail(std::move(checked.error()));
  if (options.json) return ExitStatus::kFinished;
  console.out.line(visible_text(fmt::format("ok       journal {} has all that the head names", *path)));
  return ExitStatus::kFinished;
}

Result<ExitStatus> accept_loss(const DoctorOptions& options, Console& console) {
  const auto path = journal_of(options);
  if (!path) return fail(path.error());
  const auto loss = find_loss(*path);
  if (!loss) return fail(loss.error());
  console.result({{"journal", *path}});
  if (loss->error.empty()) {
    if (!options.json) console.out.line(visible_text(fmt::format("journal {} has lost nothing", *path)));
    return ExitStatus::kFinished;
  }
  console.err.line(visible_text(loss->error));
  for (const LostRecords& lost : loss->sessions) console.err.line(visible_text("  " + sentence(lost)));
  const auto sure = confirmed(options.yes, console);
  if (!sure) return fail(sure.error());
  if (!*sure) return ExitStatus::kFailed;
  const auto copy = praxis::accept_loss(*path);
  if (!copy) return fail(copy.error());
  console.result({{"journal", *path}, {"kept_as", *copy}});
  if (options.json) return ExitStatus::kFinished;
  console.out.line(visible_text(fmt::format("the damaged files are kept as {}", *copy)));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
