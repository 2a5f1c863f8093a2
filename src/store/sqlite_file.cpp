#include "store/sqlite_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/private_folders.hpp"

namespace praxis {
namespace {

/// One use of a form for one file.
class FormedFile {
 public:
  FormedFile(std::string path, const SqliteFileForm& form) : path_(std::move(path)), form_(form) {}

  Result<Database> open(bool create) const {
    if (access(path_.c_str(), F_OK) != 0) {
      if (!create) return error(ErrorKind::kNotFound, "there is no such file");
      if (auto created = this->create(); !created) return fail(std::move(created.error()));
    }
    auto database = Database::open(path_, Database::Mode::kWrite, nullptr, form_.what);
    if (!database) return database;
    if (auto checked = check(*database); !checked) return fail(std::move(checked.error()));
    return database;
  }

 private:
  std::unexpected<Error> error(ErrorKind kind, const std::string& what) const {
    return fail(make_error(ErrorCode::kJournal, kind, std::string(form_.what) + ' ' + path_ + ": " + what));
  }
  std::unexpected<Error> cannot_create(int cause) const {
    return error(ErrorKind::kIo, std::string("cannot create it: ") + std::strerror(cause));
  }

  Status check(Database& database) const {
    const auto application = number(database, "PRAGMA application_id");
    if (!application) return fail(application.error());
    if (*application != form_.application_id)
      return error(ErrorKind::kCorrupt, "the file is not a Praxis " + std::string(form_.what));
    const auto format = number(database, "PRAGMA user_version");
    if (!format) return fail(format.error());
    if (*format == form_.format) return {};
    return error(ErrorKind::kVersion, "it has format " + std::to_string(*format) +
                                          ", this Praxis knows format " + std::to_string(form_.format) +
                                          "; use a newer Praxis");
  }

  static Result<std::int64_t> number(Database& database, std::string_view pragma) {
    Query query(database, pragma);
    if (auto row = query.next(); !row) return fail(std::move(row.error()));
    return query.integer(0);
  }

  /// Makes an empty file one of this form.
  Status fill(const std::string& fresh) const {
    auto database = Database::open(fresh, Database::Mode::kWrite, nullptr, form_.what);
    if (!database) return fail(std::move(database.error()));
    const std::string script = "PRAGMA journal_mode = WAL; BEGIN;" + std::string(form_.tables) +
                               "PRAGMA application_id = " + std::to_string(form_.application_id) +
                               "; PRAGMA user_version = " + std::to_string(form_.format) + "; COMMIT";
    if (sqlite3_exec(database->handle(), script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return fail(database->error());
  }

  /// The file appears complete or not at all; of several processes one creates it.
  Status create() const {
    const auto folder = std::filesystem::path(path_).parent_path();
    if (const int cause = make_private_folders(folder); cause != 0)
      return error(ErrorKind::kIo, "cannot create folder " + folder.string() + ": " + std::strerror(cause));
    std::string fresh = path_ + ".new-XXXXXX";
    const int file = mkostemp(fresh.data(), O_CLOEXEC);  // with mode 0600
    if (file < 0) return cannot_create(errno);
    ::close(file);
    Status made = fill(fresh);
    if (made && link(fresh.c_str(), path_.c_str()) != 0 && errno != EEXIST) made = cannot_create(errno);
    for (const char* part : {"", "-wal", "-shm"}) unlink((fresh + part).c_str());
    return made;
  }

  const std::string path_;
  const SqliteFileForm& form_;
};

}  // namespace

Result<Database> open_sqlite_file(const std::string& path, const SqliteFileForm& form, bool create) {
  std::error_code failed;
  return FormedFile(std::filesystem::absolute(path, failed).lexically_normal(), form).open(create);
}

}  // namespace praxis
