#include "app/workspace.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/embedder_setting.hpp"
#include "app/filtered_prompts.hpp"
#include "app/hints.hpp"
#include "app/owned_file.hpp"
#include "app/plain_text.hpp"
#include "app/presets.hpp"
#include "app/push_file.hpp"
#include "app/schedule_file.hpp"
#include "app/secret_broker.hpp"
#include "app/trust.hpp"
#include "app/values.hpp"
#include "base/private_folders.hpp"
#include "logs/lineage.hpp"
#include "memory/memory_file.hpp"
#include "memory/redis_address.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/prompts/template_engines.hpp"
#include "prompts/sqlite_prompts.hpp"
#include "snapshots/file_history.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

Result<std::string> journal_path(const std::string& configured) {
  if (configured == "memory") return configured;
  if (is_postgres_address(configured)) {
    if (!has_password(configured)) return configured;
    return fail(usage_error("the address of the journal contains a password, which others could see",
                            "keep it in ~/.pgpass, in the file that PGPASSFILE names, or in PGPASSWORD"));
  }
  if (is_redis_address(configured))
    return fail(
        usage_error("a journal cannot be in Redis", "give one with --journal FILE: docs/scale-out.md"));
  if (!configured.empty()) return fs::absolute(configured).string();
  const fs::path folder = own_folder("XDG_STATE_HOME", ".local/state");
  if (!folder.empty()) return (folder / "journal.db").string();
  return fail(usage_error("no location for the journal: neither HOME nor XDG_STATE_HOME is set",
                          "give one with --journal FILE, or --journal memory"));
}

/// Empty if neither the configuration nor the environment gives a place.
std::string state_path(const std::string& configured, const char* name) {
  if (!configured.empty()) return fs::absolute(configured).string();
  const fs::path folder = own_folder("XDG_STATE_HOME", ".local/state");
  return folder.empty() ? "" : (folder / name).string();
}

/// Error if the file, a `what`, is no regular file, or if others could have written it. A file that is
/// missing is safe.
Status check_stored_file(const std::string& what, const std::string& path) {
  for (const char* suffix : {"", "-wal", "-journal"}) {
    const std::string name = path + suffix;
    struct stat about = {};
    if (stat(name.c_str(), &about) != 0 || S_ISDIR(about.st_mode)) continue;
    if (!S_ISREG(about.st_mode))
      return fail(ErrorCode::kJournal, "the " + what + ' ' + in_quotes(name) + " is not a regular file");
    if (const std::string unsafe = why_unsafe(about, name); !unsafe.empty())
      return fail(ErrorCode::kJournal, "the " + what + ' ' + unsafe);
  }
  return {};
}

/// A variable that is set but empty is a mistake of a script; the default place must not be used instead.
Status check_variables(const Place& place) {
  const auto is_blank = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value == '\0';
  };
  for (const char* name : {"PRAXIS_JOURNAL", "PRAXIS_MEMORY", "PRAXIS_PROMPTS", "PRAXIS_AGENTS_FOLDER"}) {
    const bool is_overridden = name == std::string_view("PRAXIS_JOURNAL") && !place.journal.empty();
    if (is_blank(name) && !is_overridden)
      return fail(usage_error(std::string(name) + " is set, but empty", "set it to a path, or unset it"));
  }
  return {};
}

Result<std::shared_ptr<Journal>> open_database(const Workspace& workspace, JournalUse use, bool create) {
  PostgresJournalOptions options;
  options.create = create;
  options.read_only = use == JournalUse::kLook;
  options.on_wait = workspace.waits.on_wait;
  options.stop_waiting = workspace.waits.stop_waiting;
  return postgres_journal(workspace.journal, std::move(options));
}

Result<std::shared_ptr<Journal>> open_stored(const Workspace& workspace, JournalUse use, bool create) {
  if (is_postgres_address(workspace.journal)) return open_database(workspace, use, create);
  if (auto checked = check_stored_file("journal", workspace.journal); !checked) return fail(checked.error());
  SqliteJournalOptions options = workspace.waits;
  options.key = seal_secret(workspace);
  options.create = create;
  options.read_only = use == JournalUse::kLook;
  return sqlite_journal(workspace.journal, std::move(options));
}

