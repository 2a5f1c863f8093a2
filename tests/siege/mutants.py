"""Changes to the source, each of which breaks one promise; the siege must notice every one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """Replaces a text that occurs exactly once in a file."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """One broken promise."""

    name: str
    what: str  # after the change, the binary ...
    edits: tuple[Edit, ...]
    kinds: tuple[str, ...] = ()  # the kinds of rounds that can show it; default: all that are played by default


FIRST_PROMPT = """std::string first;
  for (const StoredRecord& each : stored->records) {
    const auto* said = std::get_if<records::MessageAppended>(&each.record.body);
    if (said != nullptr && first.empty()) first = said->message->text();
  }
  """

MUTANTS = (
    Mutant("effect_repeated", "sends each POST twice", (
        Edit("src/tools/http_tool.cpp", "      auto response = http_fetch(*client_, request, stop);",
             '      if (request.method == "POST") std::ignore = http_fetch(*client_, request, stop);\n'
             "      auto response = http_fetch(*client_, request, stop);"),)),
    Mutant("doubt_repeated", "repeats a call in doubt without asking", (
        Edit("src/core/next.cpp", "  return tool == nullptr || !tool->definition.idempotent;",
             "  return tool == nullptr;"),)),
    Mutant("record_lost", "drops the last record of a run that it takes over", (
        Edit("src/journal/session_store.cpp", "  if (!taken) return fail(std::move(taken.error()));",
             "  if (!taken) return fail(std::move(taken.error()));\n"
             '  std::ignore = database.run("UPDATE sessions SET head_seq = head_seq - 1, '
             "head_hash = (SELECT hash FROM chain WHERE id = (SELECT before FROM chain WHERE id = head_id)), "
             'head_id = (SELECT before FROM chain WHERE id = head_id) WHERE id = ?1 AND head_seq > 3", '
             "stored->session);"),)),
    Mutant("not_synced", "acknowledges a commit before it is synced", (
        Edit("src/store/sqlite.cpp", 'run("PRAGMA synchronous = FULL")', 'run("PRAGMA synchronous = NORMAL")'),)),
    Mutant("replay_blind", "calls every replay identical", (
        Edit("src/cli/replay_command.cpp", '{"identical", !report->divergence},', '{"identical", true},'),
        Edit("src/cli/replay_command.cpp", "return report->divergence ? ExitStatus::kDiverged : ExitStatus::kFinished;",
             "return ExitStatus::kFinished;"))),
    Mutant("approval_forgotten", "asks again for a call that was approved", (
        Edit("src/core/apply_calls.cpp", "        approved.phase = Phase::kApproved;", "        approved.phase = Phase::kProposed;"),)),
    Mutant("edit_ignored", "runs an edited call with its old arguments", (
        Edit("src/core/apply_calls.cpp", "        if (r.verb == ApprovalVerb::kEdit) approved.call.arguments = r.text;\n", ""),)),
    Mutant("resume_anew", "starts a resumed run again from its prompt", (
        Edit("src/cli/resume_command.cpp", "  const StartTurn start = [&](Session& session) {\n",
             "  " + FIRST_PROMPT + "const StartTurn start = [&](Session& session) {\n"),
        Edit("src/cli/resume_command.cpp", ": session.resume(*approvals, cli_author());",
             ": session.send_user_message(first);"),
        Edit("src/app/reopen_run.cpp", "opening.runtime->open_session(stored.id, opening.agent, force)",
             "opening.runtime->create_session(opening.agent)"))),
    Mutant("child_survives", "leaves programs running when it is killed", (
        Edit("src/process/supervisor/supervisor.cpp", "      owner_.reset();\n      stop(End::kStopped);",
             "      owner_.reset();"),
        Edit("src/process/supervisor/supervisor.cpp", "    if (got <= 0) control_ = -1;",
             "    if (got <= 0) {\n      control_ = -1;\n      return;\n    }"))),
    Mutant("stale_lease", "lets a writer append that has lost its lease", (
        Edit("src/journal/chain.cpp", "  if (head.held && lease.token == head.token) return {};",
             "  if (head.token != 0) return {};"),), ("stop",)),
    Mutant("chain_unchecked", "does not check the hashes of entries", (
        Edit("src/journal/session_store.cpp",
             "    previous = chain_next(previous, seq, entry->time, entry->kind, entry->body);\n"
             "    if (entry->hash != previous) return fail(untrusted_from(session, seq));",
             "    previous = entry->hash;"),), ("damage",)),
    Mutant("reader_needs_writer", "reads a log that a crash left only with the index of a writer", (
        Edit("src/journal/read_attempts.cpp",
             "  return mode_ = before_.log.empty() ? Database::Mode::kFileOnly : Database::Mode::kDetached;",
             "  return mode_ = before_.log.empty() ? Database::Mode::kFileOnly : Database::Mode::kRead;"),
        Edit("src/store/sqlite.cpp", 'mode == Mode::kFileOnly ? "?immutable=1" : ""',
             'mode == Mode::kFileOnly ? "?immutable=1" : mode == Mode::kRead ? "?readonly_shm=1" : ""')),
        ("inject",)),
    Mutant("reader_waits", "reads only once a process that closes the journal has ended", (
        Edit("src/journal/read_attempts.hpp", "kSharingMs = 200", "kSharingMs = 20'000"),), ("halt",)),
    Mutant("holder_kept", "leaves a stopped process its lock when its run is taken by force", (
        Edit("src/cli/resume_command.cpp", "  workspace->waits.end_stopped_writer = options.force;\n", ""),), ("halt",)),
    Mutant("journal_gone", "does not notice that its journal was taken away", (
        Edit("src/store/file_places.cpp", "  if (place.inode == 0) return \"\";", "  return \"\";"),), ("taken",)),
    Mutant("fault_hidden", "ends with status 0 when the journal failed", (
        Edit("src/cli/exit_status.cpp", "    case ErrorCode::kTool:\n    case ErrorCode::kJournal:",
             "    case ErrorCode::kJournal:\n      return ExitStatus::kFinished;\n    case ErrorCode::kTool:"),)),
    Mutant("status_stale", "lists a run with the status that it had first", (
        Edit("src/driver/log.cpp", "  append.row.status = std::string(to_string(status));",
             "  if (durable_ == 0) append.row.status = std::string(to_string(status));"),)),
)
