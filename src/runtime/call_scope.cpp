#include "runtime/call_scope.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/exhausted.hpp"
#include "base/worker_pool.hpp"
#include "domain/agent_message.hpp"
#include "logs/lineage.hpp"
#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/commands.hpp"
#include "runtime/live_child.hpp"

namespace praxis {
namespace {

constexpr std::uint32_t kMaxDepth =
    32;  // more than a sensible plan needs, and few enough to stop a runaway recursion early

/// The conversation up to the message whose calls are being carried out.
std::vector<MessagePtr> history_before_calls(const State& state) {
  std::vector<MessagePtr> messages = state.conversation.history().messages();
  if (!state.conversation.open_calls().empty()) messages.pop_back();
  return messages;
}

// ---- messages

/// What bounds the messages of a session in its present turn.
struct Sender {
  std::string path;
  std::uint32_t sent = 0;  ///< in this turn, without the call in progress
  std::uint32_t hop = 0;   ///< the highest of the messages that it got in this turn
};

Sender sender_of(const State& state, const CallId& call) {
  Sender sender{.path = state.path};
  if (!state.turn) return sender;
  const auto& actions = state.turn->report.actions;
  sender.sent =
      static_cast<std::uint32_t>(std::ranges::count(actions, kSendMessage, &ActionResult::tool) +
                                 std::ranges::count_if(state.turn->calls, [&](const CallState& each) {
                                   return each.call.name == kSendMessage &&
                                          each.phase == CallState::Phase::kRunning && each.call.id != call;
                                 }));
  const auto& messages = state.conversation.history().messages();
  const std::size_t begin = state.marks.empty() ? 0 : std::min(state.marks.back().messages, messages.size());
  for (std::size_t i = begin; i < messages.size(); ++i) {
    if (messages[i]->role == Role::kUser)
      sender.hop = std::max(sender.hop, hop_of_message(messages[i]->text()));
  }
  return sender;
}

bool is_named(const AgentNode& node, const std::string& name) {
  return node.id.str() == name || node.path == name || node.agent == name;
}

std::string paths_of(const std::vector<AgentNode>& nodes) {
  std::string paths;
  for (const AgentNode& node : nodes) paths.append(paths.empty() ? "" : ", ").append(node.path);
  return paths;
}

/// The agent of the tree that a model names. One that works is meant before one that has ended.
Result<AgentNode> receiver_of(std::vector<AgentNode> nodes, const SessionId& own, const std::string& name) {
  std::erase_if(
      nodes, [&](const AgentNode& node) { return node.id == own || node.status == SessionStatus::kDeleted; });
  std::vector<AgentNode> found;
  std::ranges::copy_if(nodes, std::back_inserter(found),
                       [&](const AgentNode& n) { return is_named(n, name); });
  if (found.size() > 1) std::erase_if(found, [](const AgentNode& node) { return node.step == 0; });
  if (found.size() == 1) return std::move(found.front());
  if (found.size() > 1) {
    std::string ids;
    for (const AgentNode& node : found) ids.append(ids.empty() ? "" : ", ").append(node.id.str());
    return fail(ErrorCode::kInput,
                "several agents are called \"" + name + "\"; name one by its session: " + ids);
  }
  return fail(ErrorCode::kInput, "no other agent of this tree that works is called \"" + name + "\"" +
                                     (nodes.empty() ? std::string() : "; there are " + paths_of(nodes)));
}

}  // namespace

Error out_of_memory() {
  return with_exhaustion(make_error(ErrorCode::kTool, "this process has no memory left"), ENOMEM);
}

LiveCall::LiveCall(std::shared_ptr<SessionActor> actor, CallId call, std::stop_token stop,
                   Scope::Deadline deadline)
    : actor_(std::move(actor)),
      call_(std::move(call)),
      stop_(std::move(stop)),
      deadline_(deadline),
      tools_(actor_->tools()) {}

void LiveCall::watch() {
  on_stop_.emplace(stop_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->interrupt_all();
  });
}

void LiveCall::interrupt_all() {
  std::vector<std::shared_ptr<LiveChild>> children;
  {
    const std::lock_guard lock(mutex_);
    children = children_;
  }
  for (const auto& child : children) child->stop_with(*actor_);
  actor_->stop_within(call_);
}

Status LiveCall::check_open() const {
  if (stop_.stop_requested()) return call_cancelled();
  return check_running();
}

Status LiveCall::check_running() const {
  const std::lock_guard lock(mutex_);
  if (!closed_) return {};
  return fail(ErrorCode::kInput, "call " + call_.str() + " is over; nothing more can be done on its behalf");
}

std::string LiveCall::key_of(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::string digest = digest_of(text).hex().substr(0, 32);
  return digest + "#" + std::to_string(++occurrences_[digest]);
}

