#include "protocols/acp_conversation.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "app/provider_status.hpp"
#include "app/run_agent.hpp"
#include "app/run_list.hpp"
#include "logs/read_state.hpp"
#include "praxis/base/time.hpp"
#include "praxis/core/state.hpp"

namespace praxis::protocols {
namespace {

constexpr const char* kDefaultAgent = "default";
constexpr std::size_t kMostModels = 200;
constexpr std::size_t kPage = 50;

std::string mode_of(const AcpChoice& choice) { return choice.agent.empty() ? kDefaultAgent : choice.agent; }

std::vector<std::string> modes_of(const AcpFolder& folder, const AcpChoice& choice) {
  std::vector<std::string> names = app::agent_names(folder.workspace);
  names.insert(names.begin(), kDefaultAgent);
  if (std::ranges::find(names, mode_of(choice)) == names.end()) names.push_back(mode_of(choice));
  return names;
}

/// The models of providers that are set up, with the present one.
std::vector<std::string> models_of(const AcpFolder& folder, const std::string& model) {
  std::vector<std::string> names{model};
  const auto catalog = app::open_catalog(folder.workspace);
  if (!catalog) return names;
  for (const std::string& id : (*catalog)->providers()) {
    const ProviderFacts* const provider = (*catalog)->provider(id);
    const auto status = app::status_of(*provider, folder.workspace);
    if (!status.configured || status.state != app::ProviderStatus::State::kReady) continue;
    for (const ModelFacts& facts : (*catalog)->models(id)) {
      const std::string name = id + ':' + facts.id;
      if (name != model && names.size() < kMostModels) names.push_back(name);
    }
  }
  return names;
}

Json option(const char* id, const char* name, const char* category, const std::string& current,
            const std::vector<std::string>& values) {
  JsonArray all;
  for (const std::string& value : values) all.push_back(JsonObject{{"value", value}, {"name", value}});
  return JsonObject{{"id", id},
                    {"name", name},
                    {"category", category},
                    {"type", "select"},
                    {"currentValue", current},
                    {"options", std::move(all)}};
}

JsonObject info_of(const SessionRow& row, const std::string& folder) {
  JsonObject info{{"sessionId", row.id.str()}, {"cwd", folder}, {"updatedAt", to_iso8601(row.updated)}};
  info["title"] = row.name.empty() ? row.title : row.name;
  return info;
}

}  // namespace

Result<Agent> acp_agent(const AcpServing& serving, const AcpFolder& folder, const AcpChoice& choice) {
  app::RunAgent wanted{.model = choice.model, .accept_home = serving.accept_home, .warn = serving.warn};
  if (!choice.agent.empty()) {
    const auto found = app::find_agent_file(folder.workspace, choice.agent);
    if (!found) return fail(found.error());
    if (!*found) return fail(app::no_such_agent(folder.workspace, choice.agent));
    wanted.file = (*found)->file;
    wanted.project = (*found)->project;
  }
  return app::agent_for_run(wanted, folder.workspace, *folder.runtime);
}

AcpChoice acp_choice_of(const AcpServing& serving, const AcpFolder& folder, const AgentSpec& spec) {
  const std::string file = json_string(spec.metadata, "agent_file");
  if (file.empty()) return {{}, spec.model};
  for (const std::string& name : {serving.agent, spec.id}) {
    if (name.empty()) continue;
    const auto found = app::find_agent_file(folder.workspace, name);
    if (found && *found && (*found)->file == file) return {name, spec.model};
  }
  return {file, spec.model};
}

JsonObject acp_options(const AcpFolder& folder, const AcpChoice& choice, const std::string& model) {
  const auto modes = modes_of(folder, choice);
  JsonArray available;
  for (const std::string& name : modes) available.push_back(JsonObject{{"id", name}, {"name", name}});
  JsonArray options{option("mode", "Agent", "mode", mode_of(choice), modes)};
  if (!model.empty()) options.push_back(option("model", "Model", "model", model, models_of(folder, model)));
  return {{"modes", JsonObject{{"currentModeId", mode_of(choice)}, {"availableModes", std::move(available)}}},
          {"configOptions", std::move(options)}};
}

Result<Json> acp_session_list(const AcpFolder& folder, const Json& params) {
  const std::string cwd = json_string(params, "cwd"), cursor = json_string(params, "cursor");
  std::size_t skip = 0, seen = 0;
  std::from_chars(cursor.data(), cursor.data() + cursor.size(), skip);
  JsonArray sessions;
  bool more = false;
  Journal& journal = folder.runtime->journal();
  const std::shared_ptr<Journal> shared(std::shared_ptr<Journal>(), &journal);
  const auto listed = app::for_each_run(
      shared, {}, app::Sessions::kRoots, folder.runtime->environment().now(), [&](const app::ListedRun& run) {
        if (run.row.title.empty()) return true;  // nothing was said in it yet
        const auto state = read_state(journal, run.row.id);
        const std::string place = state && state->agent ? json_string(state->agent->metadata, "folder") : "";
        if (place.empty() || state->team || (!cwd.empty() && cwd != place) || seen++ < skip) return true;
        more = sessions.size() == kPage;
        if (!more) sessions.push_back(info_of(run.row, place));
        return !more;
      });
  if (!listed) return fail(listed.error());
  JsonObject result{{"sessions", std::move(sessions)}};
  if (more) result["nextCursor"] = std::to_string(skip + kPage);
  return result;
}

}  // namespace praxis::protocols
