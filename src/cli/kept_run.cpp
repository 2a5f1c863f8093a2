#include "cli/kept_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/file_descriptor.hpp"
#include "base/regular_file.hpp"
#include "cli/console.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;

/// Adds the session and all below it, as far as their rows can be read.
void add_tree(Journal& journal, const SessionId& session, std::vector<SessionId>& sessions) {
  sessions.push_back(session);
  const auto children = journal.children(session);
  if (!children) return;
  for (const SessionRow& child : *children) add_tree(journal, child.id, sessions);
}

/// Returns a folder that can be written: that of the journal, if it is still there.
fs::path folder_for(const app::Workspace& workspace) {
  const fs::path folder =
      !is_postgres_address(workspace.journal) ? fs::path(workspace.journal).parent_path() : fs::path();
  std::error_code failed;
  return access(folder.c_str(), W_OK | X_OK) == 0 ? folder : fs::temp_directory_path(failed);
}

/// Writes a new file that only this user can read; returns its path.
Result<std::string> write_new_file(const std::string& start, std::string_view text) {
  for (int number = 1;; ++number) {
    std::string path = number == 1 ? start + ".jsonl" : fmt::format("{}-{}.jsonl", start, number);
    const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) return fail(ErrorCode::kInput, "cannot create " + path + ": " + std::strerror(errno));
    keep_own_rights(file.get());
    Stream stream(file.get());
    stream.write(text);
    if (stream.error() != 0 || fsync(file.get()) != 0) return fail(ErrorCode::kInput, "cannot write " + path);
    return path;
  }
}

Result<std::string> keep_session(Journal& journal, const SessionId& session,
                                 const app::Workspace& workspace) {
  const auto text = export_session(journal, session);
  if (!text) return fail(text.error());
  const std::string stem =
      !is_postgres_address(workspace.journal) ? fs::path(workspace.journal).filename().string() : "journal";
  const std::string name = stem + ".kept-" + session.str();
  return write_new_file((folder_for(workspace) / name).string(), *text);
}

}  // namespace

bool is_journal_gone(const Error& error) {
  return error.code == ErrorCode::kJournal && !json_string(error.detail(), "taken").empty();
}

std::string keep_run(Journal& journal, const SessionId& session, const app::Workspace& workspace) {
  std::vector<SessionId> sessions;
  add_tree(journal, app::root_of(journal, session).value_or(session), sessions);
  std::string lines;
  for (const SessionId& each : sessions) {
    const auto kept = keep_session(journal, each, workspace);
    lines += kept ? fmt::format("kept: praxis import {} --journal OTHER\n", app::shell_word(*kept))
                  : fmt::format("not kept: {}: {}\n", each.str(), visible_text(kept.error().message));
  }
  return lines;
}

}  // namespace praxis::cli
