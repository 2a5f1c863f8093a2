#include "engines/restate/engine_log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engines/restate/batch.hpp"
#include "engines/restate/guard.hpp"
#include "engines/restate/recovery.hpp"
#include "praxis/core/records.hpp"

namespace praxis::restate {
namespace {

constexpr std::size_t kUsualBatchBytes = 4 * 1024 * 1024;
constexpr std::size_t kMostAppendBytes = kMostFrameBytes - 1024;
constexpr std::chrono::milliseconds kRetryDelay{1'000};

/// Whether a root with this status is within a turn.
bool is_open(const std::string& status) {
  const auto known = session_status_from(status);
  return known == SessionStatus::kRunning || known == SessionStatus::kAwaitingUser;
}

bool awaits_person(const std::string& status) {
  return session_status_from(status) == SessionStatus::kAwaitingUser;
}

Error too_large(std::size_t bytes) {
  return make_error(ErrorCode::kJournal, ErrorKind::kFull,
                    "an append of " + std::to_string(bytes / (1024 * 1024)) +
                        " MiB is larger than a message of the engine (" +
                        std::to_string(kMostAppendBytes / (1024 * 1024)) +
                        " MiB); limit the output of the tool, or run without the engine");
}

Error ended() {
  return make_error(ErrorCode::kJournal, ErrorKind::kIo, "the connection to the engine has ended", true);
}

Error superseded(const SessionId& root) {
  return make_error(ErrorCode::kJournal, ErrorKind::kLeaseLost,
                    "run " + root.str() + ": the engine holds later records than this process");
}

}  // namespace

EngineLog::EngineLog(std::shared_ptr<Journal> store, std::shared_ptr<Executor> executor,
                     std::shared_ptr<Environment> environment, EngineWaits waits)
    : store_(std::move(store)),
      executor_(std::move(executor)),
      environment_(std::move(environment)),
      waits_(waits) {}

void EngineLog::connect(EngineLinks links) {
  {
    const std::lock_guard lock(mutex_);
    links_ = std::move(links);
  }
  watch();
}

void EngineLog::run(Afterwards& afterwards) {
  for (Task& task : afterwards) task();
}

// ---- trees

SessionId EngineLog::root_of(const SessionId& session, const std::optional<SessionId>& parent) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = roots_.find(session); found != roots_.end()) return found->second;
  }
  SessionId above = parent.value_or(SessionId{});
  if (!parent) {
    if (const auto row = store_->session(session)) above = row->parent;
  }
  const SessionId root = above.empty() ? session : root_of(above, std::nullopt);
  const std::lock_guard lock(mutex_);
  roots_.insert_or_assign(session, root);
  return root;
}

EngineLog::TreePtr EngineLog::tree_of(const SessionId& root) {
  TreePtr& tree = trees_[root];
  if (!tree) tree = std::make_shared<Tree>();
  return tree;
}

void EngineLog::forget_if_idle(const SessionId& root, const TreePtr& tree) {
  const bool is_idle = tree->is_quiet() && !tree->request && tree->link == Link::kUnknown;
  const auto found = trees_.find(root);
  if (is_idle && found != trees_.end() && found->second == tree) trees_.erase(found);
}

// ---- appends

void EngineLog::append(Append append, AppendDone done) {
  const SessionId root = root_of(append.lease.session, append.row.parent);
  Item item{encode_append(append), std::move(append), std::move(done)};
  if (item.bytes.size() > kMostAppendBytes) return item.done(fail(too_large(item.bytes.size())));
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) {
      afterwards.push_back([done = std::move(item.done)]() mutable { done(fail(ended())); });
    } else {
      const TreePtr tree = tree_of(root);
      tree->is_live = true;
      if (item.append.lease.session == root && item.append.row.status) tree->status = *item.append.row.status;
      tree->queue.push_back(std::move(item));
      advance(root, *tree, afterwards);
    }
  }
  run(afterwards);
}