std::shared_ptr<const AgentDescription> LiveCall::described(AgentSpec spec, std::vector<Tool> given) const {
  AgentDescription agent;
  if (spec.model.empty() && spec.plan.is_null()) spec.model = actor_->description()->spec.model;
  if (spec.model == actor_->description()->spec.model) agent.model = actor_->model();
  spec.tools.clear();
  for (Tool& tool : given) {
    spec.tools.push_back(spec_of(tool));
    if (auto added = agent.tools.add(std::move(tool)); !added && agent.status)
      agent.status = std::move(added);
  }
  agent.spec = std::move(spec);
  return std::make_shared<const AgentDescription>(std::move(agent));
}

std::unexpected<Error> LiveCall::failed(Error error) const {
  if (error.code == ErrorCode::kJournal || is_exhausted(error)) actor_->fault(error);
  return fail(std::move(error));
}

Result<std::shared_ptr<ChildSession>> LiveCall::spawn(AgentSpec spec, std::vector<Tool> given) {
  return spawn_own(std::move(spec), std::move(given));
}

Result<std::shared_ptr<LiveChild>> LiveCall::spawn_own(AgentSpec spec, std::vector<Tool> given) {
  const std::string identity = spec.id + '\n' + spec.instructions;
  return spawn(described(std::move(spec), std::move(given)), identity);
}

Result<std::shared_ptr<ChildSession>> LiveCall::clone(const std::string& purpose) {
  auto [spec, history] =
      actor_->query([](const State& s) { return std::pair(s.agent, history_before_calls(s)); });
  auto agent = std::make_shared<AgentDescription>(*actor_->description());
  agent->spec = *spec;
  agent->spec.bounds = nullptr;
  // The plan has already come as far as this call. A copy that started it again would reach the same call
  // again.
  if (!agent->spec.model.empty()) {
    agent->spec.plan = nullptr;
    agent->planner.reset();
    agent->reflector.reset();
  }
  agent->model = actor_->model();
  return spawn(std::move(agent), "clone\n" + purpose, std::move(history));
}

Result<std::shared_ptr<LiveChild>> LiveCall::spawn(std::shared_ptr<const AgentDescription> agent,
                                                   const std::string& identity,
                                                   std::vector<MessagePtr> history) {
  return guarded([&] { return make_child(std::move(agent), identity, std::move(history)); });
}

Result<std::shared_ptr<LiveChild>> LiveCall::make_child(std::shared_ptr<const AgentDescription> agent,
                                                        const std::string& identity,
                                                        std::vector<MessagePtr> history) {
  if (auto open = check_open(); !open) return fail(open.error());
  const std::string key = key_of(identity);
  auto child = actor_->claim_child(call_, agent->spec.id, key);
  if (!child) return failed(child.error());
  if (child->depth > kMaxDepth)
    return fail(ErrorCode::kInput, "sub-agents are " + std::to_string(kMaxDepth) + " levels deep already");
  const auto& services = actor_->services();
  auto scope = actor_->scope_of_call(call_, {.cancellation = stop_, .deadline = deadline_});
  if (!scope) return failed(scope.error());
  Origin origin{actor_, call_, std::make_shared<const Scope>(*std::move(scope))};
  // A session without records was created by a process that died before it wrote the first one.
  const auto row = services->options.journal->session(child->id);
  if (!row && row.error().kind() != ErrorKind::kNotFound) return failed(row.error());
  const bool exists = row && row->entries != 0;
  auto made =
      exists ? open_session(services, child->id, agent, Opening::kAny, std::move(origin))
             : create_session(services, agent, {child->id, nullptr, std::move(history)}, std::move(origin));
  if (!made) return failed(made.error());
  auto live = std::make_shared<LiveChild>(*std::move(made));
  {
    const std::lock_guard lock(mutex_);
    children_.push_back(live);
  }
  // A request to stop that came in between has not reached this sub-agent.
  if (stop_.stop_requested()) live->stop_with(*actor_);
  return live;
}

Result<SessionId> LiveCall::detach(AgentSpec spec, std::vector<Tool> given, std::string prompt) {
  if (auto open = check_open(); !open) return fail(open.error());
  const JsonObject metadata{{"started_by", actor_->id().str()}};
  auto made = create_session(actor_->services(), described(std::move(spec), std::move(given)),
                             {{}, metadata, {}}, {});
  if (!made) return failed(made.error());
  std::vector<Message> messages;
  messages.push_back(text_message(Role::kUser, std::move(prompt)));
  // The reader of the turn keeps the session active until the turn is over.
  (*made)->start_turn(std::move(messages),
                      std::make_shared<EventQueue>([keep = *made](const Result<AgentResult>&) {}));
  return (*made)->id();
}

Result<ToolOutput> LiveCall::call(std::string tool, std::string arguments) {
  struct Waiting {
    std::mutex mutex;
    bool answered = false;
    std::promise<Result<ToolOutput>> promise;
    void answer(Result<ToolOutput> output) {
      const std::lock_guard lock(mutex);
      if (!std::exchange(answered, true)) promise.set_value(std::move(output));
    }
  };
  const auto waiting = std::make_shared<Waiting>();
  std::vector<InnerCall> calls;
  calls.push_back({std::move(tool), std::move(arguments)});
  call_all(std::move(calls),
           [waiting](std::size_t, Result<ToolOutput> output) { waiting->answer(std::move(output)); });
  const std::stop_callback stopped(stop_, [waiting] { waiting->answer(call_cancelled()); });
  const WaitForTasks wait;
  return waiting->promise.get_future().get();
}

