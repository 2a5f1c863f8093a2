// The events of the records of a journal, in the order of its commits, for one reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "praxis/core/event.hpp"
#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/logs/logs.hpp"
#include "server/folds.hpp"

namespace praxis::server {

/// The place of an event among those of all sessions: that of its record, then its number among the events of
/// the record, from 0. As text `12.0`: the `id` of an event that is sent to a client.
struct Position {
  std::uint64_t record = 0;
  std::uint32_t event = 0;

  auto operator<=>(const Position&) const = default;
  std::string text() const;
  /// Also reads `12`, which stands after all events of the record. Nothing if the text is neither.
  static std::optional<Position> parse(std::string_view text);
};

/// Folds the logs of the sessions that it is asked about, each once; from a kept state if there is one. Not
/// thread-safe.
class Projection {
 public:
  /// `folds` gets what this has folded. Null: it keeps nothing.
  explicit Projection(std::shared_ptr<Journal> journal, std::shared_ptr<Folds> folds = nullptr)
      : journal_(std::move(journal)), folds_(std::move(folds)) {}
  ~Projection();
  Projection(const Projection&) = delete;
  Projection& operator=(const Projection&) = delete;

  /// The events of one record; ask for the records of a session in their order. Error `kJournal`.
  Result<std::vector<Event>> events_of(const SessionId& session, std::uint64_t seq);
  /// The state before a record, valid until the next call. Errors as `events_of`.
  Result<const State*> before(const SessionId& session, std::uint64_t seq);
  /// Of this session no record after `seq` will be asked for, so none is read.
  void expect(const SessionId& session, std::uint64_t seq) { sessions_[session].until = seq; }

 private:
  static constexpr std::size_t kMostFolded = 256;  // sessions; the others are folded again when needed
  struct Folded {
    State state;
    std::uint64_t seq = 0;             ///< of the last record in `state`
    std::uint64_t until = 0;           ///< the last record to read; 0: the end of the log
    std::deque<Entry> following = {};  ///< read and not yet folded
    std::uint64_t used = 0;
  };
  Result<Folded*> fold_to(const SessionId& session, std::uint64_t seq);
  Status read_on(const SessionId& session, Folded& folded) const;
  /// Takes the next entry; returns its record.
  Result<Record> apply_next(const SessionId& session, Folded& folded) const;
  void give_back(Folded& folded) const;
  void forget_the_oldest();

  std::shared_ptr<Journal> journal_;
  std::shared_ptr<Folds> folds_;
  std::unordered_map<SessionId, Folded> sessions_;
  std::uint64_t uses_ = 0;
};

/// Where sessions stand in their agent trees, found once. Thread-safe.
class Lineages {
 public:
  explicit Lineages(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}
  /// The topmost session above a session, or itself; empty without a session of this id.
  SessionId root_of(const SessionId& session);
  /// Whether `ancestor` is the session or one above it.
  bool is_within(const SessionId& session, const SessionId& ancestor);

 private:
  static constexpr std::size_t kMostKept = 100'000;
  std::vector<SessionId> of(const SessionId& session);

  std::shared_ptr<Journal> journal_;
  std::mutex mutex_;
  std::unordered_map<SessionId, std::vector<SessionId>> known_;
};

}  // namespace praxis::server
