#include "praxis/runtime/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>

#include "driver/command_records.hpp"
#include "praxis/net/http_client.hpp"
#include "runtime/own_runtime.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {

/// Null in a program without the component `http`.
[[gnu::weak]] std::shared_ptr<HttpClient> make_http_client(HttpClientOptions options,
                                                           std::shared_ptr<Executor> executor);

namespace {

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

/// A session as the program gets it. The runtime of an agent may have no other owner than the handles on what
/// the agent does.
Session handle_on(const std::shared_ptr<SessionActor>& actor, const std::shared_ptr<OwnRuntime>& of_agent,
                  Runtime& runtime) {
  if (!of_agent || !of_agent->is(runtime)) return Session(actor);
  return Session(actor->handle_with(runtime.shared_from_this()));
}

}  // namespace

Status Services::accepts_work() const {
  if (!stopped) return {};
  return fail(ErrorCode::kCancelled, "the runtime was stopped; it takes no more work");
}

ModelServices Services::model_services() const {
  return {.http = options.http,
          .executor = options.executor,
          .env = environment_variable,
          .catalog = options.catalog,
          .record_to = options.record_to,
          .providers = std::make_shared<const ModelProviders>(options.providers),
          .environment = options.environment,
          .network = options.network};
}

Result<std::shared_ptr<Model>> Services::model_for(const AgentDescription& agent) {
  if (agent.model) return agent.model;
  if (agent.spec.model.empty()) return nullptr;
  const AgentSpec& spec = agent.spec;
  const std::string key = spec.model + '\n' + to_json_text(to_json(spec.route));
  const std::lock_guard lock(mutex_);
  if (const auto known = models_.find(key); known != models_.end()) return known->second;
  auto made = make_model(spec.model, model_services(), spec.route);
  if (made) models_.emplace(key, *made);
  return made;
}

struct Runtime::Parts {
  std::shared_ptr<Services> services = std::make_shared<Services>();
  std::unique_ptr<Team> team;
};

Runtime::Runtime(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  parts_->team.reset(new Team(*this));
}

std::shared_ptr<Runtime> Runtime::create(RuntimeOptions options) {
  if (!options.journal) options.journal = memory_journal();
  if (!options.environment) options.environment = system_environment();
  if (!options.executor) options.executor = make_executor();
  if (!options.http && make_http_client != nullptr) options.http = make_http_client({}, options.executor);
  auto parts = std::make_unique<Parts>();
  parts->services->root_scope = std::make_shared<const Scope>(Scope{.principal = options.principal});
  parts->services->options = std::move(options);
  parts->services->inbox_watcher = std::make_shared<InboxWatcher>(parts->services);
  std::shared_ptr<Runtime> runtime(new Runtime(std::move(parts)));
  runtime->parts_->services->runtime = runtime;
  return runtime;
}

// What is run here on behalf of a session fails by its result; handlers that throw are caught where they are
// called.
Runtime::~Runtime() {  // NOLINT(bugprone-exception-escape)
  // Set before the first session is abandoned: otherwise its parent would record that end as the result of a
  // call.
  parts_->services->closing = true;
  for (const auto& actor : parts_->services->live.all()) actor->abandon();
}

Result<Session> Runtime::create_session(const Agent& agent, Json metadata, TraceContext caller) {
  Birth birth{.metadata = std::move(metadata), .caller = caller};
  auto actor = praxis::create_session(parts_->services, agent.description(), std::move(birth), {});
  if (!actor) return fail(actor.error());
  return handle_on(*actor, agent.runtime_, *this);
}

Result<Session> Runtime::create_session(const Agent& agent, Conversation start, TraceContext caller) {
  auto birth = birth_of(*parts_->services, std::move(start));
  if (!birth) return fail(birth.error());
  birth->caller = caller;
  auto actor = praxis::create_session(parts_->services, agent.description(), *std::move(birth), {});
  if (!actor) return fail(actor.error());
  return handle_on(*actor, agent.runtime_, *this);
}

Result<Session> Runtime::open_session(const SessionId& session, const Agent& agent, bool force) {
  const Opening opening = force ? Opening::kByForce : Opening::kAny;
  auto actor = praxis::open_session(parts_->services, session, agent.description(), opening, {});
  if (!actor) return fail(actor.error());
  return handle_on(*actor, agent.runtime_, *this);
}