void EngineLog::release(const Lease& lease) {
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    const auto root = roots_.find(lease.session);
    const auto tree = root == roots_.end() ? trees_.end() : trees_.find(root->second);
    if (tree == trees_.end()) {
      afterwards.push_back([store = store_, lease] { store->release(lease); });
    } else {
      if (root->first == root->second) tree->second->is_live = false;
      tree->second->releases.push_back(lease);
      flush_releases(*tree->second, afterwards);
    }
    if (root != roots_.end()) roots_.erase(root);
  }
  run(afterwards);
}

void EngineLog::flush_releases(Tree& tree, Afterwards& afterwards) {
  if (!tree.is_quiet()) return;
  for (const Lease& lease : std::exchange(tree.releases, {}))
    afterwards.push_back([store = store_, lease] { store->release(lease); });
}

// ---- answers

void EngineLog::advance(const SessionId& root, Tree& tree, Afterwards& afterwards) {
  if (tree.storing > 0 || stopped_) return;
  if (!tree.request) {
    const bool is_expected = tree.link == Link::kAsked || tree.link == Link::kProposed;
    if (!tree.queue.empty() && !is_expected) ask(root, tree, afterwards);
    return;
  }
  if (!tree.queue.empty()) return propose_queue(tree, afterwards);
  if (!is_open(tree.status)) {
    tree.known = 0;
    return answer_request(tree, finish(tree.request->invocation), Link::kUnknown, afterwards,
                          &counts_->ended);
  }
  if (awaits_person(tree.status)) return suspend_request(tree, afterwards);
  hold(root, tree, afterwards);
}

void EngineLog::ask(const SessionId& root, Tree& tree, Afterwards& afterwards) {
  const bool is_suspended = tree.link == Link::kAsleep;
  tree.link = Link::kAsked;
  tree.asked = environment_->monotonic();
  if (links_.wake) afterwards.push_back([wake = links_.wake, root] { wake(root); });
  // One that this process does not know of may exist; then a second one finds nothing to do, and ends.
  if (!is_suspended && links_.invoke) afterwards.push_back([invoke = links_.invoke, root] { invoke(root); });
}

void EngineLog::propose_queue(Tree& tree, Afterwards& afterwards) {
  std::vector<std::string> appends;
  std::size_t bytes = 0;
  while (!tree.queue.empty() &&
         (appends.empty() || bytes + tree.queue.front().bytes.size() <= kUsualBatchBytes)) {
    bytes += tree.queue.front().bytes.size();
    appends.push_back(tree.queue.front().bytes);
    tree.proposed.push_back(std::move(tree.queue.front()));
    tree.queue.pop_front();
  }
  tree.batch = encode_batch(appends);
  answer_request(tree, propose(tree.request->invocation, tree.batch), Link::kProposed, afterwards);
}

void EngineLog::suspend_request(Tree& tree, Afterwards& afterwards) {
  const Invocation& invocation = tree.request->invocation;
  constexpr std::uint32_t kMostDoublings = 16;
  const auto sleep = std::min(waits_.first_sleep * (1U << std::min(invocation.sleeps, kMostDoublings)),
                              waits_.longest_sleep);
  answer_request(tree, suspend(invocation, environment_->now() + sleep), Link::kAsleep, afterwards,
                 &counts_->suspended);
}

/// Counts `what` was done, unless the guard holds the answer back.
void EngineLog::answer_request(Tree& tree, std::string bytes, Link link, Afterwards& afterwards,
                               EngineCounts::Count* what) {
  tree.link = link;
  tree.asked = environment_->monotonic();
  if (auto good = check_answer(tree.request->invocation, bytes); !good) {
    if (links_.warn) afterwards.push_back([warn = links_.warn, text = good.error().message] { warn(text); });
    bytes = refuse(good.error().message, kRetryDelay);
    what = &counts_->held_back;
  }
  if (what != nullptr) ++*what;
  afterwards.push_back([answer = std::move(tree.request->answer), bytes = std::move(bytes)]() mutable {
    answer(std::move(bytes));
  });
  tree.request.reset();
}

