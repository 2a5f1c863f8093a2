// Shared by the journal's tests: a temporary folder, appends that wait, and child processes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>

#include "journal/testing/remove_folder.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/json/json.hpp"

namespace praxis::testing {

inline const SessionId kSession("01SESSION"), kOther("01OTHER");

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "praxis-journal-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { remove_folder(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::shared_ptr<Journal> open_journal(const std::string& path, SqliteJournalOptions options = {}) {
  auto journal = sqlite_journal(path, options);
  if (!journal) throw std::runtime_error(journal.error().message);
  return *journal;
}

inline NewEntry entry(std::string body, std::int64_t time = 1000) {
  return {"message_appended", {time}, std::move(body)};
}

inline Append append_of(const Lease& lease, std::uint64_t expected_seq, std::vector<std::string> bodies) {
  Append append{.lease = lease, .expected_seq = expected_seq, .entries = {}, .blobs = {}, .row = {}};
  for (auto& body : bodies) append.entries.push_back(entry(std::move(body)));
  return append;
}

inline Result<std::uint64_t> append_now(Journal& journal, Append append) {
  std::promise<Result<std::uint64_t>> promise;
  journal.append(std::move(append), [&](Result<std::uint64_t> last) { promise.set_value(std::move(last)); });
  return promise.get_future().get();
}

/// Creates a session without entries that other processes can see.
inline Lease make_session(Journal& journal, const SessionId& session) {
  const auto lease = *journal.create(session, {5});
  if (auto made = append_now(journal, append_of(lease, 0, {})); !made)
    throw std::runtime_error(made.error().message);
  return lease;
}

/// The `detail.kind` of a failure; "" for a success.
template <class T>
std::string kind_of(const Result<T>& result) {
  return result ? "" : json_string(result.error().detail(), "kind");
}

inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Changes a journal file bypassing the journal.
inline void alter(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(connection);
  EXPECT_GT(sqlite3_total_changes(connection) + static_cast<int>(sql.starts_with("PRAGMA")), 0) << sql;
  sqlite3_close(connection);
}

/// A child process that runs `body` and can write lines to the test; killed at the end. Start it before any
/// thread.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void(int out)>& body) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      body(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    out_ = fdopen(ends[0], "r");
  }
  ~ChildProcess() {
    kill();
    std::fclose(out_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Returns the next line without its end; "" when the process is gone.
  std::string line() {
    char text[256];
    if (std::fgets(text, sizeof text, out_) == nullptr) return "";
    std::string line = text;
    line.pop_back();
    return line;
  }
  void kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  FILE* out_ = nullptr;
};

inline void say(int out, const std::string& line) {
  const auto text = line + "\n";
  if (write(out, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
}

}  // namespace praxis::testing
