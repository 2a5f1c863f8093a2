#include "store/sqlite_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file_descriptor.hpp"
#include "base/out_of_space.hpp"
#include "store/sqlite.hpp"

namespace praxis {
namespace {

Status make_empty_file(const std::string& path, std::string_view what) {
  const FileDescriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  // The umask may have taken rights of the owner.
  if (file.get() >= 0 && fchmod(file.get(), 0600) == 0) return {};
  return fail(ErrorCode::kJournal, kind_of_write_error(errno),
              std::string(what) + " " + path + " cannot be made: " + std::strerror(errno));
}

/// One step for all pages: the copy holds one moment, which steps would have to begin again for at each
/// write.
Status copy_pages(Database& source, Database& copy) {
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", source.handle(), "main");
  if (backup == nullptr) return fail(copy.error());
  const int step = sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) return fail(copy.error());  // errors of reading as well
  if (step == SQLITE_DONE) return {};
  return fail(
      ErrorCode::kJournal, ErrorKind::kIo,
      std::string(source.what()) + " " + source.path() + ": it is locked by another process; try again",
      true);
}

Status check_pages(const std::string& path, std::string_view what) {
  auto copy = Database::open(path, Database::Mode::kFileOnly, nullptr, what);
  if (!copy) return fail(copy.error());
  Query found(*copy, "PRAGMA quick_check(1)");
  if (auto row = found.next(); !row) return fail(row.error());
  if (found.text(0) == "ok") return {};
  return fail(ErrorCode::kJournal, ErrorKind::kCorrupt,
              std::string(what) + " " + path + ": the file is damaged (" + found.text(0) + ")");
}

}  // namespace

Status copy_sqlite_file(const std::string& from, const std::string& to, std::string_view what) {
  // A connection that only reads cannot make the index of the log, without which it cannot keep writers from
  // changing what it reads.
  auto source = Database::open(from, Database::Mode::kWrite, nullptr, what);
  if (!source) return fail(source.error());
  if (auto made = make_empty_file(to, what); !made) return made;
  {
    auto copy = Database::open(to, Database::Mode::kWrite, nullptr, what);
    if (!copy) return fail(copy.error());
    // What is not whole is thrown away, so it needs no journal to roll back with.
    if (auto set = copy->run("PRAGMA journal_mode = OFF"); !set) return set;
    if (auto copied = copy_pages(*source, *copy); !copied) return copied;
  }
  return check_pages(to, what);
}

}  // namespace praxis
