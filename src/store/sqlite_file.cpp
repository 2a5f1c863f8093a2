#include "store/sqlite_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>

#include "base/file_descriptor.hpp"
#include "base/private_folders.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis {
namespace {

constexpr std::string_view kNewMark = ".new-";  ///< in the name of a file while it is made
constexpr std::size_t kMarkLength = 6;          ///< of what `mkostemp` fills in
constexpr std::size_t kMostEntries = 10'000;    ///< of a folder that is looked through

bool is_fill_in(std::string_view text) {
  return text.size() == kMarkLength && text.find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789") == std::string_view::npos;
}

void remove_with_parts(const std::string& path) {
  for (const char* part : {"", "-wal", "-shm"}) unlink((path + part).c_str());
}

/// Whether both names are of one file.
bool are_one(const std::string& one, const std::string& other) {
  struct stat of_one{}, of_other{};
  return lstat(one.c_str(), &of_one) == 0 && lstat(other.c_str(), &of_other) == 0 &&
         of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino;
}

/// Removes `path` if no process makes it any more: who makes a file holds a lock on it. The lock is held
/// until the file is gone, so that its maker, who may not have it yet, finds out. If the kill came after the
/// file got its name `whole`, it is not opened: closing it would drop the locks that SQLite has on it here.
void remove_if_left(const std::string& path, const std::string& whole) {
  if (are_one(path, whole)) return remove_with_parts(path);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about{};
  if (file.get() < 0) return;
  const bool is_own = fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
  if (is_own && flock(file.get(), LOCK_EX | LOCK_NB) == 0) remove_with_parts(path);
}

/// Removes what killed processes have left that were making `path`.
void remove_leftovers(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string start = fs::path(path).filename().string() + std::string(kNewMark);
  std::error_code failed;
  std::size_t seen = 0;
  for (fs::directory_iterator each(fs::path(path).parent_path(), failed), end; !failed && each != end;
       each.increment(failed)) {
    if (++seen > kMostEntries) return;
    const std::string name = each->path().filename().string();
    if (!name.starts_with(start)) continue;
    const std::string_view mark = std::string_view(name).substr(start.size(), kMarkLength);
    const std::string_view part = std::string_view(name).substr(start.size() + mark.size());
    if (!is_fill_in(mark)) continue;
    const std::string whole = path + std::string(kNewMark) + std::string(mark);
    if (part.empty()) remove_if_left(whole, path);
    // The file itself is removed first: without it, its parts are left.
    if ((part == "-wal" || part == "-shm") && access(whole.c_str(), F_OK) != 0) remove_with_parts(whole);
  }
}

/// One use of a form for one file.
class FormedFile {
 public:
  FormedFile(std::string path, const SqliteFileForm& form, const AskStoreSecret& secret)
      : path_(std::move(path)), form_(form), secret_(secret) {}

  Result<Database> open(bool create) const {
    if (create) remove_leftovers(path_);
    if (access(path_.c_str(), F_OK) != 0) {
      if (!create) return error(ErrorKind::kNotFound, "there is no such file");
      if (auto created = this->create(); !created) return fail(std::move(created.error()));
    }
    auto database = Database::open(path_, Database::Mode::kWrite, nullptr, form_.what);
    if (!database) return database;
    const auto kind = kind_of_sqlite_file(*database, form_);
    if (!kind) return fail(kind.error());
    if (*kind == SqliteFileKind::kSealed) {
      if (auto open = unlock_sqlite_file(*database, form_, secret_); !open) return fail(open.error());
    } else if (secret_) {
      return error(ErrorKind::kKey,
                   "it is not sealed, and encryption.journal_key is set; praxis journal seal seals it");
    }
    return database;
  }

 private:
  std::unexpected<Error> error(ErrorKind kind, const std::string& what) const {
    return fail(make_error(ErrorCode::kJournal, kind, std::string(form_.what) + ' ' + path_ + ": " + what));
  }
  std::unexpected<Error> cannot_create(int cause) const {
    return error(ErrorKind::kIo, std::string("cannot create it: ") + std::strerror(cause));
  }