bool is_agent_path(const std::string& word) { return word.ends_with(".toml"); }

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The user's own folders in which agents are looked up by name, in order of precedence.
std::vector<std::string> agent_folders(const Workspace& workspace) {
  std::vector<std::string> folders;
  const auto configured = workspace.config.settings.find("agents.folder");
  if (configured != workspace.config.settings.end() && !configured->second.project)
    folders.push_back(configured->second.value);
  if (const fs::path own = own_folder("XDG_CONFIG_HOME", ".config"); !own.empty())
    folders.push_back((own / "agents").string());
  return folders;
}

bool is_trusted(const Workspace& workspace) { return workspace.project && workspace.project->trusted; }

}  // namespace

Status enter_place(const Place& place) {
  if (place.folder.empty() || chdir(place.folder.c_str()) == 0) return {};
  return fail(usage_error("cannot work in " + in_quotes(place.folder) + ": " + std::strerror(errno)));
}

Result<Workspace> open_workspace(const Place& place, std::map<std::string, std::string> flags) {
  if (auto entered = enter_place(place); !entered) return fail(entered.error());
  if (auto checked = check_variables(place); !checked) return fail(checked.error());
  if (!place.journal.empty()) flags["journal"] = place.journal;
  if (!place.profile.empty()) flags["profile"] = place.profile;
  auto project = current_project();
  ConfigSources sources{environment_variable, std::move(flags)};
  if (project) sources.project = settings_of(*project);
  sources.variables = environment_names();
  auto config = load_config(sources);
  if (!config) return fail(config.error());
  auto hooks = command_hooks_of(*config);
  if (!hooks) return fail(hooks.error());
  auto secrets = SecretBroker::of(*config);
  if (!secrets) return fail(secrets.error());
  auto journal = journal_path(config->get("journal"));
  if (!journal) return fail(journal.error());
  std::string memory = config->get("memory");
  if (!is_memory_address(memory)) memory = state_path(memory, "memory.db");
  std::string prompts = state_path(config->get("prompts"), "prompts.db");
  Workspace workspace{*std::move(config), std::move(project), *std::move(journal), !place.journal.empty(), "",
                      std::move(memory),  std::move(prompts), *std::move(hooks)};
  workspace.secrets = *std::move(secrets);
  return workspace;
}

Result<std::shared_ptr<const Catalog>> open_catalog(const Workspace& workspace) {
  return catalog_with(workspace.config.corrections);
}

AskSealSecret seal_secret(const Workspace& workspace) {
  return kept_secret(journal_secret(workspace.config.get("encryption.journal_key"), workspace.ask_passphrase),
                     workspace.secret);
}

bool Workspace::in_file() const { return keeps_runs() && !is_postgres_address(journal); }

Result<std::shared_ptr<Journal>> open_journal(const Workspace& workspace, JournalUse use) {
  if (!workspace.keeps_runs()) return memory_journal();
  auto journal = open_stored(workspace, use, use == JournalUse::kWrite);
  if (journal) return journal;
  if (is_postgres_address(workspace.journal) && journal.error().kind() != ErrorKind::kNotFound)
    return fail(with_hint(journal.error(), "praxis doctor says what is wrong; docs/scale-out.md"));
  if (journal.error().kind() == ErrorKind::kNotFound && use == JournalUse::kLook) {
    return fail(
        with_hint(journal.error(), "the first praxis run creates the journal; --journal FILE names another"));
  }
  if (journal.error().kind() == ErrorKind::kKey)
    return fail(with_hint(journal.error(), "docs/encryption.md says where a key can be"));
  return fail(
      with_hint(journal.error(), "--journal FILE names another file, --journal memory stores nothing"));
}