void EngineLog::hold(const SessionId& root, Tree& tree, Afterwards& afterwards) {
  if (std::exchange(tree.request->is_held, true)) return;
  afterwards.push_back([weak = weak_from_this(), executor = executor_, wait = waits_.hold, root,
                        number = tree.request->number] {
    executor->after(wait, [weak, root, number] {
      if (const auto self = weak.lock()) self->hold_ended(root, number);
    });
  });
}

void EngineLog::hold_ended(const SessionId& root, std::uint64_t number) {
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    const auto tree = trees_.find(root);
    if (tree == trees_.end() || !tree->second->request || tree->second->request->number != number) return;
    if (tree->second->storing == 0) suspend_request(*tree->second, afterwards);
  }
  run(afterwards);
}

void EngineLog::fail_all(Tree& tree, const Error& error, Afterwards& afterwards) {
  std::ranges::move(tree.proposed, std::inserter(tree.queue, tree.queue.begin()));
  tree.proposed.clear();
  for (Item& item : tree.queue)
    afterwards.push_back([done = std::move(item.done), error]() mutable { done(fail(error)); });
  tree.queue.clear();
  tree.is_live = false;
}

// ---- requests

std::uint64_t EngineLog::take(Invocation invocation, Answer answer) {
  const SessionId root(invocation.key);
  Afterwards afterwards;
  TreePtr tree;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++requests_;
    tree = tree_of(root);
    tree->link = Link::kOpen;
    if (tree->request) {  // its connection was lost, or will be
      afterwards.push_back([old = std::move(tree->request->answer)]() mutable {
        old(refuse("a later request took the place of this one", kRetryDelay));
      });
      tree->request.reset();
    }
  }
  run(afterwards);
  afterwards.clear();
  const std::lock_guard serial(tree->taking);
  note_size(invocation);
  const auto taken = take_batches(root, tree, invocation);
  invocation.batches = {};  // they are large, and in the journal now
  const auto row = taken ? store_->session(root) : Result<SessionRow>(fail(taken.error()));
  {
    const std::lock_guard lock(mutex_);
    const bool is_stored =
        taken && tree->invocation == invocation.id;  // what failed to be is stored next time
    if (!is_stored || stopped_) {
      const std::string why = !taken     ? taken.error().message
                              : stopped_ ? ended().message
                                         : "the journal did not take the records";
      if (!taken && links_.warn) afterwards.push_back([warn = links_.warn, why] { warn(why); });
      afterwards.push_back([answer = std::move(answer), why]() mutable { answer(refuse(why, kRetryDelay)); });
      tree->link = Link::kUnknown;
    } else {
      if (!tree->is_live) tree->status = row ? row->status : "";
      // What the engine did not take is offered again.
      std::ranges::move(tree->proposed, std::inserter(tree->queue, tree->queue.begin()));
      tree->proposed.clear();
      const bool is_left = !tree->is_live && tree->queue.empty() && is_open(tree->status);
      if (is_left && links_.resume) afterwards.push_back([resume = links_.resume, root] { resume(root); });
      if (invocation.cancelled && !std::exchange(tree->was_cancelled, true) && links_.interrupt)
        afterwards.push_back([interrupt = links_.interrupt, root] { interrupt(root); });
      tree->request = Request{number, std::move(invocation), std::move(answer)};
      tree->link = Link::kOpen;
      advance(root, *tree, afterwards);
    }
    forget_if_idle(root, tree);
  }
  run(afterwards);
  return number;
}

void EngineLog::note_size(const Invocation& invocation) {
  std::uint64_t bytes = 0;
  for (const std::string& batch : invocation.batches) bytes += batch.size();
  const std::lock_guard lock(mutex_);
  if (bytes > counts_->largest_log) counts_->largest_log = bytes;
}

