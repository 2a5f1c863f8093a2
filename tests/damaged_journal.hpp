// The file of a journal with finished sessions, copies of it to damage, and reading of the copies.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "journal/testing/journals.hpp"
#include "scenarios.hpp"

namespace praxis::testing {

/// The bytes of a journal that no process uses: its file, the log next to it if it was not closed, and the
/// file of acknowledged heads.
struct JournalBytes {
  std::string file, log, head = {};
};

/// Records what is appended.
class RecordingJournal final : public ForwardingJournal {
 public:
  RecordingJournal() : ForwardingJournal(memory_journal()) {}

  void append(Append append, AppendDone done) override {
    {
      const std::lock_guard lock(mutex_);
      appends_.push_back(append);
    }
    inner().append(std::move(append), std::move(done));
  }
  std::vector<Append> appends(const SessionId& session) const {
    const std::lock_guard lock(mutex_);
    std::vector<Append> some = appends_;
    std::erase_if(some, [&](const Append& append) { return append.lease.session != session; });
    return some;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Append> appends_;
};

class DamagedJournal {
 public:
  /// Plays the scenario once for each session.
  explicit DamagedJournal(const Scenario& scenario, std::size_t sessions = 1) {
    Setting setting;
    setting.journal = played_;
    Stage stage(scenario, std::move(setting));
    for (std::size_t i = 0; i < sessions; ++i) {
      stage.play();
      sessions_.push_back(stage.session());
      logs_[stage.session()] = *read(*played_, stage.session());
    }
  }

  const std::vector<SessionId>& sessions() const { return sessions_; }
  /// The log that an undamaged journal returns.
  const std::string& log(const SessionId& session) const { return logs_.at(session); }

  /// Returns a journal with the sessions in this order: closed, or with its log while open.
  JournalBytes journal_of(const std::vector<SessionId>& sessions, bool closed = true) const {
    const std::string path = folder_ / "whole";
    remove(path);
    auto journal = open_journal(path);
    for (const SessionId& session : sessions) append_again(*journal, session);
    if (closed) journal.reset();
    return {file_bytes(path), file_bytes(path + "-wal"), file_bytes(path + ".head")};
  }

  /// The path of the copy to damage.
  const std::string& copy() const { return copy_; }
  void write(const JournalBytes& bytes) const {
    remove(copy_);
    std::ofstream(copy_, std::ios::binary) << bytes.file;
    if (!bytes.log.empty()) std::ofstream(copy_ + "-wal", std::ios::binary) << bytes.log;
    if (!bytes.head.empty()) std::ofstream(copy_ + ".head", std::ios::binary) << bytes.head;
  }

  /// Reads the log of the copy.
  Result<std::string> read(const SessionId& session) const {
    const auto journal = sqlite_journal(copy_);
    if (!journal) return fail(journal.error());
    return read(**journal, session);
  }
  static Result<std::string> read(Journal& journal, const SessionId& session) {
    const auto records = read_records(journal, session);
    if (!records) return fail(records.error());
    auto text = export_session(journal, session);
    if (!text) return fail(text.error());
    return log_of(*text);
  }

 private:
  /// Appends the session's entries as they were written, one append at a time.
  void append_again(Journal& journal, const SessionId& session) const {
    const auto lease = journal.create(session, {0});
    if (!lease) throw std::runtime_error(lease.error().message);
    for (Append& append : played_->appends(session)) {
      append.lease = *lease;
      if (const auto done = append_now(journal, std::move(append)); !done)
        throw std::runtime_error(done.error().message);
    }
    journal.release(*lease);
  }
  /// Returns the records and blobs of an export; its first line is from the listing, which no hash covers.
  static std::string log_of(const std::string& exported) { return exported.substr(exported.find('\n')); }
  static void remove(const std::string& path) {
    for (const char* end : {"", "-wal", "-shm", ".head"}) std::filesystem::remove(path + end);
  }

  const MemoryFolder folder_;
  const std::string copy_ = folder_ / "copy";
  std::vector<SessionId> sessions_;
  const std::shared_ptr<RecordingJournal> played_ = std::make_shared<RecordingJournal>();
  std::map<SessionId, std::string> logs_;
};

}  // namespace praxis::testing