Result<MemoryClients> open_memory(const Workspace& workspace, MemoryUse use) {
  if (workspace.memory.empty()) {
    return fail(usage_error("no location for the memory: neither HOME nor XDG_STATE_HOME is set",
                            "give one with PRAXIS_MEMORY=FILE"));
  }
  if (is_redis_address(workspace.memory)) {
    if (workspace.config.get("encryption.journal_key").empty()) return redis_memory(workspace.memory, use);
    return fail(usage_error("a memory in Redis is not sealed, but encryption.journal_key is set",
                            "keep the memory in a file: docs/encryption.md"));
  }
  auto embedder = configured_embedder(workspace);
  if (!embedder) return fail(std::move(embedder.error()));
  MemoryOptions options;
  options.embedder = *std::move(embedder);
  if (is_postgres_address(workspace.memory))
    return postgres_memory(workspace.memory, use, std::move(options));
  if (auto checked = check_stored_file("memory", workspace.memory); !checked) return fail(checked.error());
  return sealed_memory(workspace.memory, use, std::move(options), seal_secret(workspace));
}

Result<std::shared_ptr<FileHistory>> open_file_history(const Workspace& workspace, bool create) {
  const std::string path = FileHistory::path_for(workspace.journal);
  if (auto checked = check_stored_file("file history", path); !checked) return fail(checked.error());
  return FileHistory::open(path, create, seal_secret(workspace));
}

Result<std::shared_ptr<PromptStore>> open_prompts(const Workspace& workspace) {
  // One for the process: each starts a program of its own at its first template.
  static const std::shared_ptr<TemplateEngines> engines = javascript_templates();
  if (workspace.prompts.empty()) {
    return fail(usage_error("no location for prompts: neither HOME nor XDG_STATE_HOME is set",
                            "give one with PRAXIS_PROMPTS=PATH"));
  }
  std::error_code ignored;
  if (fs::is_directory(workspace.prompts, ignored)) return file_prompts(workspace.prompts, engines);
  if (auto checked = check_stored_file("prompts", workspace.prompts); !checked) return fail(checked.error());
  PromptStoreOptions options;
  options.engines = engines;
  auto store = sealed_prompts(workspace.prompts, std::move(options), seal_secret(workspace));
  if (!store) return store;
  return filtered_prompts(*std::move(store), engines, workspace.config.policy);
}

Result<StoredSession> open_session(const Workspace& workspace, std::string_view text, JournalUse use) {
  // Commands that modify a run must not create an empty journal.
  auto journal = workspace.keeps_runs() ? open_stored(workspace, use, false) : memory_journal();
  if (!journal) return fail(with_hint(journal.error(), "--journal FILE names another"));
  auto id = find_session(**journal, text);
  if (!id) return fail(with_hint(id.error(), "praxis runs lists them"));
  return read_session(*std::move(journal), *id);
}

Result<StoredSession> read_session(std::shared_ptr<Journal> journal, const SessionId& id) {
  auto records = read_records(*journal, id);
  if (!records) return fail(records.error());
  auto state = fold(*records);
  if (!state) return fail(state.error());
  return StoredSession{std::move(journal), id, *std::move(records), *std::move(state)};
}

std::string place_options(const Workspace& workspace) {
  if (!workspace.server_options.empty()) return workspace.server_options;
  return workspace.journal_given ? " --journal " + shell_word(workspace.journal) : "";
}

std::string resume_command(const Workspace& workspace, const SessionId& session) {
  return "praxis resume " + session.str() + place_options(workspace);
}

Result<SessionId> root_of(Journal& journal, const SessionId& session) {
  const auto sessions = lineage(journal, session);
  if (!sessions) return fail(sessions.error());
  return sessions->back();
}

bool is_held(Journal& journal, const SessionId& session) {
  const auto row = journal.session(session);
  return row && row->held;
}

std::vector<std::string> own_folders() {
  std::vector<std::string> folders;
  for (const fs::path& folder :
       {own_folder("XDG_CONFIG_HOME", ".config"), own_folder("XDG_STATE_HOME", ".local/state")}) {
    if (!folder.empty()) folders.push_back(folder.string());
  }
  return folders;
}

std::vector<std::string> files_of_runs(const Workspace& workspace) {
  std::vector<std::string> files;
  std::error_code ignored;
  const bool has_prompts_file = !workspace.prompts.empty() && !fs::is_directory(workspace.prompts, ignored);
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".owners", ".head", ".traces"}) {
    if (workspace.in_file()) files.push_back(workspace.journal + suffix);
    if (workspace.in_file()) files.push_back(FileHistory::path_for(workspace.journal) + suffix);
    if (workspace.in_file()) files.push_back(schedules_path(workspace.journal) + suffix);
    if (workspace.in_file()) files.push_back(push_path(workspace.journal) + suffix);
    if (!workspace.memory.empty() && !is_memory_address(workspace.memory))
      files.push_back(workspace.memory + suffix);
    if (has_prompts_file) files.push_back(workspace.prompts + suffix);
  }
  return files;
}

