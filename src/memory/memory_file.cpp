#include "memory/memory_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/private_folders.hpp"

namespace praxis {
namespace {

constexpr std::string_view kMemoryName = "memory";
constexpr std::int64_t kMemoryId = 0x5052584D;  // "PRXM"
constexpr std::int64_t kMemoryFormat = 1;

// `notes.id` is the order of writing. The indexes for the search read their text from `notes`, and get it
// again when a row is removed, so that no second copy is kept. `totals` saves counting all rows for each
// write. Diacritics are kept so that the words found are those of `words_of`.
constexpr const char* kTables = R"(
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, collection TEXT NOT NULL, key TEXT NOT NULL,
  written INTEGER NOT NULL, bytes INTEGER NOT NULL, value TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (space, collection, key));
CREATE INDEX notes_by_collection ON notes (space, collection);
CREATE VIRTUAL TABLE words USING fts5(text, content = 'notes', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE pieces USING fts5(text, content = 'notes', content_rowid = 'id', tokenize = 'trigram');
CREATE TABLE effects (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, result INTEGER NOT NULL);
CREATE TABLE totals (notes INTEGER NOT NULL, bytes INTEGER NOT NULL, unclean INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 0);
PRAGMA application_id = 1347573837;
PRAGMA user_version = 1;
)";
static_assert(kMemoryId == 1347573837 && kMemoryFormat == 1, "kTables has these numbers");

std::unexpected<Error> memory_file_error(ErrorKind kind, const std::string& path, const std::string& what) {
  return fail(make_error(ErrorCode::kJournal, kind, "memory " + path + ": " + what));
}

Result<std::int64_t> number_in(Database& database, std::string_view pragma) {
  Query query(database, pragma);
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0);
}

Result<std::int64_t> application_of(Database& database) {
  return number_in(database, "PRAGMA application_id");
}

Status check_format(Database& database) {
  const auto application = application_of(database);
  if (!application) return fail(application.error());
  if (*application != kMemoryId)
    return memory_file_error(ErrorKind::kCorrupt, database.path(), "the file is not a memory of Praxis");
  const auto version = number_in(database, "PRAGMA user_version");
  if (!version) return fail(version.error());
  if (*version == kMemoryFormat) return {};
  return memory_file_error(ErrorKind::kVersion, database.path(),
                           "it has format " + std::to_string(*version) + ", this Praxis knows format " +
                               std::to_string(kMemoryFormat) + "; use a newer Praxis");
}

/// Makes an empty file a memory.
Status fill_file(const std::string& path) {
  auto database = Database::open(path, Database::Mode::kWrite, nullptr, kMemoryName);
  if (!database) return fail(std::move(database.error()));
  const auto execute = [&](const char* script) {
    return sqlite3_exec(database->handle(), script, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  if (execute("PRAGMA journal_mode = WAL; BEGIN") && execute(kTables) && execute("COMMIT")) return {};
  return fail(database->error());
}

/// Gives a complete file its name, unless another process was faster.
Status publish_file(const std::string& fresh, const std::string& path) {
  if (link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST) return {};
  return memory_file_error(ErrorKind::kIo, path, std::string("cannot create it: ") + std::strerror(errno));
}

/// Creates the file, so that it appears complete or not at all.
Status create_file(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (const int error = make_private_folders(folder); error != 0) {
    return memory_file_error(ErrorKind::kIo, path,
                             "cannot create folder " + folder.string() + ": " + std::strerror(error));
  }
  std::string fresh = path + ".new-XXXXXX";
  const int file = mkostemp(fresh.data(), O_CLOEXEC);  // with mode 0600
  if (file < 0)
    return memory_file_error(ErrorKind::kIo, path, std::string("cannot create it: ") + std::strerror(errno));
  close(file);
  auto made = fill_file(fresh);
  if (made) made = publish_file(fresh, path);
  for (const char* part : {"", "-wal", "-shm"}) unlink((fresh + part).c_str());
  return made;
}

}  // namespace

Result<Database> open_memory_file(const std::string& path, MemoryUse use) {
  std::error_code failed;
  const std::string file = std::filesystem::absolute(path, failed).lexically_normal();
  if (access(file.c_str(), F_OK) != 0) {
    if (use == MemoryUse::kExisting)
      return memory_file_error(ErrorKind::kNotFound, file, "there is no such file");
    if (auto created = create_file(file); !created) return fail(created.error());
  }
  auto database = Database::open(file, Database::Mode::kWrite, nullptr, kMemoryName);
  if (!database) return database;
  if (auto checked = check_format(*database); !checked) return fail(std::move(checked.error()));
  // What is removed is overwritten with zeros, also in pages that become free.
  if (auto set = database->run("PRAGMA secure_delete = ON"); !set) return fail(std::move(set.error()));
  return database;
}

}  // namespace praxis