Result<Session> Runtime::open_unfinished(const SessionId& session, const Agent& agent) {
  auto actor = praxis::open_session(parts_->services, session, agent.description(), Opening::kUnfinished, {});
  if (!actor) return fail(actor.error());
  return handle_on(*actor, agent.runtime_, *this);
}

Result<AgentResult> Runtime::run_once(const Agent& agent, std::string prompt, std::stop_token stop) {
  auto session = create_session(agent);
  if (!session) return fail(session.error());
  return session->ask(std::move(prompt), stop);
}

void Runtime::stop(std::chrono::milliseconds grace) {
  parts_->services->stopped = true;
  const auto until = std::chrono::steady_clock::now() + grace;
  std::vector<std::future<void>> settled;
  for (const auto& actor : parts_->services->live.all()) {
    auto at_rest = std::make_shared<std::promise<void>>();
    settled.push_back(at_rest->get_future());
    actor->wind_down();
    actor->when_at_rest([at_rest] { at_rest->set_value(); });
  }
  for (const auto& rest : settled) rest.wait_until(until);
}

RuntimeHealth Runtime::health() const {
  RuntimeHealth health;
  health.accepts_work = !parts_->services->stopped;
  if (const auto rows = journal().sessions(1); !rows) health.journal = fail(rows.error());
  const std::set<SessionId> asleep = parts_->services->tree.asleep();
  for (const AgentNode& node : agent_tree()) {
    ++health.sessions;
    const bool has_turn = node.status == SessionStatus::kRunning || node.status == SessionStatus::kModified;
    if (has_turn && !asleep.contains(node.id)) ++health.running;
    if (node.status == SessionStatus::kAwaitingUser) ++health.waiting;
  }
  return health;
}

std::vector<AgentNode> Runtime::agent_tree() const { return parts_->services->tree.snapshot(); }

Result<AgentState> Runtime::agent_state(const SessionId& session) const {
  const Services& services = *parts_->services;
  const auto actor = parts_->services->live.find_soon(session);
  if (!actor) return praxis::agent_state(services.options.journal, session);
  History history = actor->query([](const State& s) { return s.conversation.history(); });
  auto nodes = services.tree.snapshot();
  const auto node = std::ranges::find(nodes, session, &AgentNode::id);
  if (node == nodes.end()) return praxis::agent_state(services.options.journal, session);
  return AgentState{std::move(*node), std::move(history)};
}

Status Runtime::command(Commands commands) { return carry_out(parts_->services, std::move(commands)); }

Team& Runtime::team() { return *parts_->team; }

Subscription Runtime::on(std::string pattern, EventHandler handler) {
  return Subscription(parts_->services->observers.add(std::move(pattern), std::move(handler)));
}

void Runtime::set_approval_handler(ApprovalHandler handler) {
  parts_->services->people.set(std::move(handler));
  for (const auto& actor : parts_->services->live.all()) actor->people_changed();
}

void Runtime::set_query_user_handler(QueryUserHandler handler) {
  set_approval_handler(answers_questions(std::move(handler)));
}

Status Runtime::emit(std::string name, Json payload) {
  if (auto own = check_event_name(name); !own) return own;
  Event event;
  event.time = parts_->services->options.environment->now();
  event.body = events::Custom{std::move(name), std::move(payload)};
  parts_->services->observers.publish(event);
  const auto shared = std::make_shared<const Event>(std::move(event));
  for (const auto& actor : parts_->services->live.all()) actor->hear_host(shared);
  return {};
}

Journal& Runtime::journal() const { return *parts_->services->options.journal; }
Environment& Runtime::environment() const { return *parts_->services->options.environment; }
const std::shared_ptr<HttpClient>& Runtime::http() const { return parts_->services->options.http; }
ModelServices Runtime::model_services() const { return parts_->services->model_services(); }

std::shared_ptr<Runtime> default_runtime() {
  static const std::shared_ptr<Runtime> kRuntime = Runtime::create();
  return kRuntime;
}

}  // namespace praxis
