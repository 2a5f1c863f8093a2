#include "praxis/runtime/runtime.hpp"

#include <cstdlib>
#include <future>

#include "praxis/planners/make_planner.hpp"
#include "praxis/runtime/runs.hpp"
#include "runtime/asked.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

/// What a session needs beside the description itself.
struct Equipment {
  std::unique_ptr<Planner> planner;
  std::shared_ptr<Model> model;  ///< null for an agent that only follows a plan
  AgentSpecPtr spec;             ///< the description with what is known of the model
};

ModelProfile profile_of(const Model& model) {
  constexpr std::int64_t kTokens = 10'000;  // few enough for the price of short requests
  const auto price_of_million = [&](std::int64_t cached) {
    Usage usage;
    usage.input = kTokens;
    usage.cache_read = cached;
    return MicroUsd{model.price(usage).value * (1'000'000 / kTokens)};
  };
  const ModelCapabilities capabilities = model.capabilities();
  return {capabilities.context_window, capabilities.compaction, price_of_million(0),
          price_of_million(kTokens)};
}

AgentSpecPtr with_profile(AgentSpecPtr spec, const Model* model) {
  const ModelProfile profile = model != nullptr ? profile_of(*model) : ModelProfile{};
  if (spec->profile == profile) return spec;
  auto profiled = std::make_shared<AgentSpec>(*spec);
  profiled->profile = profile;
  return profiled;
}

AgentSpecPtr with_metadata(const AgentSpecPtr& spec, Json metadata) {
  auto changed = std::make_shared<AgentSpec>(*spec);
  changed->metadata = std::move(metadata);
  return changed;
}

Result<Equipment> equip(Services& services, const std::shared_ptr<const AgentDescription>& description) {
  if (!description->status) return fail(description->status.error());
  const AgentSpec& spec = description->spec;
  if (spec.plan.is_null() && spec.model.empty()) {
    return fail(ErrorCode::kInput, "agent \"" + spec.id + "\" has neither a model nor a plan");
  }
  if (auto usable = check_output_schema(spec.options.output_schema); !usable) return fail(usable.error());
  auto planner = make_planner(spec);
  if (!planner) return fail(planner.error());
  auto model = services.model_for(*description);
  if (!model) return fail(model.error());
  AgentSpecPtr profiled = with_profile(AgentSpecPtr(description, &spec), model->get());
  return Equipment{*std::move(planner), *std::move(model), std::move(profiled)};
}

}  // namespace

ModelServices Services::model_services() const {
  return {.http = options.http,
          .executor = options.executor,
          .env = environment_variable,
          .catalog = options.catalog,
          .record_to = options.record_to};
}

