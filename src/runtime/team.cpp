#include "praxis/runtime/team.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/runtime/runtime.hpp"
#include "runtime/observers.hpp"

namespace praxis {
namespace {

constexpr int kMaxHandoffs = 8;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : lower_case(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

Json choice_schema(const std::vector<Agent>& agents) {
  JsonArray ids;
  for (const Agent& agent : agents) ids.emplace_back(agent.spec().id);
  return JsonObject{{"type", "object"},
                    {"properties", JsonObject{{"agent", JsonObject{{"type", "string"}, {"enum", ids}}}}},
                    {"required", JsonArray{"agent"}},
                    {"additionalProperties", false}};
}

std::string choice_prompt(const Routing& routing) {
  std::string prompt = "Choose the agent that should answer the message.\nAgents:\n";
  for (const Agent& agent : routing.agents) {
    prompt += "- " + agent.spec().id + ": " +
              (agent.spec().name.empty() ? agent.spec().instructions : agent.spec().name) + "\n";
  }
  return prompt + "Message:\n" + routing.text;
}

}  // namespace

Strategy route_by_role(std::map<std::string, std::string> agents) {
  return [agents = std::move(agents)](const Routing& routing) -> Result<std::vector<std::string>> {
    for (const std::string& word : words_of(routing.text)) {
      if (const auto found = agents.find(word); found != agents.end()) return std::vector{found->second};
    }
    return std::vector{routing.current};
  };
}

Strategy route_by_supervisor(Agent supervisor) {
  supervisor.runtime(nullptr);  // that of the team
  return [supervisor = std::move(supervisor)](const Routing& routing) -> Result<std::vector<std::string>> {
    auto session = routing.runtime.create_session(supervisor);
    if (!session) return fail(session.error());
    auto choice = structured_of(session->ask(choice_prompt(routing), {}, choice_schema(routing.agents)));
    if (!choice) return fail(choice.error());
    return std::vector{json_string(*choice, "agent")};
  };
}

Strategy route_chain(std::vector<std::string> ids) {
  return [ids = std::move(ids)](const Routing&) -> Result<std::vector<std::string>> { return ids; };
}

struct Team::Parts {
  explicit Parts(Runtime& home) : runtime(home) {}

  Runtime& runtime;
  std::shared_ptr<Runtime> kept;  ///< the same; empty when it is the runtime that has the team
  Observers observers;

  std::mutex sending;  ///< held while a message is answered
  mutable std::mutex mutex;
  std::vector<Agent> agents;
  std::string current;
  Strategy strategy;
  std::optional<std::string> handed_to;
  std::optional<Session> session;
  std::string seated;  ///< id of the agent that the session runs with
  std::vector<std::shared_ptr<void>> subscriptions;

  const Agent* find(const std::string& id) const {
    const auto found = std::ranges::find(agents, id, [](const Agent& a) { return a.spec().id; });
    return found == agents.end() ? nullptr : &*found;
  }

  Result<Agent> known(const std::string& id) const {
    const std::lock_guard lock(mutex);
    if (const Agent* agent = find(id)) return *agent;
    std::string have;
    for (const Agent& agent : agents) have += (have.empty() ? "" : ", ") + agent.spec().id;
    return fail(ErrorCode::kInput, "there is no agent \"" + id + "\"; there are: " + have);
  }

