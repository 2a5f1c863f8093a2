// Gives observers the events of a journal: what they missed from the log, then what happens, without gap or
// repetition. A run never waits for an observer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "net/http_server.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/runtime/runtime.hpp"
#include "server/event_redactor.hpp"
#include "server/projection.hpp"
#include "server/remote_answers.hpp"

namespace praxis::server {

/// An event as a WebSocket frame, rendered when it is first asked for. Thread-safe.
class SocketText {
 public:
  /// `text` is the event as server-sent event.
  const SharedBytes& of(const std::optional<Position>& position, const Event& event, const std::string& text);

 private:
  std::once_flag once_;
  SharedBytes bytes_;
};

/// One event on its way to observers; rendered once for all of them.
struct Frame {
  std::optional<Position> position;    ///< of an event in the log; nothing for a transient one
  SessionId root;                      ///< of the session's tree
  std::shared_ptr<const Event> event;  ///< as observers may see it
  std::shared_ptr<const Event> exact;  ///< for the program that asked: with secrets; null: what was held back
  SharedBytes text;                    ///< `event` as server-sent event
  std::shared_ptr<SocketText> socket;  ///< as WebSocket frame
  std::uint64_t ordinal = 0;           ///< of a piece of an answer: later pieces have higher ones, from 1
  bool is_remote = false;              ///< a transient event of a session of another process
};

/// Renders an event. `root`: of its tree; may follow.
Frame frame_of(std::shared_ptr<const Event> shown, std::shared_ptr<const Event> exact,
               const std::optional<Position>& position, SessionId root);
/// An event of the log.
Frame frame_of(const Event& event, const Position& position, SessionId root, const EventRedactor& redactor);

/// Which events an observer gets.
struct FeedFilter {
  SessionId session = {};  ///< of this session and all below; empty: of all sessions
  bool below = true;       ///< false: of the session alone
  bool deltas = true;
  bool relays = false;  ///< the observer is another process, which asks for nothing that comes from others
  std::vector<std::string> patterns = {};  ///< as in `selects`; empty: all
  /// Whether the observer may see the tree of this root. Called on any thread. Null: all.
  std::function<bool(const SessionId& root)> may_see = nullptr;
};

/// Whether a filter lets events of this kind pass.
bool wants(const FeedFilter& filter, const EventBody& body);
/// Whether a filter lets events of this session pass; `root` is the root of its tree.
bool covers(const FeedFilter& filter, Lineages& lineages, const SessionId& session, const SessionId& root);

/// Receives frames, one at a time, on any thread; must not block.
class FeedSink {
 public:
  virtual ~FeedSink() = default;
  /// False: it wants no more.
  virtual bool on_frame(const Frame& frame) = 0;
  /// Called from time to time, so that dead connections are noticed. False: it wants no more.
  virtual bool on_idle() = 0;
  /// The server ends.
  virtual void on_end() = 0;
  /// Whether it can take more of what it missed at present.
  virtual bool has_room() const = 0;
};

/// Thread-safe. Owned by a `shared_ptr`; drop it before the runtime.
class EventFeed : public std::enable_shared_from_this<EventFeed> {
 public:
  EventFeed(std::shared_ptr<Runtime> runtime, std::shared_ptr<Journal> journal,
            std::shared_ptr<Executor> executor, std::shared_ptr<Folds> folds = nullptr,
            EventRedactor::RedactionOf redaction_of = nullptr,
            EventRedactor::RedactionOf shown_filters_of = nullptr);
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  /// Begins to watch. Call once.
  void start();
  /// Ends: no sink is called after it, except by a call in progress.
  void stop();
  /// Gives `sink` the events after `after`; nothing: those from now on. Returns what ends that, on any thread
  /// and at any time.
  Task subscribe(FeedFilter filter, std::optional<Position> after, std::shared_ptr<FeedSink> sink);
  /// Gives `sink` the events from now on: it has joined when this returns, so that it misses nothing that
  /// begins afterwards. Blocks for one read of the journal. Error `kJournal`.
  Status join(FeedFilter filter, std::shared_ptr<FeedSink> sink);
  std::size_t observers() const { return observers_; }

  // ---- sessions of other processes: their records come from the journal, their transient events from here

  /// Call before `start` if `take_remote` will be called. `on_interests` is called on any thread when
  /// `interests` may have changed; it must not block or use the feed.
  void follow_others(std::function<void()> on_interests);
  /// The sessions whose deltas observers want, with those below; an empty id: all.
  std::set<SessionId> interests();
  /// Publishes a piece of a session of another process, unless its answer is over. May block for a read of
  /// the journal. False: pieces before it are missing.
  bool take_remote(RemotePiece piece);
  /// Drops what came of open answers of other processes that have no observer here any more.
  void forget_unwatched();
  /// There may be records that it has not read.
  void wake();