std::shared_ptr<const RememberedRules> remembered_rules() {
  const fs::path own = own_folder("XDG_CONFIG_HOME", ".config");
  return own.empty() ? nullptr : std::make_shared<const RememberedRules>((own / "allowed.jsonl").string());
}

Status make_rules_folder() {
  const fs::path own = own_folder("XDG_CONFIG_HOME", ".config");
  const int error = make_private_folders(own);
  if (error == 0) return {};
  return fail(usage_error("cannot make the folder " + in_quotes(own.string()) + ": " + std::strerror(error)));
}

namespace {

Result<std::optional<AgentChoice>> find_agent(const Workspace& workspace, const std::string& word,
                                              bool with_presets) {
  if (is_agent_path(word)) return is_file(word) ? std::optional(AgentChoice{word, nullptr}) : std::nullopt;
  if (word.empty() || word.find_first_of("/ \n") != std::string::npos) return std::nullopt;
  for (const std::string& folder : agent_folders(workspace)) {
    const fs::path file = fs::path(folder) / (word + ".toml");
    if (is_file(file)) return AgentChoice{file.string(), nullptr};
  }
  const Preset* preset = with_presets ? find_preset(word) : nullptr;
  const auto of_program = [&]() -> Result<std::optional<AgentChoice>> {
    if (preset == nullptr) return std::nullopt;
    auto file = preset_file(*preset);
    if (!file) return fail(file.error());
    return AgentChoice{*std::move(file), nullptr};
  };
  if (!workspace.project) return of_program();
  const Project& project = *workspace.project;
  const auto found = project.agents.find(word);
  if (found == project.agents.end()) return of_program();
  if (project.trusted)
    return AgentChoice{(fs::path(project.root) / found->second).string(), workspace.project};
  return fail(usage_error("the agent " + in_quotes(word) + " belongs to the project " +
                              in_quotes(project.root) + ", which is not trusted",
                          "praxis trust shows what it would do"));
}

}  // namespace

Result<std::optional<AgentChoice>> find_agent_file(const Workspace& workspace, const std::string& word) {
  return find_agent(workspace, word, workspace.offers_presets);
}

Result<std::optional<AgentChoice>> find_agent_or_preset(const Workspace& workspace, const std::string& word) {
  return find_agent(workspace, word, true);
}

std::vector<std::string> agent_names(const Workspace& workspace) {
  std::vector<std::string> names;
  for (const std::string& folder : agent_folders(workspace)) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (is_agent_path(entry.path().filename().string())) names.push_back(entry.path().stem().string());
    }
  }
  if (is_trusted(workspace)) {
    for (const auto& [name, file] : workspace.project->agents) names.push_back(name);
  }
  if (workspace.offers_presets) {
    for (const Preset& preset : presets()) names.emplace_back(preset.name);
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Error no_such_agent(const Workspace& workspace, const std::string& word) {
  if (is_agent_path(word)) return usage_error("no agent file " + in_quotes(word));
  const auto nearest = closest(word, agent_names(workspace));
  std::string folders;
  for (const std::string& folder : agent_folders(workspace))
    folders += (folders.empty() ? "" : ", ") + folder;
  if (is_trusted(workspace)) folders += (folders.empty() ? "" : ", ") + workspace.project->root + "/.praxis";
  return usage_error(
      "no agent " + in_quotes(word) + (nearest ? "; did you mean " + in_quotes(*nearest) + '?' : ""),
      "looked for " + word + ".toml in " + folders);
}

Error not_in_agent_folder(const Workspace& workspace, const std::string& word) {
  const auto folders = agent_folders(workspace);
  if (folders.empty()) return no_such_agent(workspace, word);
  if (is_agent_path(word) || word.contains('/'))
    return usage_error("an agent is given by its name here, not by the file " + in_quotes(word),
                       "put the file into " + folders.front());
  return no_such_agent(workspace, word);
}

}  // namespace praxis::app
