// Works on a journal as several sessions and their senders of mail would, remembers what it was promised, and
// says whether the journal keeps it.
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

/// What has happened to the journal since it was last looked at.
enum class Since : std::uint8_t {
  kRefusal,  ///< nothing but errors: what was refused is not there
  kCrash,    ///< what was refused, or never answered, is there whole or not at all
};

class Witness {
 public:
  /// Of the journal `path`, which it opens when told to.
  Witness(std::string path, std::uint64_t seed) : path_(std::move(path)), random_(seed) {}

  // What it does; each is the error it met, if any. Without a session or a message to work on, nothing.
  Status open();
  void close();
  /// A session, with its first append.
  Status create();
  /// One to a session; `large` of some ten KB.
  Status append(bool large = false);
  /// Several at once, to any sessions, in as few commits as the journal makes of them.
  Status append_group(std::size_t count);
  /// Several MB.
  Status append_huge();
  Status post();
  /// Answers a message that waits, alone or with an append.
  Status answer();
  Status append_answer();
  /// Copies the log into the file, as another process might; one of SQLite's modes.
  Status checkpoint(int mode);
  /// Gives all leases back.
  Status release();

  /// Reads everything and compares; what a crash left undecided is decided by what is found. The error that
  /// kept it from reading, if any.
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
    MailId answers = 0;
    std::string outcome;
  };
  using Chain = std::vector<Written>;  // one after the other
  struct Known {
    SessionId id;
    std::optional<Lease> lease{};
    Chain promised{};
    std::vector<Chain> undecided{};  // each could be what follows
    std::uint64_t seq() const;
  };
  struct Message {
    MailId id = 0;
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

  /// Waits until the journal's thread has nothing left to do, so that the next call is the next for the disk.
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
  Status check_mail(Since since);
  Status check_outcome(Message& message, Since since);

  const std::string path_;
  std::uint64_t closings_ = 0;
  Random random_;
  std::shared_ptr<Journal> journal_;
  std::vector<Known> sessions_;
  std::vector<Message> mail_;
  std::vector<Message> undecided_mail_;  // without an id
  std::uint64_t last_number_ = 0;        // makes every text another
};

}  // namespace praxis::faults
