#include "app/open_runtime.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/command_hooks.hpp"
#include "app/config_keys.hpp"
#include "app/mcp_login.hpp"
#include "app/named_files.hpp"
#include "app/team_run.hpp"
#include "app/without_secrets.hpp"
#include "models/file_models.hpp"
#include "snapshots/kept_tool.hpp"

namespace praxis::app {
namespace {

constexpr const char* kHome = "home_accepted";

Millis time_setting(const Config& config, const std::string& key) {
  std::string text = config.get(key);
  if (text.empty()) text = built_in_value(key);
  return duration_of(parse_json(text).value_or(Json(text)));
}

NetworkWaits network_waits(const Config& config) {
  return {.patience = time_setting(config, "network.patience"),
          .connect = time_setting(config, "network.connect"),
          .first_byte = time_setting(config, "network.first_byte"),
          .idle = time_setting(config, "network.idle")};
}

/// Makes tools keep what their calls change. The history is opened by the first call, for all of them.
auto file_keeper(const Workspace& workspace) {
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<FileHistory> history;
  };
  const OpenHistory open = [workspace, shared = std::make_shared<Shared>()]() -> Result<FileHistoryPtr> {
    const std::lock_guard lock(shared->mutex);
    if (!shared->history) {
      auto opened = open_file_history(workspace, true);
      if (!opened) return opened;
      shared->history = *std::move(opened);
    }
    return shared->history;
  };
  return [open](Tool tool, const std::vector<std::string>& writable, const FileBounds& bounds) {
    const std::string& name = tool.definition.name;
    const bool names_its_file = name == "file_write" || name == "edit";
    return kept_tool(std::move(tool), open, {writable, bounds}, names_its_file ? "path" : "");
  };
}

}  // namespace

Result<std::shared_ptr<Runtime>> open_runtime(const Workspace& workspace, const RuntimeUse& use) {
  auto journal = open_journal(workspace, JournalUse::kWrite);
  if (!journal) return fail(journal.error());
  auto catalog = open_catalog(workspace);
  if (!catalog) return fail(catalog.error());
  RuntimeOptions options;
  options.journal = use.journal ? use.journal(*std::move(journal)) : *std::move(journal);
  options.catalog = *std::move(catalog);
  options.principal = use.principal;
  options.stream = use.stream;
  options.record_to = use.record_to;
  options.network = network_waits(workspace.config);
  options.cancel_grace = time_setting(workspace.config, "cancel_grace");
  for (const char* kind : kFileModels) {
    options.providers[kind] = [kind, files = workspace.model_files](const std::string& path,
                                                                    const ModelServices& services) {
      return make_file_model(kind, path, services, std::bind_front(&ModelFileReader::read, files.get()));
    };
  }
  options.begin_queued_turns = use.begin_queued_turns;
  options.executor = use.executor;
  options.suspend_when_waiting = workspace.config.get("suspend") == "true";
  return Runtime::create(std::move(options));
}

AgentFileOptions agent_file_options(const Workspace& workspace, const Runtime& runtime) {
  return agent_file_options(workspace, runtime.http());
}

AgentFileOptions agent_file_options(const Workspace& workspace, std::shared_ptr<HttpClient> http) {
  AgentFileOptions options;
  options.http = std::move(http);
  options.secrets = workspace.secrets;
  options.editor = workspace.editor;
  options.default_model = workspace.config.get("model");
  options.remembered = remembered_rules();
  options.layers = workspace.config.policy;
  options.redact = to_json(redact_rules_of(workspace.config));
  options.protect = own_folders();
  if (!workspace.prompts.empty()) options.protect.push_back(workspace.prompts);
  options.hide = files_of_runs(workspace);
  NamedFiles named = named_files(workspace);
  std::ranges::move(named.run, std::back_inserter(options.protect));
  std::ranges::move(named.secret, std::back_inserter(options.hide));
  if (const std::string folder = state_folder(); !folder.empty())
    std::ranges::move(McpLogins::files_in(folder), std::back_inserter(options.hide));
  options.on_agent = [hooks = workspace.hooks](Agent& agent, bool is_root) {
    add_command_hooks(agent, hooks, is_root);
  };
  if (workspace.in_file() && !workspace.journal.empty() && workspace.config.get("files.keep") != "false")
    options.on_writing_tool = file_keeper(workspace);
  options.prompts = [workspace] { return open_prompts(workspace); };
  options.memory = [workspace, opened = std::make_shared<std::shared_ptr<DatabaseClient>>()]()
      -> Result<std::shared_ptr<DatabaseClient>> {
    if (*opened) return *opened;
    auto memory = open_memory(workspace, MemoryUse::kCreate);
    if (!memory) return fail(std::move(memory.error()));
    *opened = memory->database;
    return *opened;
  };
  return options;
}

void remember_place(Agent& agent, const Project* project, bool home) {
  const Json& given = agent.spec().metadata;
  JsonObject metadata = given.is_object() ? given.get_object() : JsonObject{};
  metadata["folder"] = std::filesystem::current_path().string();
  for (const char* key : {"project", kHome}) metadata.erase(key);  // an agent file must not say so itself
  forget_team(metadata);
  if (project != nullptr) metadata["project"] = project->root;
  if (home) metadata[kHome] = true;
  agent.metadata(std::move(metadata));
}

bool accepts_home(const Json& metadata) { return json_bool(metadata, kHome); }

}  // namespace praxis::app