void LiveCall::call_all(std::vector<InnerCall> calls, InnerCallDone done) {
  const auto propose = [&](std::size_t index) -> Status {
    if (auto open = check_open(); !open) return open;
    InnerCall& asked = calls[index];
    std::string key = key_of(asked.tool + '\n' + asked.arguments);
    ToolCallPart part;
    part.name = std::move(asked.tool);
    part.arguments = std::move(asked.arguments);
    actor_->propose_within(call_, std::move(part), std::move(key),
                           [done, index](Result<ToolOutput> output) { done(index, std::move(output)); });
    return {};
  };
  // One task on the strand: the session cannot become idle before the last of the calls is proposed.
  actor_->query([&](const State&) {
    for (std::size_t index = 0; index < calls.size(); ++index) {
      if (auto proposed = propose(index); !proposed) done(index, fail(std::move(proposed.error())));
    }
    return true;
  });
}

const std::vector<Tool>& LiveCall::tools() const { return tools_->tools(); }

void LiveCall::progress(std::string text, std::optional<double> fraction) {
  if (check_open()) actor_->report_progress(call_, repair_utf8(text), fraction);
}

Status LiveCall::read_memory(std::string_view store,
                             const std::function<void(const MemoryStore&)>& read) const {
  if (auto running = check_running(); !running) return running;  // a call that was stopped may still read
  return actor_->query([&](const State& state) -> Status {
    if (!state.agent) return fail(ErrorCode::kJournal, "the log of the session cannot be read");
    read(state.memory.store(store));
    return {};
  });
}

bool LiveCall::continue_after(const std::vector<SubAgent>& agents) {
  if (!may_continue_) return false;
  awaited_ = agents;
  return true;
}

bool LiveCall::continue_with(std::move_only_function<void(Reports)> done) {
  struct Pending {
    std::mutex mutex;
    std::size_t open;
    Reports reports;
    std::move_only_function<void(Reports)> done;
  };
  if (!awaited_) return false;
  std::vector<SubAgent> agents = *std::exchange(awaited_, std::nullopt);
  const auto pending = std::make_shared<Pending>();
  pending->open = agents.size() + 1;  // one for this function, in case there are no agents
  pending->reports.resize(agents.size());
  pending->done = std::move(done);
  const auto ended = [pending](std::size_t index, Result<AgentResult> report) {
    std::unique_lock lock(pending->mutex);
    if (index < pending->reports.size()) pending->reports[index] = std::move(report);
    if (--pending->open != 0) return;
    lock.unlock();
    pending->done(std::move(pending->reports));
  };
  for (std::size_t index = 0; index < agents.size(); ++index)
    agents[index].on_end([ended, index](Result<AgentResult> report) { ended(index, std::move(report)); });
  ended(agents.size(), {});
  return true;
}

void LiveCall::close() {
  std::vector<std::shared_ptr<LiveChild>> children;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    children = std::exchange(children_, {});
  }
  on_stop_.reset();
  for (const auto& child : children) child->stop_with(*actor_);
  for (const auto& child : children) child->close();
}

// ---- messages

Result<std::string> LiveCall::send_message(const std::string& agent, const std::string& text,
                                           const MessageBounds& bounds) {
  return guarded([&]() -> Result<std::string> {
    if (auto open = check_open(); !open) return fail(open.error());
    const Sender sender = actor_->query([&](const State& state) { return sender_of(state, call_); });
    if (sender.sent >= bounds.per_turn)
      return fail(ErrorCode::kLimit, "this turn has sent " + std::to_string(sender.sent) +
                                         " messages already, which is all that the agent file allows");
    if (sender.hop >= bounds.hops)
      return fail(ErrorCode::kLimit, "messages have led to messages " + std::to_string(sender.hop) +
                                         " times already; do not answer by a message");
    const auto& services = actor_->services();
    const auto above = lineage(*services->options.journal, actor_->id());
    if (!above) return failed(above.error());
    JournalTree tree(services->options.journal, {.root = above->back()});
    if (auto read = tree.refresh(); !read) return failed(read.error());
    const auto receiver = receiver_of(tree.nodes(), actor_->id(), agent);
    if (!receiver) return fail(receiver.error());
    auto sent = carry_out(services, Commands{Command{CommandVerb::kSteer, receiver->id,
                                                     agent_message(sender.path, sender.hop + 1, text),
                                                     Author{"agent " + sender.path, Surface::kRuntime}}});
    if (!sent) return fail(std::move(sent.error()));
    return "Sent to " + receiver->path +
           (receiver->step == 0 ? ", which has nothing to do now: it reads the message when it works again."
                                : ", which reads it before its next step.");
  });
}

}  // namespace praxis
