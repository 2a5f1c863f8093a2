// Follows a turn of a run for a client that speaks the protocol of another program: first what the log holds
// of it, then what happens, until the turn ends or waits for people.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/early_subscription.hpp"
#include "server/event_sinks.hpp"
#include "server/service.hpp"

namespace praxis::server {

/// Writes the events of a run in the format of a client. Called by one thread at a time.
class TurnCodec {
 public:
  virtual ~TurnCodec() = default;
  /// Takes the next event, of the run or a session below it, and appends what the client gets. True: that was
  /// the last.
  virtual bool take(const Event& event, std::string& out) = 0;
  /// Before a person decides the step `decided` of the run: the turn was waiting for `pending`. True: here
  /// the part of the turn ends that the client asked about.
  virtual bool take_decision(const ParkId& /*decided*/, const std::vector<ParkedStep>& /*pending*/,
                             std::string& /*out*/) {
    return false;
  }
  /// The turn waits for people: appends the end.
  virtual void take_wait(const std::vector<ParkedStep>& pending, std::string& out) = 0;
  /// The turn could not begin: appends the end.
  virtual void take_error(const Error& error, std::string& out) = 0;
  /// Whether the turn that the client asked about has begun.
  virtual bool has_begun() const = 0;
  /// The whole answer so far, for a client that wants no stream.
  virtual HttpAnswer answer() const = 0;
};

/// The steps for which a run and its sub-agents wait; none while it has something to do before. Error
/// `kJournal`.
Result<std::vector<ParkedStep>> waiting_steps(const app::StoredSession& stored);

/// Gives a codec the events of a log, one record after another, and folds the records to a state.
class LogReplay {
 public:
  /// Both must outlive it. `state` is that before the first record.
  LogReplay(TurnCodec& codec, State& state) : codec_(codec), state_(state) {}
  /// Takes the next record and gives the codec its events, but not the first `left_out` of them. Returns
  /// whether the codec has taken its last. Error `kJournal`: the record does not fit the state.
  Result<bool> take(const StoredRecord& stored, std::size_t left_out, std::string& out);
  /// Takes the next record without giving its events. Error likewise.
  Status skip(const StoredRecord& stored);

 private:
  TurnCodec& codec_;
  State& state_;
  AgentSpecPtr agent_;       ///< whose rules `shown_` has
  redact::Redaction shown_;  ///< what its filters do to texts that clients see
};

/// Gives a codec the events of a log from record `from` on, without the first `skipped` events of that
/// record. Returns whether it has taken its last.
bool replay_into(const std::vector<StoredRecord>& records, std::uint64_t from, std::size_t skipped,
                 TurnCodec& codec, std::string& out);

class TurnFollower;

/// Reports the error of a turn that could not begin to a follower, which may be made after the turn was
/// started. Belongs to the turn, so it must not keep the follower and with it the server. Thread-safe.
class BeginWatch {
 public:
  /// The callback for `NewRun::done`.
  void report(const Result<AgentResult>& result);
  void give(const std::shared_ptr<TurnFollower>& follower);

 private:
  std::mutex mutex_;
  std::weak_ptr<TurnFollower> follower_;
  std::optional<Error> error_;
};

/// One client that follows one run. Thread-safe.
class TurnFollower final : public EventSink, public std::enable_shared_from_this<TurnFollower> {
 public:
  /// What the client gets: a stream, or one answer once the turn has ended or once it has begun.
  enum class Gives : std::uint8_t { kStream, kWhenEnded, kWhenBegun };
  TurnFollower(const Service& service, HttpReply reply, std::shared_ptr<TurnCodec> codec, Gives gives);

  /// Holds what happens in the run from now on, for `follow`. Call before the turn is started: of a new run,
  /// before its first record. No-op if it watches the run already. Reads the journal. Error `kJournal`.
  Status watch(const SessionId& run);
  /// Gives the codec what the log of `stored` holds, which was read after `watch`.
  void replay(const app::StoredSession& stored);
  /// Leaves out what the log of `stored` holds, which was read after `watch`.
  void start_after(const app::StoredSession& stored);
  /// What a stream begins with, before anything that happens. Call before `follow`.
  void begin_with(const std::string& text);
  /// Follows until the turn ends, also while it waits for people. Call before `follow`.
  void ignore_waits();
  /// Begins the answer, with `headers` if it is a stream, and follows the run until its turn ends or waits.
  /// Call after `watch`.
  void follow(HttpHeaders headers = {});
  /// The turn could not begin, or its process lost it: ends the answer.
  void fail_with(const Error& error);

  bool on_frame(const Frame& frame) override;
  bool on_idle() override;
  void on_end() override;

 private:
  bool give(const Event& event, bool is_durable);
  bool skips(const Event& event, bool is_durable);
  bool deliver(std::string out, bool is_last);
  void look_whether_it_waits();
  void look();

  const std::shared_ptr<Journal> journal_;
  const std::shared_ptr<Runs> runs_;
  const std::shared_ptr<TurnCodec> codec_;
  const Gives gives_;
  EarlySubscription watched_;

  std::mutex mutex_;  // guards what follows, and the codec
  SessionId run_;
  std::string before_;                       ///< what the log gave, until the answer begins
  std::uint64_t taken_ = 0;                  ///< the last record of the run whose events the codec has
  std::size_t taken_events_ = 0;             ///< how many of its events
  std::uint64_t replayed_ = 0;               ///< the record up to which the log was read
  std::map<SessionId, std::uint64_t> seen_;  ///< the last record of each session that has been given
  bool missed_pieces_ = false;               ///< of an answer that was being written then
  bool may_wait_ = false;                    ///< a step was parked
  bool ignores_waits_ = false;
  bool is_looking_ = false, looks_again_ = false;
  bool is_over_ = false;
};

}  // namespace praxis::server
