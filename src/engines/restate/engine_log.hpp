// The records of running turns at the engine. Appends of an agent tree wait until the engine asks for the
// next part of the tree's invocation; they are durable there once it asks again, and then go to the journal
// of this process, which every reader uses. One invocation is one turn of a root, with the sessions below it.
// The engine decides: what it holds and the journal lacks is stored before a run continues.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engines/restate/engine_counts.hpp"
#include "engines/restate/invocation.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::restate {

/// What the log asks of others. Called on any thread, without locks; each returns soon. A null function is
/// not called.
struct EngineLinks {
  std::function<void(const SessionId& root)> invoke;     ///< the engine is to begin an invocation
  std::function<void(const SessionId& root)> wake;       ///< a suspended invocation is to continue
  std::function<void(const SessionId& root)> resume;     ///< the run is to continue in this process
  std::function<void(const SessionId& root)> interrupt;  ///< the engine's operator cancelled it
  std::function<void(const std::string&)> warn;          ///< for the user
};

struct EngineWaits {
  /// How long a request stays open for records; then the invocation is suspended, which holds nothing. Below
  /// the engine's inactivity timeout (one minute by default).
  std::chrono::milliseconds hold{20'000};
  /// After this the engine asks again although nothing woke it, in case this process is another one; twice as
  /// long each time, up to `longest_sleep`.
  std::chrono::milliseconds first_sleep{60'000};
  std::chrono::milliseconds longest_sleep{3'600'000};
  /// Records that the engine did not ask for after this are announced again.
  std::chrono::milliseconds patience{10'000};
};

/// Thread-safe. Errors of appends are those of `Journal`.
class EngineLog : public std::enable_shared_from_this<EngineLog> {
 public:
  EngineLog(std::shared_ptr<Journal> store, std::shared_ptr<Executor> executor,
            std::shared_ptr<Environment> environment, EngineWaits waits = {});

  /// Call once, before the first request.
  void connect(EngineLinks links);
  /// As `Journal::append`; `done` is called once engine and journal have the entries. Error `full`: the
  /// append is larger than a message of the engine.
  void append(Append append, AppendDone done);
  /// As `Journal::release`.
  void release(const Lease& lease);

  /// Gets the bytes of an answer, once; any thread.
  using Answer = std::move_only_function<void(std::string)>;
  /// Takes a request of the engine for a tree. Stores what the journal lacks, so it may block: call it on a
  /// worker. Returns a number for `gone`.
  std::uint64_t take(Invocation invocation, Answer answer);
  /// The engine no longer waits for the answer to this request.
  void gone(const SessionId& root, std::uint64_t request);
  /// Asks the engine for an invocation of a run that was left, which then continues.
  void take_up(const SessionId& root);
  /// Not null. Those who answer requests apart from the log count in it too.
  const std::shared_ptr<EngineCounts>& counts() const { return counts_; }
  /// Fails what waits (`io`) and lets the engine try again later. Nothing is taken after it.
  void stop();

 private:
  struct Item {
    std::string bytes;
    Append append;
    AppendDone done;
  };
  struct Request {
    std::uint64_t number = 0;
    Invocation invocation;
    Answer answer;
    bool is_held = false;  ///< its timer runs
  };
  /// What the engine is known to do with the invocation of a tree.
  enum class Link : std::uint8_t { kUnknown, kAsked, kOpen, kProposed, kAsleep };
  struct Tree {
    std::mutex taking;  ///< held by `take`; its requests are taken one at a time
    std::deque<Item> queue;
    std::vector<Item> proposed;  ///< in an answer; the next request says whether the engine has them
    std::string batch;           ///< the bytes of `proposed`
    std::size_t storing = 0;
    std::vector<Lease> releases;
    std::optional<Request> request;
    std::string invocation;  ///< id of the last one
    std::size_t known = 0;   ///< its batches that the journal has
    std::string status;      ///< of the root, by its row
    bool is_live = false;    ///< a session of this process appends to it
    bool was_cancelled = false;
    Link link = Link::kUnknown;
    std::chrono::nanoseconds asked{0};

    bool is_quiet() const { return queue.empty() && proposed.empty() && storing == 0; }
  };
  using TreePtr = std::shared_ptr<Tree>;
  /// What is to be done without the lock.
  using Afterwards = std::vector<Task>;

  SessionId root_of(const SessionId& session, const std::optional<SessionId>& parent);
  TreePtr tree_of(const SessionId& root);
  void advance(const SessionId& root, Tree& tree, Afterwards& afterwards);
  void ask(const SessionId& root, Tree& tree, Afterwards& afterwards);
  void propose_queue(Tree& tree, Afterwards& afterwards);
  void suspend_request(Tree& tree, Afterwards& afterwards);
  void answer_request(Tree& tree, std::string bytes, Link link, Afterwards& afterwards,
                      EngineCounts::Count* what = nullptr);
  void hold(const SessionId& root, Tree& tree, Afterwards& afterwards);
  void hold_ended(const SessionId& root, std::uint64_t number);
  void fail_all(Tree& tree, const Error& error, Afterwards& afterwards);
  void flush_releases(Tree& tree, Afterwards& afterwards);
  void forget_if_idle(const SessionId& root, const TreePtr& tree);
  void note_size(const Invocation& invocation);
  Status take_batches(const SessionId& root, const TreePtr& tree, const Invocation& invocation);
  void store(const SessionId& root, const TreePtr& tree, std::vector<Item> items);
  void stored(const SessionId& root, const TreePtr& tree, const Result<std::uint64_t>& last);
  void watch();
  void look();
  static void run(Afterwards& afterwards);

  const std::shared_ptr<Journal> store_;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Environment> environment_;
  const EngineWaits waits_;
  const std::shared_ptr<EngineCounts> counts_ = std::make_shared<EngineCounts>();
  std::mutex mutex_;  // guards the rest, and all trees except `taking`
  EngineLinks links_;
  std::map<SessionId, TreePtr> trees_;
  std::map<SessionId, SessionId> roots_;  // of sessions with a lease here
  std::uint64_t requests_ = 0;
  bool stopped_ = false;
};

}  // namespace praxis::restate