/// Stores the batches of an invocation that the journal may lack.
Status EngineLog::take_batches(const SessionId& root, const TreePtr& tree, const Invocation& invocation) {
  std::size_t next = 0;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(tree->invocation, invocation.id) != invocation.id) {
      if (invocation.next_completion == 1) ++counts_->begun;
      tree->known = 0;
      tree->was_cancelled = false;
    }
    next = std::min(tree->known, invocation.batches.size());
  }
  for (; next < invocation.batches.size(); ++next) {
    std::vector<Item> own;
    {
      const std::lock_guard lock(mutex_);
      if (!tree->proposed.empty() && invocation.batches[next] == tree->batch) {
        own = std::exchange(tree->proposed, {});
        tree->storing += own.size();
        counts_->log_bytes += tree->batch.size();
      }
    }
    if (!own.empty()) {
      store(root, tree, std::move(own));
    } else {
      const auto changed = recover_batch(*store_, invocation.batches[next]);
      if (!changed) return fail(changed.error());
      Afterwards afterwards;
      if (*changed) {
        const std::lock_guard lock(mutex_);
        fail_all(*tree, superseded(root), afterwards);
      }
      run(afterwards);
    }
    const std::lock_guard lock(mutex_);
    tree->known = next + 1;
  }
  return {};
}

void EngineLog::store(const SessionId& root, const TreePtr& tree, std::vector<Item> items) {
  for (Item& item : items) {
    store_->append(std::move(item.append), [self = shared_from_this(), root, tree,
                                            done = std::move(item.done)](Result<std::uint64_t> last) mutable {
      done(last);  // first, so that what it appends goes into the next answer
      self->stored(root, tree, last);
    });
  }
}

void EngineLog::stored(const SessionId& root, const TreePtr& tree, const Result<std::uint64_t>& last) {
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    --tree->storing;
    if (!last) {  // the engine has them: the next request stores them
      tree->invocation.clear();
      fail_all(*tree, last.error(), afterwards);
      if (tree->request)
        answer_request(*tree, refuse(last.error().message, kRetryDelay), Link::kAsked, afterwards);
    }
    flush_releases(*tree, afterwards);
    advance(root, *tree, afterwards);
    forget_if_idle(root, tree);
  }
  run(afterwards);
}

void EngineLog::gone(const SessionId& root, std::uint64_t request) {
  Afterwards dropped;
  const std::lock_guard lock(mutex_);
  const auto tree = trees_.find(root);
  if (tree == trees_.end() || !tree->second->request || tree->second->request->number != request) return;
  dropped.push_back([answer = std::move(tree->second->request->answer)] {});
  tree->second->request.reset();
  tree->second->link = Link::kAsked;  // the engine tries again
  tree->second->asked = environment_->monotonic();
}

void EngineLog::take_up(const SessionId& root) {
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    const TreePtr tree = tree_of(root);
    if (!tree->request && !tree->is_live) ask(root, *tree, afterwards);
  }
  run(afterwards);
}

// ---- time

void EngineLog::watch() {
  executor_->after(waits_.patience / 2, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->look();
    self->watch();
  });
}

/// Announces again what the engine did not ask for.
void EngineLog::look() {
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    const auto now = environment_->monotonic();
    for (const auto& [root, tree] : trees_) {
      const bool waits = !tree->queue.empty() || !tree->proposed.empty();
      if (waits && !tree->request && tree->storing == 0 && now - tree->asked > waits_.patience) {
        tree->link = Link::kUnknown;
        ask(root, *tree, afterwards);
      }
    }
  }
  run(afterwards);
}

void EngineLog::stop() {
  Afterwards afterwards;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    for (const auto& [root, tree] : trees_) {
      fail_all(*tree, ended(), afterwards);
      if (tree->request)
        answer_request(*tree, refuse(ended().message, kRetryDelay), Link::kUnknown, afterwards);
      flush_releases(*tree, afterwards);
    }
  }
  run(afterwards);
}

}  // namespace praxis::restate
