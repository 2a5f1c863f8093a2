#include "runtime/session_actor.hpp"

#include <algorithm>

#include "driver/command_records.hpp"
#include "logs/read_state.hpp"
#include "runtime/input_checks.hpp"

namespace praxis {
namespace {

/// Each level of sub-agents gets this much more time to stop, so that its result still reaches the level
/// above.
constexpr Millis kGracePerLevel{20};

bool has_approval_predicate(const ToolSet& tools) {
  return std::ranges::any_of(tools.tools(), [](const Tool& tool) { return tool.approval_when != nullptr; });
}

driver::Setup setup_of(const Services& services, const std::shared_ptr<const AgentDescription>& agent,
                       const std::shared_ptr<Model>& model, std::shared_ptr<const Planner> planner,
                       const Lease& lease, const Origin& origin, bool approves) {
  driver::Setup setup;
  setup.agent = AgentSpecPtr(agent, &agent->spec);
  setup.planner = std::move(planner);
  setup.lease = lease;
  if (origin.above) {
    const Lease& above = origin.above->lease();
    setup.parent = std::make_shared<const driver::ParentAddress>(
        driver::ParentAddress{above.session, origin.call, above});
  }
  const Hooks& hooks = agent->hooks;
  setup.hooks.turn = !hooks.before_turn.empty();
  setup.hooks.ended = !hooks.after_turn.empty();
  setup.hooks.model =
      !hooks.before_model.empty() || !hooks.pause_check.empty() || !agent->tool_sources.empty();
  setup.hooks.calls = !hooks.before_tool.empty() || !hooks.pause_check.empty() || approves ||
                      has_approval_predicate(agent->tools) || !agent->tool_sources.empty();
  if (model) {
    setup.model.max_output = model->capabilities().max_output;
    setup.model.price = [model](const Usage& usage) { return model->price(usage); };
    setup.model.options_may_change = !hooks.before_model.empty();
  }
  setup.bounded_above = origin.scope->budget != nullptr;
  setup.holds_queue = !origin.above && !services.options.begin_queued_turns;
  return setup;
}

std::vector<std::shared_ptr<const AgentDescription>> with_approver(
    const Origin& origin, const std::shared_ptr<const AgentDescription>& agent) {
  std::vector<std::shared_ptr<const AgentDescription>> approvers;
  if (origin.above) approvers = origin.above->approvers();
  if (!agent->hooks.approve.empty()) approvers.push_back(agent);
  return approvers;
}

/// Room for actions that the sessions use in turn which one thread runs: each its own would be most of what a
/// waiting session takes. A thread that ends may still run sessions afterwards, when it destroys what is
/// global or `thread_local`; then there is no spare room.
struct SpareActions {
  ~SpareActions();
  std::vector<driver::Actions> rooms;
};
thread_local bool spares_are_gone = false;
thread_local SpareActions spare_actions;

SpareActions::~SpareActions() { spares_are_gone = true; }

void borrow(driver::Actions& actions) {
  if (actions.capacity() != 0 || spares_are_gone || spare_actions.rooms.empty()) return;
  actions = std::move(spare_actions.rooms.back());
  spare_actions.rooms.pop_back();
}

void give_back(driver::Actions& actions) {
  constexpr std::size_t kMost = 4;  // a session may run within another, and each uses two
  driver::Actions room = std::exchange(actions, {});
  if (room.capacity() == 0 || spares_are_gone || spare_actions.rooms.size() >= kMost) return;
  spare_actions.rooms.push_back(std::move(room));
}

}  // namespace

SessionActor::SessionActor(std::shared_ptr<Services> services, std::shared_ptr<const AgentDescription> agent,
                           std::shared_ptr<Model> model, std::shared_ptr<const Planner> planner, Lease lease,
                           State state, Origin origin)
    : services_(std::move(services)),
      agent_(std::move(agent)),
      model_(std::move(model)),
      lease_(std::move(lease)),
      origin_(std::move(origin)),
      approvers_(with_approver(origin_, agent_)),
      driver_(setup_of(*services_, agent_, model_, std::move(planner), lease_, origin_, !approvers_.empty()),
              std::move(state)) {
  for (const auto& [pattern, handler] : agent_->handlers)
    agent_handlers_.push_back(observers_.add(pattern, handler));
  if (origin_.above) origin_.above->reach_down(1);
}

SessionActor::~SessionActor() {
  for (const auto& [token, timer] : timers_.all()) services_->options.executor->cancel(timer);
  Journal& journal = *services_->options.journal;
  if (auto birth = driver_.take_birth()) journal.append(*std::move(birth), [](const auto& /*last*/) {});
  journal.release(lease_);
}

// ---- the driver and its inputs

std::shared_ptr<SessionActor> SessionActor::handle_with(std::shared_ptr<Runtime> runtime) {
  struct Kept {
    std::shared_ptr<Runtime> runtime;
    std::shared_ptr<SessionActor> actor;  // goes first
  };
  keeps_runtime_ = true;
  const auto kept = std::make_shared<Kept>(Kept{std::move(runtime), shared_from_this()});
  return {kept, this};
}

void SessionActor::post(Task work) {
  // Keeps the actor and its strand alive until `run` returns, and the runtime until the work is done.
  auto keep = shared_from_this();
  auto runtime = keeps_runtime_ ? services_->runtime.lock() : nullptr;
  if (!services_->options.executor->wants_work()) return strand_.run(std::move(work));
  services_->options.executor->post(
      [keep = std::move(keep), runtime = std::move(runtime), work = std::move(work)]() mutable {
        keep->strand_.run(std::move(work));
      });
}

void SessionActor::post_from_loop(Task work) {
  services_->options.executor->post(
      [self = shared_from_this(), work = std::move(work)]() mutable { self->post(std::move(work)); });
}

/// Returns the state; reads it from the journal first when the driver was suspended.
const State& SessionActor::state() {
  if (driver_.has_state()) return driver_.state();
  driver_.restore(read_state(*services_->options.journal, id()), actions_);
  if (driver_.failure()) drain();  // otherwise `restore` adds no actions
  return driver_.state();
}

void SessionActor::feed(driver::Input&& input) {
  state();
  borrow(actions_);
  driver_.take(moment(), std::move(input), actions_);
  drain();
}

/// Carries out the actions of the driver in order, including those that the actions themselves cause.
void SessionActor::drain() {
  if (draining_) return;
  draining_ = true;
  borrow(performing_);
  while (!actions_.empty()) {
    performing_.swap(actions_);  // carrying them out may add actions
    for (driver::Action& action : performing_) std::visit([this](auto& each) { perform(each); }, action);
    performing_.clear();
    if (actions_.empty()) publish_status();  // observers may cause further actions
  }
  draining_ = false;
  if (keeps_runtime_) kept_runtime_ = driver_.works() ? services_->runtime.lock() : nullptr;
  give_back(actions_);
  give_back(performing_);
  if (!services_->options.suspend_when_waiting) return;
  driver_.suspend();
  if (driver_.has_state()) return;
  // A model session must outlive its calls. Without calls it is only a cache.
  if (!driver_.asks_model()) model_session_.reset();
}

driver::Moment SessionActor::moment() {
  driver::Moment now;
  now.wall = services_->options.environment->now();
  now.monotonic = services_->options.environment->monotonic();
  now.wanted = wanted();
  now.arrived = arrived_ ? arrived_->load(std::memory_order_relaxed) : 0;
  now.approver = services_->people.generation();
  now.grace = services_->options.cancel_grace + height_.load() * kGracePerLevel;
  now.closing = services_->closing;
  return now;
}

driver::Reader SessionActor::follow(std::shared_ptr<EventQueue> events) {
  const bool stays = events->stays();
  if (events->collects()) collecting_ = true;
  return {readers_.add(std::move(events)), stays};
}

driver::Token SessionActor::wait(Task done) {
  return waiters_.add([done = std::move(done)](const Result<std::uint64_t>&) mutable { done(); });
}

/// Denies the parked steps whose time is over. Returns true when there were any.
bool SessionActor::expire() {
  if (state().parked.empty()) return false;
  const std::uint64_t before = state().seq;
  feed(driver::ExpireParked{});
  return state().seq != before;
}

SessionStatus SessionActor::status() {
  return query([this](const State&) { return driver_.status(); });
}

// ---- requests of callers

Status SessionActor::submit(Inputs inputs) {
  const auto work = [this, &inputs](AppendDone done) {
    if (expire()) feed(driver::RecordsGiven{});
    auto bodies = inputs(state());
    if (driver_.failure()) return done(fail(*driver_.failure()));
    if (!bodies) return done(fail(bodies.error()));
    if (bodies->empty()) return done(driver_.durable());
    feed(driver::RecordsGiven{*std::move(bodies), wait(std::move(done))});
  };
  if (on_strand()) {
    Status refused;
    work([&refused](const Result<std::uint64_t>& done) {
      if (!done) refused = fail(done.error());
    });
    return refused;
  }
  std::promise<Status> durable;
  post([&] {
    work([&durable](const Result<std::uint64_t>& done) {
      durable.set_value(done ? Status{} : Status(fail(done.error())));
    });
  });
  return durable.get_future().get();
}

void SessionActor::begin(RecordBody created) {
  std::vector<RecordBody> records;
  records.push_back(std::move(created));
  post_input(driver::RecordsGiven{std::move(records)});
}

void SessionActor::start_turn(std::vector<Message> messages, std::shared_ptr<EventQueue> events,
                              Json output_schema) {
  auto possible = services_->accepts_work();
  if (possible) possible = check_output_schema(output_schema);
  if (possible && model_) possible = check_media(messages, *model_);
  if (!possible) return events->finish(fail(possible.error()));
  std::vector<MessagePtr> originals;
  std::vector<records::Decided> decided;
  for (Message& message : messages) {
    Outgoing said = outgoing(std::move(message));
    if (const Status allowed = said.allowed(); !allowed) {
      const Status noted = refuse_message(*std::move(said.decided));
      return events->finish(fail(noted ? allowed.error() : noted.error()));
    }
    message = std::move(said.message);
    originals.push_back(std::move(said.original));
    if (said.decided) decided.push_back(*std::move(said.decided));
  }
  AgentSpecPtr described = before_turn();
  post([this, described = std::move(described), messages = std::move(messages), events = std::move(events),
        output_schema = std::move(output_schema), originals = std::move(originals),
        decided = std::move(decided)]() mutable {
    feed(driver::TurnRequested{std::move(messages), std::move(output_schema), std::move(described),
                               follow(std::move(events)), std::move(originals), std::move(decided)});
  });
}

void SessionActor::resume(std::shared_ptr<EventQueue> events, Inputs inputs, bool may_be_over) {
  post([this, events = std::move(events), inputs = std::move(inputs), may_be_over]() mutable {
    const State& s = state();
    if (auto accepts = services_->accepts_work(); !accepts) return events->finish(fail(accepts.error()));
    const auto refused = driver_.refuses_resume();
    if (refused && may_be_over && !driver_.failure() && !s.turn && s.queue.empty() && s.last)
      return finish_over(std::move(events));
    if (refused) return events->finish(fail(*refused));
    const bool expired = expire();
    auto bodies = inputs(state());
    if (!bodies) {
      driver::RecordsGiven none;
      none.resumes = expired;
      feed(std::move(none));
      return events->finish(fail(bodies.error()));
    }
    feed(driver::ResumeRequested{follow(std::move(events)), *std::move(bodies)});
  });
}

/// The result of the last turn, as the hooks after it want callers to see it.
AgentResult SessionActor::last_reported() {
  AgentResult result = result_of(state());
  return reported_ && reported_->id == result.id ? *reported_ : result;
}

/// Finishes `events` with the result of a turn that is over, once that end is durable: a crash before could
/// undo it.
void SessionActor::finish_over(std::shared_ptr<EventQueue> events) {
  feed(driver::DurableAwaited{wait(AppendDone(
      [events = std::move(events), result = shown(last_reported())](const Result<std::uint64_t>& durable) {
        events->finish(durable ? Result<AgentResult>(result) : fail(durable.error()));
      }))});
}

void SessionActor::interrupt(std::shared_ptr<EventQueue> turn) {
  post([this, turn = std::move(turn)] {
    driver::InterruptRequested wanted;
    wanted.author = origin_.scope->principal;
    if (turn) {
      const auto found = std::ranges::find(readers_.all(), turn, [](const auto& r) { return r.second; });
      if (found == readers_.all().end()) return;
      wanted.reader = found->first;
    }
    feed(std::move(wanted));
  });
}

/// Records that a filter denies a message, which itself is not recorded.
Status SessionActor::refuse_message(records::Decided decided) {
  return submit([&](const State&) -> Result<std::vector<RecordBody>> {
    return std::vector<RecordBody>{std::move(decided)};
  });
}

void SessionActor::command(CommandVerb verb, std::string text) {
  Outgoing said;
  if (is_said(verb)) {
    said = outgoing(text_message(Role::kUser, std::move(text)));
    if (!said.allowed()) return (void)refuse_message(*std::move(said.decided));
    text = said.message.text();
  }
  Command command{verb, id(), std::move(text), origin_.scope->principal,
                  said.original ? said.original->text() : std::string()};
  post([this, command = std::move(command), decided = std::move(said.decided)] {
    driver::RecordsGiven given;
    given.records = command_records(state(), command);
    if (decided) given.records.insert(given.records.begin(), *decided);
    given.resumes = true;
    feed(std::move(given));
  });
}

void SessionActor::wind_down() { post_input(driver::WindDownRequested{}); }

void SessionActor::when_at_rest(Task done) {
  post([this, done = std::move(done)]() mutable { feed(driver::RestAwaited{wait(std::move(done))}); });
}

void SessionActor::when_settled(Task done) {
  post([this, done = std::move(done)]() mutable { feed(driver::TurnEndAwaited{wait(std::move(done))}); });
}

void SessionActor::retire() { post_input(driver::Retired{}); }

void SessionActor::abandon() { post_input(driver::Abandoned{}); }

void SessionActor::people_changed() { post_input(driver::ApproverChanged{}); }

}  // namespace praxis