  /// Makes an empty file one of this form.
  Status fill(const std::string& fresh) const {
    auto database = Database::open(fresh, Database::Mode::kWrite, nullptr, form_.what);
    if (!database) return fail(std::move(database.error()));
    const auto exec = [&](const std::string& script) -> Status {
      if (sqlite3_exec(database->handle(), script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
      return fail(database->error());
    };
    auto done = exec("PRAGMA journal_mode = WAL; BEGIN;" + std::string(form_.tables) +
                     "PRAGMA application_id = " + std::to_string(form_.application_id) +
                     "; PRAGMA user_version = " + std::to_string(form_.format));
    if (done && secret_) done = seal_new_file(*database, form_, secret_);
    return done ? exec("COMMIT") : done;
  }

  /// An empty file with mode 0600 and a lock, so that no process takes it for a leftover; -1 with `errno`.
  FileDescriptor new_file(std::string& name) const {
    constexpr int kMostTries = 1000;
    for (int i = 0; i < kMostTries; ++i) {
      name = path_ + std::string(kNewMark) + std::string(kMarkLength, 'X');
      FileDescriptor file(mkostemp(name.data(), O_CLOEXEC));
      if (file.get() < 0) return file;
      // Another process may have found the file before it was locked: it removes it, or is about to.
      const bool is_taken = flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      struct stat about{};
      if (!is_taken && fstat(file.get(), &about) == 0 && about.st_nlink > 0) return file;
    }
    errno = EBUSY;
    return FileDescriptor(-1);
  }

  /// The file appears complete or not at all; of several processes one creates it.
  Status create() const {
    const auto folder = std::filesystem::path(path_).parent_path();
    if (const int cause = make_private_folders(folder); cause != 0)
      return error(ErrorKind::kIo, "cannot create folder " + folder.string() + ": " + std::strerror(cause));
    std::string fresh;
    const FileDescriptor held = new_file(fresh);
    if (held.get() < 0) return cannot_create(errno);
    Status made = fill(fresh);
    if (made && link(fresh.c_str(), path_.c_str()) != 0 && errno != EEXIST) made = cannot_create(errno);
    remove_with_parts(fresh);
    return made;
  }

  const std::string path_;
  const SqliteFileForm& form_;
  const AskStoreSecret& secret_;
};

Result<std::int64_t> number_in(Database& database, std::string_view pragma) {
  Query query(database, pragma);
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0);
}

}  // namespace

Result<Database> open_sqlite_file(const std::string& path, const SqliteFileForm& form, bool create,
                                  const AskStoreSecret& secret) {
  std::error_code failed;
  return FormedFile(std::filesystem::absolute(path, failed).lexically_normal(), form, secret).open(create);
}

Result<SqliteFileKind> kind_of_sqlite_file(Database& database, const SqliteFileForm& form) {
  const auto error = [&](ErrorKind kind, const std::string& what) {
    return fail(
        make_error(ErrorCode::kJournal, kind, std::string(form.what) + ' ' + database.path() + ": " + what));
  };
  const auto application = number_in(database, "PRAGMA application_id");
  if (!application) return fail(application.error());
  if (*application != form.application_id)
    return error(ErrorKind::kCorrupt, "the file is not a Praxis " + std::string(form.what));
  const auto format = number_in(database, "PRAGMA user_version");
  if (!format) return fail(format.error());
  if (*format == form.format) return SqliteFileKind::kPlain;
  if (form.sealed_format != 0 && *format == form.sealed_format) return SqliteFileKind::kSealed;
  return error(ErrorKind::kVersion, "it has format " + std::to_string(*format) +
                                        ", this Praxis knows format " + std::to_string(form.format) +
                                        "; use a newer Praxis");
}

}  // namespace praxis
