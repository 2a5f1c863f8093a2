#include "sim_world.hpp"

#include <algorithm>
#include <utility>

#include "driver/command_records.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis::faults::sim {
namespace {

constexpr std::uint64_t kMostToRest = 60'000;  ///< steps until everything must be idle
/// One run in this many is replayed, because a replay costs a fifth of a run.
constexpr std::uint64_t kReplayedOnceIn = 4;

std::unexpected<Error> disk_error(Random& random) {
  if (random.once_in(2)) return fail(ErrorCode::kJournal, ErrorKind::kFull, "the disk is full", true);
  return fail(ErrorCode::kJournal, ErrorKind::kIo, "the disk failed");
}

}  // namespace

World::World(std::uint64_t seed, Play play)
    : play_(play),
      agenda_(seed),
      random_(agenda_.random()),
      clock_([this] { return agenda_.now(); }, seed + 1),
      planner_(std::make_shared<const ModelPlanner>()),
      replays_(seed % kReplayedOnceIn == 0),
      kill_once_in_(200 + random_.below(1'500)) {
  const bool trees = play == Play::kTrees;
  for (std::uint64_t count = 1 + random_.below(trees ? 2 : 4); count > 0; --count)
    roots_.push_back(
        {std::make_shared<const AgentSpec>(trees ? tree_agent(random_()) : root_agent(random_()))});
}

/// True when the programs are done and, for trees, no session in memory is in a turn or has yet to write.
bool World::is_at_rest() {
  if (!std::ranges::all_of(roots_, &Root::over)) return false;
  if (play_ == Play::kMixed) return true;
  return std::ranges::none_of(nodes_, [this](Node& node) {
    return !node.gone && !node.gave_up && (node.appending || state(node).turn);
  });
}

RunOutcome World::run(std::uint64_t steps) {
  begin_life();
  while (outcome_.complaints.empty() && !is_at_rest()) {
    if (agenda_.steps() >= steps && !vendor_.calm) {
      vendor_.calm = true;
      kill_at_ = 0;
      killed_ = killed_ || life_.ending;
    }
    if (!vendor_.calm && !life_.ending && random_.once_in(kill_once_in_)) end_life();
    if (!killed_ && !agenda_.step()) outcome_.complaints.emplace_back("no entry is left");
    if (killed_) kill();
    if (agenda_.steps() > steps + kMostToRest) complain_of_unrest();
  }
  if (outcome_.complaints.empty()) check();
  outcome_.steps = agenda_.steps();
  return outcome_;
}

void World::check() {
  for (const Node& node : nodes_) {
    if (node.gone || node.gave_up || node.above != nullptr) continue;
    if (!node.grants.empty()) complain(node, "keeps what it was granted");
    if (!node.resting.empty()) complain(node, "a caller still waits although the turn is over");
  }
  Checks checks(deeds_);
  for (auto& [session, kept] : kept_) checks.add(session, std::move(kept.log), std::move(kept.state));
  checks.all(promises_);
  if (replays_) checks.replays();
  checks.at_rest();
  if (play_ == Play::kTrees) {
    for (const Node& node : nodes_) disk_->release(node.lease);
    const bool undisturbed = outcome_.kills == 0 && std::ranges::none_of(nodes_, &Node::gave_up);
    checks.trees(*disk_, undisturbed);
  }
  outcome_.complaints.insert(outcome_.complaints.end(), checks.complaints().begin(),
                             checks.complaints().end());
  outcome_.digest = digest_of_logs(*disk_);
}

/// Lists the sessions that are still busy.
void World::complain_of_unrest() {
  outcome_.complaints.emplace_back("it never becomes idle");
  for (Node& node : nodes_) {
    if (node.gone || node.gave_up) continue;
    const State& now = state(node);
    complain(node, std::string(to_string(now.status())) + (now.paused ? ", paused" : "") +
                       (now.turn ? ", in a turn" : "") + ", " + std::to_string(now.parked.size()) +
                       " parked, " + std::to_string(node.works) + " handlers, " +
                       std::to_string(node.timers.size()) + " timers, " +
                       std::to_string(node.readers.size()) + " readers" +
                       (node.appending ? ", appending" : "") + (node.asks_hooks ? ", asks hooks" : "") +
                       (node.leaving ? ", leaving" : ""));
    for (const CallState& call : now.turn ? now.turn->calls : CallBatch{})
      complain(node,
               call.call.name + " " + call.effect.str() + " " + std::to_string(static_cast<int>(call.phase)));
  }
}

void World::complain(const Node& node, const std::string& what) {
  outcome_.complaints.push_back(node.id.str() + ": " + what);
}

// ---- the life of a process

void World::begin_life() {
  life_ = {};
  life_.hooks = random_.once_in(3);
  life_.suspends = random_.once_in(3);
  life_.observed = random_.once_in(4);
  life_.approver = random_.once_in(2) ? 1 : 0;
  life_.grace = Millis{5 + random_.below(40)};
  for (Root& root : roots_) {
    root.over = false;
    agenda_.post([this, &root] { client(root); });
  }
  agenda_.post([this] { meddle(); });
}

/// Lets the process die within its next actions, or asks it to end and kills it some time later.
void World::end_life() {
  life_.ending = true;
  if (random_.once_in(2)) {
    kill_at_ = 1 + random_.below(8);
    return;
  }
  life_.closing = random_.once_in(2);
  agenda_.after(Millis{random_.below(60)}, [this] { killed_ = true; });
  if (life_.closing) return;
  for (Node& node : nodes_) {
    feed(node, driver::WindDownRequested{});
    if (node.gone || node.gave_up || node.above != nullptr) continue;
    node.resting.insert(++tokens_);
    feed(node, driver::RestAwaited{tokens_});
  }
}

/// Loses everything in memory. Of the appends in progress, some are on the disk and some are not.
void World::kill() {
  ++outcome_.kills;
  for (Node& node : nodes_) {
    if (node.unwritten && random_.once_in(2)) write(*std::move(node.unwritten));
  }
  for (const Node& node : nodes_) disk_->release(node.lease);
  active_.clear();
  works_.clear();
  nodes_.clear();
  agenda_.clear();
  killed_ = false;
  kill_at_ = 0;
  begin_life();
}

/// Another process takes a session and all sessions below it by force, writes to it, and releases it. The
/// owner here finds out by its next append.
void World::steal(Node& node) {
  const auto row = disk_->session(node.id);
  if (!row || row->entries == 0) return;
  for (const Node& each : nodes_) {
    const Node* above = &each;
    while (above != nullptr && above != &node) above = above->above;
    if (above == nullptr || each.gone || each.gave_up) continue;
    taken_.emplace(each.id, each.lease.token);
    if (const auto lease = disk_->acquire(each.id, true)) disk_->release(*lease);
  }
  const std::string text = "another process " + vendor_.number();
  const Commands commands{{CommandVerb::kAnnotate, node.id, text}};
  if (!record_at_rest(node.id, commands)) return;
  promise(node.id, text, [text](const Log& log) { return holds_command(log, CommandVerb::kAnnotate, text); });
}

// ---- sessions

Node* World::find(const SessionId& session) {
  const auto found = active_.find(session);
  return found == active_.end() ? nullptr : found->second;
}

Node& World::make_node(Lease lease, AgentSpecPtr agent, State state, Node* above, const CallId& call) {
  Node& node = nodes_.emplace_back();
  node.id = lease.session;
  node.lease = std::move(lease);
  node.agent = std::move(agent);
  node.above = above;
  node.call = call;
  driver::Setup setup;
  setup.agent = node.agent;
  setup.planner = planner_;
  setup.lease = node.lease;
  if (life_.hooks)
    setup.hooks = {random_.once_in(2), random_.once_in(2), random_.once_in(2), random_.once_in(2)};
  setup.model.max_output = random_.once_in(2) ? 100 : 0;
  setup.model.price = [](const Usage& usage) { return MicroUsd{usage.total() * 3}; };
  if (above != nullptr) {
    node.depth = above->depth + 1;
    node.budget_above = budget(*above);
    setup.parent =
        std::make_shared<const driver::ParentAddress>(driver::ParentAddress{above->id, call, above->lease});
    setup.bounded_above = node.budget_above != nullptr;
    std::uint32_t height = 1;
    for (Node* a = above; a != nullptr; a = a->above, ++height) a->height = std::max(a->height, height);
  }
  node.driver = std::make_unique<driver::TurnDriver>(std::move(setup), std::move(state));
  active_[node.id] = &node;
  return node;
}

/// Records the first record of a new session.
void World::begin(Node& node) {
  sessions_.push_back(node.id);
  records::SessionCreated created;
  created.session = node.id;
  created.seed = clock_.random();
  created.agent = node.agent;
  created.path = node.agent->id;
  if (node.above != nullptr) {
    const State& above = state(*node.above);
    created.parent = above.id;
    created.depth = above.depth + 1;
    created.path = above.path + "/" + created.path;
  }
  std::vector<RecordBody> records;
  records.emplace_back(std::move(created));
  feed(node, driver::RecordsGiven{std::move(records)});
}

/// Returns the session in memory, or reads it from the disk.
Result<Node*> World::open(const SessionId& session, AgentSpecPtr agent, Node* above, const CallId& call) {
  if (Node* active = find(session)) return active;
  auto lease = disk_->acquire(session);
  if (!lease) return fail(lease.error());
  auto state = read_state(session);
  if (!state) {
    disk_->release(*lease);
    return fail(state.error());
  }
  state->agent = agent;  // share one copy
  return &make_node(*std::move(lease), std::move(agent), *std::move(state), above, call);
}

Result<State> World::read_state(const SessionId& session) {
  if (vendor_.mishap(300)) return disk_error(random_);
  const auto kept = kept_.find(session);
  return kept == kept_.end() ? Result<State>(disk_error(random_)) : kept->second.state;
}

/// Reads the new records of a log, as a process that opens the session later would.
void World::keep(const SessionId& session) {
  Kept& kept = kept_[session];
  kept.state.id = session;
  auto records = read_records(*disk_, session, kept.log.size() + 1);
  if (!records) return outcome_.complaints.push_back(session.str() + ": " + records.error().message);
  for (StoredRecord& stored : *records) {
    if (auto applied = apply_to(kept.state, stored.record); !applied)
      return outcome_.complaints.push_back(session.str() + ": " + applied.error().message);
    kept.log.push_back(std::move(stored));
  }
}

/// Returns the state; reads it from the disk when the driver was suspended.
const State& World::state(Node& node) {
  if (node.driver->has_state()) return node.driver->state();
  node.driver->restore(read_state(node.id), node.actions);
  if (node.driver->failure()) drain(node);
  return node.driver->state();
}

void World::feed(Node& node, driver::Input input) {
  if (killed_ || node.gone) return;
  state(node);
  if (killed_ || node.gone) return;
  node.driver->take(moment(node), std::move(input), node.actions);
  drain(node);
}

/// Carries out the actions of the driver in order, including those that the actions themselves cause.
void World::drain(Node& node) {
  if (node.draining) return;
  node.draining = true;
  for (std::size_t i = 0; i < node.actions.size() && !killed_; ++i) {
    driver::Action action = std::move(node.actions[i]);
    std::visit([&](auto& each) { perform(node, each); }, action);
    if (kill_at_ != 0 && --kill_at_ == 0) killed_ = true;
  }
  node.actions.clear();
  node.draining = false;
  if (killed_) return;
  if (life_.suspends && random_.once_in(20)) node.driver->suspend();
  leave_when_quiet(node);
}

driver::Moment World::moment(const Node& node) {
  constexpr Millis kGracePerLevel{20};
  driver::Moment now;
  now.wall = clock_.now();
  now.monotonic = agenda_.now();
  if (life_.observed) now.wanted = EventKinds().set();
  now.arrived = node.arrived;
  now.approver = life_.approver;
  now.grace = life_.grace + node.height * kGracePerLevel;
  now.closing = life_.closing;
  return now;
}

/// A session that is no longer needed leaves memory when it has no running effects.
void World::leave_when_quiet(Node& node) {
  if (!node.leaving || node.gone || node.draining || node.appending || node.asks_hooks || node.works != 0)
    return;
  if (!node.readers.empty() || !node.waiters.empty() || !node.callers.empty() || !node.questions.empty())
    return;
  if (!node.gave_up && state(node).turn && !node.driver->waits_for_people()) return;
  for (const auto& [token, timer] : node.timers) agenda_.cancel(timer);
  node.timers.clear();
  node.grants.clear();
  node.gone = true;  // the driver remains for callers up the stack
  if (find(node.id) == &node) active_.erase(node.id);
  give_back(node.lease);
}

void World::give_back(const Lease& lease) {
  given_back_.emplace(lease.session, lease.token);
  disk_->release(lease);
}

/// Denies the parked steps whose time is over. Returns true when there were any.
bool World::expire(Node& node) {
  if (state(node).parked.empty()) return false;
  const std::uint64_t before = state(node).seq;
  feed(node, driver::ExpireParked{});
  return !killed_ && state(node).seq != before;
}

/// Records inputs and continues the loop; calls `done` once they are durable.
void World::submit(Node& node, const Inputs& inputs, Done done) {
  if (expire(node)) feed(node, driver::RecordsGiven{});
  if (killed_ || node.gone) return;
  auto bodies = inputs(state(node));
  if (node.driver->failure()) return done(fail(*node.driver->failure()));
  if (!bodies) return done(fail(bodies.error()));
  if (bodies->empty()) return done({});
  const driver::Token waiter = ++tokens_;
  node.waiters[waiter] = [done = std::move(done)](const Result<std::uint64_t>& durable) {
    done(durable ? Status{} : Status(fail(durable.error())));
  };
  feed(node, driver::RecordsGiven{*std::move(bodies), waiter});
}

// ---- the disk

/// Does what a process does that does not run the session (src/logs/log_writer.cpp): its driver settles an
/// interrupted turn and continues nothing else.
Status World::record_at_rest(const SessionId& session, const InboxRequest& request) {
  const auto kept = kept_.find(session);
  if (kept == kept_.end()) return fail(ErrorCode::kInput, "the session is unknown");
  const auto lease = disk_->acquire(session);
  if (!lease) return fail(lease.error());
  driver::Setup setup;
  setup.agent = kept->second.state.agent;
  setup.planner = planner_;
  setup.lease = *lease;
  setup.at_rest = true;
  driver::TurnDriver driver(std::move(setup), kept->second.state);
  driver::Moment now;
  now.wall = clock_.now();
  driver::Actions actions;
  driver.take(now, driver::ExpireParked{}, actions);
  auto records = request_records(driver.state(), request, false);
  driver.take(now, driver::RecordsGiven{records.value_or(std::vector<RecordBody>{})}, actions);
  Status done = records ? Status{} : Status(fail(records.error()));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (const auto* close = std::get_if<driver::CloseLeft>(&actions[i])) {
      for (const SessionId& child : std::vector(close->children))
        driver.take(now, close_left(child), actions);
    }
    auto* append = std::get_if<driver::AppendRecords>(&actions[i]);
    if (append == nullptr) continue;
    if (auto written = write(std::move(append->append)); !written) done = fail(written.error());
  }
  disk_->release(*lease);
  return done;
}

void World::write(Node& node) {
  Append append = *std::exchange(node.unwritten, std::nullopt);
  Result<std::uint64_t> last =
      vendor_.mishap(300) ? Result<std::uint64_t>(disk_error(random_)) : write(std::move(append));
  if (node.gave_up) give_back(node.lease);
  agenda_.post([this, &node, last = std::move(last)]() mutable {
    node.appending = false;
    feed(node, driver::Appended{std::move(last)});
  });
}

/// Reports a violation when the disk refuses an append although the owner has not lost its lease.
Result<std::uint64_t> World::write(Append append) {
  const auto lost = [this](const Lease& lease) {
    const std::pair key(lease.session, lease.token);
    return taken_.contains(key) || given_back_.contains(key);
  };
  const Lease lease = append.lease;
  const bool refusable = lost(lease) || (append.on_behalf_of && lost(*append.on_behalf_of));
  Result<std::uint64_t> written = 0;
  disk_->append(std::move(append), [&](Result<std::uint64_t> last) { written = std::move(last); });
  if (written) keep(lease.session);
  if (!written && !refusable)
    outcome_.complaints.push_back(lease.session.str() + ": " + written.error().message);
  return written;
}

}  // namespace praxis::faults::sim
