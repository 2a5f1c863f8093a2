#include "journal/accept_loss.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "journal/chain.hpp"
#include "journal/journal_file.hpp"
#include "journal/owners.hpp"
#include "journal/read_attempts.hpp"
#include "journal/session_store.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

Result<Database> open_unchanged(const std::string& path) {
  auto database = Database::open(path, Database::Mode::kWrite);
  if (database) database->keep_log_on_close(true);
  return database;
}

Status refuse_if_open(const std::string& path) {
  auto database = open_unchanged(path);
  if (!database) return fail(std::move(database.error()));
  const auto owners = Owners::open(path);
  if (!owners) return fail(owners.error());
  const auto open = has_owner(*database, *owners);
  if (!open) return fail(open.error());
  if (!*open) return {};
  return fail(journal_error(ErrorKind::kLeaseHeld,
                            "journal " + path + " is open in another process; stop its runs first"));
}

/// Returns the first name for the copy that no file has.
std::string name_for_copy(const std::string& path) {
  for (int number = 1;; ++number) {
    auto copy = path + ".damaged-" + std::to_string(number);
    if (access(copy.c_str(), F_OK) != 0) return copy;
  }
}

/// Keeps modes. No connection of this process may be open: closing a file drops the locks on it.
Status copy_files(const std::string& from, const std::string& to) {
  for (const char* part : {"-wal", ".head", ""}) {
    std::error_code failed;
    if (!fs::exists(from + part, failed)) continue;
    if (fs::copy_file(from + part, to + part, failed)) continue;
    const bool full = failed == std::errc::no_space_on_device;
    return fail(journal_error(full ? ErrorKind::kFull : ErrorKind::kIo,
                              "cannot copy " + from + part + ": " + failed.message(), full));
  }
  return {};
}

/// Copies what can be read of the log into the file and empties the log: what is behind the damage would be
/// found again.
Status empty_log(const Database& database) {
  const int emptied =
      sqlite3_wal_checkpoint_v2(database.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (emptied == SQLITE_OK) return {};
  return fail(database.error());
}

Result<JournalLoss> losses(Database& database, const JournalHeads& heads) {
  JournalLoss loss;
  if (auto intact = check_acknowledged(database, heads); !intact) loss.error = intact.error().message;
  for (const JournalHead& head : heads) {
    const auto left = records_left(database, head);
    if (!left) return fail(left.error());
    if (*left >= head.seq) continue;
    const auto known = std::ranges::find(loss.sessions, head.session, &LostRecords::session);
    if (known == loss.sessions.end())
      loss.sessions.push_back({head.session, *left, head.seq});
    else
      known->acknowledged = std::max(known->acknowledged, head.seq);
  }
  return loss;
}

}  // namespace

Result<JournalHead> head_of_journal(const std::string& path) {
  if (auto ours = check_journal_file(path); !ours) return fail(std::move(ours.error()));
  return ReadAttempts(path).read([](Database& database) { return select_journal_head(database); });
}

Status check_journal_head(const std::string& path, const JournalHead& head) {
  if (auto ours = check_journal_file(path); !ours) return ours;
  return ReadAttempts(path).read([&](Database& database) { return check_acknowledged(database, {head}); });
}

Result<JournalLoss> find_loss(const std::string& path) {
  if (auto ours = check_journal_file(path); !ours) return fail(std::move(ours.error()));
  return ReadAttempts(path).read_with_heads(losses);
}

Result<std::string> accept_loss(const std::string& path) {
  if (auto free = refuse_if_open(path); !free) return fail(std::move(free.error()));
  auto copy = name_for_copy(path);
  if (auto copied = copy_files(path, copy); !copied) return fail(std::move(copied.error()));
  auto database = open_unchanged(path);
  if (!database) return fail(std::move(database.error()));
  const auto head = select_journal_head(*database);
  if (!head) return fail(head.error());
  if (auto replaced = replace_heads(path, *head); !replaced) return fail(std::move(replaced.error()));
  if (auto emptied = empty_log(*database); !emptied) return fail(std::move(emptied.error()));
  return copy;
}

}  // namespace praxis