Result<std::shared_ptr<Model>> Services::model_for(const AgentDescription& agent) {
  if (agent.model) return agent.model;
  if (agent.spec.model.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Model>& known = models_[agent.spec.model];
  if (auto model = known.lock()) return model;
  auto made = make_model(agent.spec.model, model_services());
  if (made) known = *made;
  return made;
}

struct Runtime::Parts {
  std::shared_ptr<Services> services = std::make_shared<Services>();
  std::mutex mutex;
  std::map<SessionId, std::weak_ptr<SessionActor>> sessions;

  std::vector<std::shared_ptr<SessionActor>> live() {
    std::vector<std::shared_ptr<SessionActor>> actors;
    const std::lock_guard lock(mutex);
    std::erase_if(sessions, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [id, weak] : sessions) {
      if (auto actor = weak.lock()) actors.push_back(std::move(actor));
    }
    return actors;
  }

  void remember(const std::shared_ptr<SessionActor>& actor) {
    const std::lock_guard lock(mutex);
    sessions[actor->id()] = actor;
  }

  std::shared_ptr<SessionActor> find(const SessionId& id) {
    const std::lock_guard lock(mutex);
    const auto found = sessions.find(id);
    auto actor = found == sessions.end() ? nullptr : found->second.lock();
    return actor && actor->usable() ? actor : nullptr;
  }
};

Runtime::Runtime(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

std::shared_ptr<Runtime> Runtime::create(RuntimeOptions options) {
  if (!options.journal) options.journal = memory_journal();
  if (!options.environment) options.environment = system_environment();
  if (!options.executor) options.executor = make_executor();
  if (!options.http) options.http = make_http_client();
  auto parts = std::make_unique<Parts>();
  parts->services->options = std::move(options);
  return std::shared_ptr<Runtime>(new Runtime(std::move(parts)));
}

Runtime::~Runtime() {
  for (const auto& actor : parts_->live()) actor->abandon();
}

Result<Session> Runtime::create_session(const Agent& agent, Json metadata) {
  const std::shared_ptr<const AgentDescription>& description = agent.description();
  auto equipment = equip(*parts_->services, description);
  if (!equipment) return fail(equipment.error());

  const RuntimeOptions& options = parts_->services->options;
  SessionCreated created;
  created.session = SessionId{options.environment->new_id()};
  created.seed = options.environment->random();
  created.agent = metadata.is_null() ? equipment->spec : with_metadata(equipment->spec, std::move(metadata));
  auto lease = options.journal->create(created.session, options.environment->now());
  if (!lease) return fail(lease.error());

  State fresh;
  fresh.id = created.session;
  auto actor =
      std::make_shared<SessionActor>(parts_->services, description, std::move(equipment->model),
                                     std::move(equipment->planner), *std::move(lease), std::move(fresh));
  parts_->remember(actor);
  auto durable = actor->submit([&](const State&) -> Result<std::vector<RecordBody>> {
    return std::vector<RecordBody>{std::move(created)};
  });
  if (!durable) return fail(durable.error());
  return Session(std::move(actor));
}

Result<Session> Runtime::open_session(const SessionId& session, const Agent& agent, bool force) {
  if (auto live = parts_->find(session)) return Session(std::move(live));
  const std::shared_ptr<const AgentDescription>& description = agent.description();
  auto equipment = equip(*parts_->services, description);
  if (!equipment) return fail(equipment.error());

  Journal& journal = *parts_->services->options.journal;
  auto lease = journal.acquire(session, force);
  if (!lease) return fail(lease.error());
  auto records = read_records(journal, session);
  auto state = records ? fold(*records) : Result<State>(fail(records.error()));
  if (!state) {
    journal.release(*lease);
    return fail(state.error());
  }
  AgentSpecPtr spec = equipment->spec;
  if (spec->metadata.is_null() && !state->agent->metadata.is_null()) {
    spec = with_metadata(spec, state->agent->metadata);
  }
  const bool changed = to_canonical_json(to_json(*state->agent)) != to_canonical_json(to_json(*spec));
  auto actor =
      std::make_shared<SessionActor>(parts_->services, description, std::move(equipment->model),
                                     std::move(equipment->planner), *std::move(lease), *std::move(state));
  parts_->remember(actor);
  if (changed) {
    auto durable = actor->submit([&](const State&) -> Result<std::vector<RecordBody>> {
      return std::vector<RecordBody>{Intervened{Intervention::kSetAgent, {}, std::move(spec)}};
    });
    if (!durable) return fail(durable.error());
  }
  return Session(std::move(actor));
}

Result<AgentResult> Runtime::run_once(const Agent& agent, std::string prompt, std::stop_token stop) {
  auto session = create_session(agent);
  if (!session) return fail(session.error());
  return session->ask(std::move(prompt), stop);
}

void Runtime::stop(std::chrono::milliseconds grace) {
  const auto until = std::chrono::steady_clock::now() + grace;
  std::vector<std::future<void>> settled;
  for (const auto& actor : parts_->live()) {
    auto at_rest = std::make_shared<std::promise<void>>();
    settled.push_back(at_rest->get_future());
    actor->wind_down();
    actor->when_at_rest([at_rest] { at_rest->set_value(); });
  }
  for (const auto& rest : settled) rest.wait_until(until);
}

std::shared_ptr<void> Runtime::on(std::string pattern, EventHandler handler) {
  return parts_->services->observers.add(std::move(pattern), std::move(handler));
}

void Runtime::emit(std::string name, Json payload) {
  Event event;
  event.time = parts_->services->options.environment->now();
  event.body = CustomEvent{std::move(name), std::move(payload)};
  parts_->services->observers.publish(event);
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