 private:
  /// Whose session an event is of.
  enum class Source : std::uint8_t { kOwn, kOther };
  /// A part so far of an answer that is being written: text or reasoning.
  struct Part {
    Event event;        ///< its first piece, with all the text
    std::string shown;  ///< the text that observers may see
  };
  /// An answer that is being written. Has a part.
  struct Partial {
    std::vector<Part> parts = {};
    std::uint64_t ordinal = 0;  ///< of the last piece
    Source source = Source::kOwn;

    /// Whether an event of record `seq` comes after it.
    bool is_before(std::uint64_t seq) const { return parts.back().event.seq < seq; }
    /// Whether the event is of the same answer.
    bool has(const Event& event) const {
      return parts.back().event.seq == event.seq && parts.back().event.attempt == event.attempt;
    }
  };
  using Partials = std::map<SessionId, Partial>;
  /// The sessions of which a record could not be read, each with the look at which that began.
  using Unreadable = std::map<SessionId, std::uint64_t>;

  struct Observer {
    FeedFilter filter;
    std::shared_ptr<FeedSink> sink;
    Position after;                  ///< the last event that it has
    std::atomic<bool> gone = false;  ///< it wants no more
    bool left = false;               ///< it is no longer counted
    Partials partials = {};          ///< answers that were being written when it joined: not given yet
    std::uint64_t joined_at = 0;     ///< the last piece when it joined: those up to it came as one, or whole
    std::set<SessionId> reads = {};  ///< the sessions of whose open answer it has all pieces so far
    Unreadable unreadable = {};      ///< while it catches up
    std::uint64_t looks = 0;         ///< of these, how often it has waited for a record
  };
  using ObserverPtr = std::shared_ptr<Observer>;

  /// `pieces` are what observers may see of the event.
  static std::vector<Frame> frames_of(const std::vector<Event>& pieces, const Event& event, Source source);
  void publish(const Event& event, Source source);
  void note_records(const std::vector<Change>& changes);
  void pump();
  void pump_once();
  bool deliver_records(const std::vector<Change>& changes, std::map<SessionId, std::deque<Frame>>& transient);
  Result<std::vector<Event>> events_of(const Change& change, Projection& projection);
  void take_transient(std::map<SessionId, std::deque<Frame>>& transient);
  void give_back(std::map<SessionId, std::deque<Frame>>& transient);
  void deliver(const Frame& frame, const std::vector<ObserverPtr>& observers);
  void deliver_before(const SessionId& session, std::uint64_t seq,
                      std::map<SessionId, std::deque<Frame>>& transient);
  void give(Observer& observer, const Frame& frame);
  bool concerns(const FeedFilter& filter, const Frame& frame);
  void give_partial(Observer& observer, const SessionId& session);
  std::uint64_t note_partial(const Event& event, Source source);
  void note_shown(const Event& piece);
  void deliver_rest(const Change& change, const std::vector<ObserverPtr>& observers);
  void note_end(const Event& event);
  static void drop_ended(Partials& partials, const Event& end);
  void drop_closed(Observer& observer);
  std::vector<ObserverPtr> joined();
  void catch_up(const ObserverPtr& observer, const std::shared_ptr<Projection>& projection);
  void catch_up_after(std::chrono::milliseconds pause, const ObserverPtr& observer,
                      const std::shared_ptr<Projection>& projection);
  std::uint64_t live_position();
  bool try_join(const ObserverPtr& observer);
  void leave(const ObserverPtr& observer);
  void tick_later();
  void tick();

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Journal> journal_;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Folds> folds_;  ///< null: what was missed is folded from its beginning
  EventRedactor redactor_;
  Lineages lineages_;
  std::optional<Subscription> subscription_;
  bool follows_others_ = false;         ///< set before `start`, as the next
  std::function<void()> on_interests_;  ///< null: not asked for
  std::atomic<std::size_t> observers_ = 0;

  enum class Pumping : std::uint8_t { kNo, kYes, kAgain };
  std::mutex mutex_;  // guards the next members; never held while reading the journal or calling a sink
  Pumping pumping_ = Pumping::kNo;
  std::vector<ObserverPtr> joined_;
  std::uint64_t live_ = 0;  ///< position up to which the observers that have joined have everything
  std::map<SessionId, std::deque<Frame>> transient_;  ///< by session, in order of `seq`
  std::size_t transient_count_ = 0;
  Partials partials_;  ///< of all sessions
  RemoteAnswers remote_;
  std::uint64_t pieces_ = 0;  ///< the ordinal of the last piece of any answer
  Executor::TimerId timer_ = 0;
  std::uint64_t ticks_ = 0;
  bool ticking_ = false;
  bool stopped_ = false;

  // Only the pump uses these, which runs once at a time.
  Projection projection_;
  Unreadable unreadable_;
};

/// An event as a server-sent event: `id` (of an event in the log), `event` and `data`.
std::string server_sent(const Event& event, const std::optional<Position>& position);

}  // namespace praxis::server
