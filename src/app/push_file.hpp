// Where the server of A2A sends the changes of tasks: in a file next to the journal, sealed if there is a
// key.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "store/sqlite.hpp"

namespace praxis {
struct SqliteFileForm;  // store/sqlite_file.hpp
}  // namespace praxis

namespace praxis::app {

/// One address that gets the changes of a task. Task and id name it.
struct PushAddress {
  std::string task;  ///< `RUN~t1`
  std::string id;
  std::string url;          ///< may hold a secret
  std::string token;        ///< for the header of the protocol; empty: without
  std::string scheme;       ///< of `Authorization`; empty: without
  std::string credentials;  ///< for `scheme`
};

/// What the file is.
const SqliteFileForm& push_form();

/// The file of a journal.
inline std::string push_path(const std::string& journal) { return journal + ".push"; }

/// Thread-safe; blocks for the disk.
class PushFile {
 public:
  /// Opens the file of a workspace whose journal is a file; makes it if it is missing. Errors of
  /// `open_sqlite_file`.
  static Result<std::unique_ptr<PushFile>> open(const Workspace& workspace);
  explicit PushFile(Database database) : database_(std::move(database)) {}

  /// In the order in which they were added. Error `kJournal`.
  Result<std::vector<PushAddress>> all();
  /// Adds an address, or replaces the one of the same task and id; durably. Error `kJournal`.
  Status put(const PushAddress& address);
  /// Removes an address, durably; no-op if it is missing. Error `kJournal`.
  Status remove(const std::string& task, const std::string& id);

 private:
  Status erase(const std::string& task, const std::string& id);

  std::mutex mutex_;
  Database database_;
};

}  // namespace praxis::app
