// Works on a journal as several sessions and senders of messages would, records what the journal promises,
// and checks whether it keeps the promises.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fault.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::faults {

/// What has happened to the journal since the last check.
enum class Since : std::uint8_t {
  kRefusal,  ///< only errors: what was refused is absent
  /// What was refused or not acknowledged is present as a whole or not at all.
  kCrash,
};

class Witness {
 public:
  /// For the journal `path`, which `open` opens.
  Witness(std::string path, std::uint64_t seed) : path_(std::move(path)), random_(seed) {}

  // Operations; each returns the error that it met, if any. No-op without a session or message to work on.
  Status open();
  void close();
  /// Creates a session with its first append.
  Status create();
  /// Makes one append to a session; `large` means some ten KB.
  Status append(bool large = false);
  /// Makes several appends to any sessions at once, in as few commits as the journal makes of them.
  Status append_group(std::size_t count);
  /// Appends several MB.
  Status append_huge();
  Status post();
  /// Answers an unanswered message, alone or with an append.
  Status answer();
  Status append_answer();
  /// Copies the log into the file, as another process might; `mode` is one of SQLite's modes.
  Status checkpoint(int mode);
  /// Releases all leases.
  Status release();

  /// Reads and compares everything; what is found settles what a crash left undecided. Returns the error that
  /// prevented reading, if any.
  Status check(Since since);

  bool is_open() const { return journal_ != nullptr; }
  /// How often it was closed.
  std::uint64_t closings() const { return closings_; }
  std::size_t sessions() const { return sessions_.size(); }

 private:
  /// One append.
  struct Written {
    std::vector<NewEntry> entries;
    std::vector<Blob> blobs;
    std::string title;
    InboxId answers = 0;
    std::string outcome;
  };
  using Chain = std::vector<Written>;  // one after the other
  struct Known {
    SessionId id;
    std::optional<Lease> lease{};
    Chain promised{};
    std::vector<Chain> undecided{};  ///< alternatives for what follows
    std::uint64_t seq() const;
  };
  struct Message {
    InboxId id = 0;
    SessionId session;
    std::string body;
    std::optional<std::string> outcome{};
    std::set<std::string> undecided{};  // outcomes
  };
  struct Planned {
    std::size_t session = 0;
    Written written;
    Append append;
    std::optional<Result<std::uint64_t>> outcome;
  };

  /// Waits until the journal's thread is idle, so that the next call is the next one on the disk.
  void settle();
  std::string text(std::size_t size);
  Written write_something(bool large);
  Result<Lease> lease_of(Known& session);
  Status plan(std::size_t session, Written written, std::vector<Planned>& plans);
  Status carry_out(std::vector<Planned>& plans);
  Status remember(std::vector<Planned>& plans);
  void note_answered(const Written& written);
  Message* some_waiting();
  Status append_to(std::size_t session, Written written);
  Status append_to_some(Written written);
  Status check_session(Known& session, Since since, bool& gone);
  std::optional<Chain> beyond(const Known& session, const std::vector<Entry>& entries, Since since) const;
  Status check_row(const Known& session);
  Status check_blobs(const Chain& chain, bool there);
  Status check_inbox(Since since);
  Status check_outcome(Message& message, Since since);

  const std::string path_;
  std::uint64_t closings_ = 0;
  Random random_;
  std::shared_ptr<Journal> journal_;
  std::vector<Known> sessions_;
  std::vector<Message> messages_;
  std::vector<Message> undecided_messages_;  // without an id
  std::uint64_t last_number_ = 0;            // makes every text unique
};

}  // namespace praxis::faults