  Result<Session> seat(const Agent& agent);
  Result<AgentResult> answer(const std::string& id, const std::string& text, std::stop_token stop);
  Result<std::vector<std::string>> route(const std::string& text);
};

/// The session, run by `agent` from here on.
Result<Session> Team::Parts::seat(const Agent& agent) {
  if (session && seated == agent.spec().id) return *session;
  std::optional<SessionId> id;
  if (session) {
    id = session->session_id();
    subscriptions.clear();
    if (auto closed = session->close(); !closed) return fail(closed.error());
  }
  auto seated_now = id ? runtime.open_session(*id, agent) : runtime.create_session(agent);
  if (!seated_now) return fail(seated_now.error());
  const std::lock_guard lock(mutex);
  subscriptions.push_back(seated_now->on("*", [this](const Event& event) { observers.publish(event); }));
  session = *seated_now;
  seated = agent.spec().id;
  return *session;
}

Result<AgentResult> Team::Parts::answer(const std::string& id, const std::string& text,
                                        std::stop_token stop) {
  auto agent = known(id);
  if (!agent) return fail(agent.error());
  auto seated_session = seat(*agent);
  if (!seated_session) return fail(seated_session.error());
  return seated_session->ask(text, stop);
}

Result<std::vector<std::string>> Team::Parts::route(const std::string& text) {
  Strategy chosen;
  std::vector<Agent> all;
  std::string now;
  History said;
  {
    const std::lock_guard lock(mutex);
    chosen = strategy;
    all = agents;
    now = current;
    if (session) said = session->history();
  }
  if (!chosen) return std::vector{now};
  auto ids = chosen({text, said, all, now, runtime});
  if (ids && ids->empty()) return fail(ErrorCode::kInput, "the strategy names no agent for this message");
  return ids;
}

Team::Team(Runtime& runtime) : parts_(std::make_shared<Parts>(runtime)) {}
Team::Team(std::vector<Agent> agents, std::shared_ptr<Runtime> runtime)
    : Team(runtime ? *runtime : *default_runtime()) {
  parts_->kept = parts_->runtime.shared_from_this();
  for (Agent& agent : agents) register_agent(std::move(agent));
}
Team::~Team() = default;
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;

void Team::register_agent(Agent agent) {
  agent.runtime(nullptr);  // it may be the one that has this team, which would keep itself alive
  const std::lock_guard lock(parts_->mutex);
  const std::string id = agent.spec().id;
  const auto known = std::ranges::find(parts_->agents, id, [](const Agent& a) { return a.spec().id; });
  if (known == parts_->agents.end()) {
    parts_->agents.push_back(std::move(agent));
  } else {
    *known = std::move(agent);
    if (parts_->seated == id) parts_->seated.clear();  // from the next message on as it is now
  }
  if (parts_->current.empty()) parts_->current = id;
}

void Team::set_agent(const Agent& agent) {
  register_agent(agent);
  const std::lock_guard lock(parts_->mutex);
  parts_->current = agent.spec().id;
}

Status Team::set_agent_by_id(const std::string& id) {
  if (auto agent = parts_->known(id); !agent) return fail(agent.error());
  const std::lock_guard lock(parts_->mutex);
  parts_->current = id;
  return {};
}

Agent Team::current_agent() const {
  const std::lock_guard lock(parts_->mutex);
  const Agent* agent = parts_->find(parts_->current);
  return (agent == nullptr ? Agent() : Agent(*agent)).runtime(parts_->runtime.shared_from_this());
}

void Team::route_message(Strategy strategy) {
  const std::lock_guard lock(parts_->mutex);
  parts_->strategy = std::move(strategy);
}

Result<AgentResult> Team::send(std::string text, std::stop_token stop) {
  const std::lock_guard one_at_a_time(parts_->sending);
  auto ids = parts_->route(text);
  if (!ids) return fail(ids.error());
  Result<AgentResult> result = fail(ErrorCode::kInternal, "nobody was asked");
  for (std::size_t i = 0; i < ids->size(); ++i) {
    result = parts_->answer((*ids)[i], i == 0 ? text : "Carry on from the answer above.", stop);
    if (!result || !result->success) return result;
  }
  for (int handoffs = 0; handoffs < kMaxHandoffs; ++handoffs) {
    std::optional<std::string> next;
    {
      const std::lock_guard lock(parts_->mutex);
      next = std::exchange(parts_->handed_to, std::nullopt);
      if (next) parts_->current = *next;
    }
    if (!next) return result;
    result = parts_->answer(*next, "The conversation was handed over to you. Carry on.", stop);
    if (!result || !result->success) return result;
  }
  return fail(ErrorCode::kLimit, "the conversation was handed over " + std::to_string(kMaxHandoffs) +
                                     " times without an answer");
}

Status Team::inject(std::string text) {
  const std::lock_guard one_at_a_time(parts_->sending);
  auto session = parts_->seat(current_agent());
  if (!session) return fail(session.error());
  return session->add_user_turn(std::move(text));
}

std::vector<Tool> Team::handoff_tools(const std::string& from) const {
  std::vector<Tool> tools;
  const std::lock_guard lock(parts_->mutex);
  for (const Agent& agent : parts_->agents) {
    const std::string id = agent.spec().id;
    if (id == from) continue;
    Tool tool;
    tool.definition.name = "hand_over_to_" + id;
    tool.definition.description = "Hand the conversation over to the agent \"" + id + "\"" +
                                  (agent.spec().name.empty() ? "" : " (" + agent.spec().name + ")") +
                                  ". It answers instead of you as soon as you end your turn.";
    tool.definition.parameters = JsonObject{{"type", "object"}, {"properties", JsonObject{}}};
    tool.definition.safe_by_default = true;
    tool.definition.idempotent = true;
    // A tool must not keep alive the team whose agent has it.
    tool.handler = [weak = std::weak_ptr(parts_), id](ToolContext&, const Json&) -> Result<ToolOutput> {
      const auto parts = weak.lock();
      if (!parts) return fail(ErrorCode::kTool, "the team is gone");
      const std::lock_guard guard(parts->mutex);
      parts->handed_to = id;
      return ToolOutput{"Handed over to " + id + ". End your turn now.", nullptr, {}, {}};
    };
    tools.push_back(std::move(tool));
  }
  return tools;
}

SessionId Team::session_id() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->session ? parts_->session->session_id() : SessionId{};
}

History Team::history() const {
  std::optional<Session> session;
  {
    const std::lock_guard lock(parts_->mutex);
    session = parts_->session;
  }
  return session ? session->history() : History{};
}

std::shared_ptr<void> Team::on(std::string pattern, EventHandler handler) {
  return parts_->observers.add(std::move(pattern), std::move(handler));
}

}  // namespace praxis
