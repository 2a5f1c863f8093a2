#include "threads_world.hpp"
#include "praxis/core/state.hpp"

#include <algorithm>
#include <utility>

namespace praxis::faults::threads {

using sim::holds_command;
using sim::holds_decision;
using sim::holds_end;
using sim::holds_prompt;

namespace {

constexpr std::uint64_t kMostToRest = 60'000;  ///< steps until everything must be idle

}  // namespace

World::World(std::uint64_t seed)
    : schedule_(seed),
      random_(schedule_.random()),
      outside_(std::make_shared<Outside>(schedule_)),
      environment_(std::make_shared<JumpingClock>([this] { return schedule_.now(); }, seed + 1)) {
  for (std::uint64_t count = 1 + random_.below(4); count > 0; --count)
    roots_.push_back({sim_agent(outside_, random_())});
}

void World::promise(const SessionId& session, std::string what, std::function<bool(const Log&)> kept) {
  promises_.push_back({session, std::move(what), std::move(kept)});
}

RunOutcome World::run(std::uint64_t steps) {
  const std::uint64_t kill_once_in = 200 + random_.below(1'500);
  begin_life();
  while (outcome_.complaints.empty()) {
    if (schedule_.steps() >= steps && !closing()) {
      outside_->calm = true;
      journal_->become_reliable();
    }
    if (std::ranges::all_of(roots_, &Root::over)) break;
    if (!closing() && random_.once_in(kill_once_in)) kill();
    if (!schedule_.step()) outcome_.complaints.emplace_back("nothing is left to do");
    if (schedule_.steps() > steps + kMostToRest) outcome_.complaints.emplace_back("it does not come to rest");
  }
  if (outcome_.complaints.empty()) check(true);
  outcome_.steps = schedule_.steps();
  return outcome_;
}

void World::begin_life() {
  journal_ = std::make_shared<SimJournal>(disk_, schedule_);
  RuntimeOptions options;
  options.journal = journal_;
  options.environment = environment_;
  options.executor = std::make_shared<SimExecutor>(schedule_);
  options.stream = random_.once_in(2);
  options.suspend_when_waiting = random_.once_in(3);
  options.cancel_grace = Millis{5 + random_.below(40)};
  runtime_ = Runtime::create(std::move(options));
  if (random_.once_in(2)) {
    runtime_->set_approval_handler([this](const ParkedStep& step, const std::stop_token& stop) {
      schedule_.sleep(Millis{random_.below(30)}, stop);
      return approval_on(step, false);
    });
  }
  for (Root& root : roots_) {
    root.over = false;
    schedule_.post_blocking([this, &root] { client(root); });
  }
  schedule_.post_blocking([this] { meddle(); });
}

/// Abandons everything in memory: nothing uses it any more, and no destructor runs.
void World::kill() {
  ++outcome_.kills;
  schedule_.die();
  journal_->crash();
  new std::shared_ptr<Runtime>(std::exchange(runtime_, nullptr));
  check(false);
  begin_life();
}

void World::check(bool at_rest) {
  Checks checks(outside_->deeds);
  checks.read(*disk_);
  checks.replays();
  checks.all(promises_);
  if (at_rest) {
    checks.at_rest();
    checks.shown_tree(*disk_);
  }
  outcome_.complaints = checks.complaints();
  if (!journal_->complaint().empty()) outcome_.complaints.push_back(journal_->complaint());
  outcome_.digest = sim::digest_of_logs(*disk_);
}

// ---- programs

/// Resumes or begins a session, until the program has nothing more to say.
void World::client(Root& root) {
  while (!root.over) {
    auto session =
        root.id.empty() ? runtime_->create_session(root.agent) : runtime_->open_session(root.id, root.agent);
    if (!session) {
      if (!root.id.empty() && log_of(root.id).empty()) root.id = {};  // it was lost before it was written
      nap(20);
      continue;
    }
    root.id = session->session_id();
    while (!root.over && one_turn(root, *session)) nap(10);
  }
}

Log World::log_of(const SessionId& session) { return read_records(*disk_, session).value_or(Log{}); }

/// Whether a turn that has ended for its callers has also ended on the disk.
bool World::on_disk_at_rest(const SessionId& session) {
  const auto state = fold(log_of(session));
  return !state || !state->turn;
}

/// False if the session cannot be used any more in this life.
bool World::one_turn(Root& root, Session& session) {
  auto result = session.resume().report();
  if (!result && result.error().code == ErrorCode::kInput) {
    if (closing()) {
      root.over = on_disk_at_rest(root.id);
      return !root.over;
    }
    if (session.status() == SessionStatus::kDeleted) {
      const auto state = fold(log_of(root.id));
      // Not yet so on the disk: a kill may undo it, or leave its turn to be resumed.
      if (state && (!state->deleted || state->turn)) return true;
      root.id = {};
      return false;
    }
    const std::string prompt = "prompt " + outside_->number();
    if (random_.once_in(3)) {
      if (session.add_user_turn(prompt)) {
        promise(root.id, prompt, [prompt](const Log& log) { return holds_prompt(log, prompt); });
      }
      result = session.run().report();
    } else {
      result = session.send_user_message(prompt).report();
    }
  }
  if (!result) return result.error().code == ErrorCode::kInput;
  result->status == SessionStatus::kAwaitingUser ? decide(session, *result) : ended(session, *result);
  return true;
}

void World::ended(const Session& session, const AgentResult& result) {
  promise(session.session_id(), "the end of " + result.id,
          [result](const Log& log) { return holds_end(log, result); });
}

// ---- people

std::optional<Approval> World::approval_on(const ParkedStep& step, bool always) {
  if (!always && random_.once_in(3)) return std::nullopt;
  if (random_.once_in(4)) return reject("no");
  return step.kind == ParkKind::kQuestion ? answer("answer " + outside_->number()) : approve();
}

void World::decide(Session& session, const AgentResult& result) {
  nap(60);
  for (const ParkedStep& step : result.pending) {
    if (!closing() && random_.once_in(4)) continue;
    if (!session.decide(step.id, *approval_on(step, true))) continue;
    const ParkId own{step.id.str().substr(step.id.str().find('/') + 1)};
    promise(step.session, "a decision on " + own.str(),
            [own](const Log& log) { return holds_decision(log, own); });
  }
}

/// A person who acts on sessions while they run.
void World::meddle() {
  // The person who paused it in the last life was killed before unpausing it.
  for (const Root& root : roots_) {
    const auto state = fold(log_of(root.id));
    if (state && state->paused) unpause(root.id);
  }
  while (!closing()) {
    nap(80);
    const auto nodes = runtime_->agent_tree();
    if (!nodes.empty()) meddle_once(nodes[random_.below(nodes.size())].id);
  }
}

/// Unpauses a paused session, even if the disk refuses a few times.
void World::unpause(const SessionId& session) {
  for (int tries = 0; tries < 5 && !runtime_->command({{CommandVerb::kUnpause, session}}); ++tries) nap(20);
}

void World::meddle_once(const SessionId& session) {
  const std::string text = "word " + outside_->number();
  const auto command = [&](CommandVerb verb, const std::string& said = {}) {
    if (!runtime_->command({{verb, session, said}})) return;
    promise(session, std::string(to_string(verb)) + ' ' + said,
            [=](const Log& log) { return holds_command(log, verb, said); });
  };
  switch (random_.below(12)) {
    case 0:
      command(CommandVerb::kPause);
      nap(100);
      return unpause(session);
    case 1:
      return command(CommandVerb::kInterrupt);
    case 2:
      return command(CommandVerb::kModify, text);
    case 3:
      if (random_.once_in(3)) command(CommandVerb::kDelete);
      return;
    case 4:
      return command(CommandVerb::kAnnotate, text);
    default:
      return command(CommandVerb::kSteer, text);
  }
}

}  // namespace praxis::faults::threads
