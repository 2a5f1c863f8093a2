#include "app/workspace.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

/// Praxis's folder in an XDG base folder: `$variable/praxis`, or `~/fallback/praxis`.
fs::path own_folder(const std::string& variable, const char* fallback) {
  // By the XDG specification, a relative path in the variable counts as unset.
  if (const fs::path folder = environment_variable(variable); folder.is_absolute()) return folder / "praxis";
  const std::string home = environment_variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / fallback / "praxis";
}

Result<std::string> journal_path(const std::string& configured) {
  if (configured == "memory") return configured;
  if (!configured.empty()) return fs::absolute(configured).string();
  const fs::path folder = own_folder("XDG_STATE_HOME", ".local/state");
  if (!folder.empty()) return (folder / "journal.db").string();
  return fail(usage_error("no location for the journal: neither HOME nor XDG_STATE_HOME is set",
                          "give one with --journal FILE, or --journal memory"));
}

bool is_agent_path(const std::string& word) { return word.ends_with(".toml"); }

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::vector<std::string> agent_names(const Workspace& workspace) {
  std::vector<std::string> names;
  for (const std::string& folder : agent_folders(workspace)) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (is_agent_path(entry.path().filename().string())) names.push_back(entry.path().stem().string());
    }
  }
  return names;
}

}  // namespace

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

Result<Workspace> open_workspace(const Place& place, std::map<std::string, std::string> flags) {
  if (!place.folder.empty() && chdir(place.folder.c_str()) != 0) {
    return fail(usage_error("cannot work in " + in_quotes(place.folder) + ": " + std::strerror(errno)));
  }
  if (!place.journal.empty()) flags["journal"] = place.journal;
  auto config = load_config({".", environment_variable, std::move(flags)});
  if (!config) return fail(config.error());
  auto journal = journal_path(config->get("journal"));
  if (!journal) return fail(journal.error());
  return Workspace{*std::move(config), *std::move(journal), !place.journal.empty()};
}

Result<std::shared_ptr<const Catalog>> open_catalog(const Workspace& workspace) {
  return catalog_with(workspace.config.corrections);
}

Result<std::shared_ptr<Journal>> open_journal(const Workspace& workspace, JournalUse use) {
  if (!workspace.keeps_runs()) return memory_journal();
  const bool writes = use == JournalUse::kWrite;
  auto journal = sqlite_journal(workspace.journal, {.create = writes, .read_only = !writes});
  if (journal) return journal;
  if (journal.error().kind() == ErrorKind::kNotFound) {
    return fail(
        with_hint(journal.error(), "the first praxis run creates the journal; --journal FILE names another"));
  }
  return fail(
      with_hint(journal.error(), "--journal FILE names another file, --journal memory stores nothing"));
}

Result<StoredSession> open_session(const Workspace& workspace, std::string_view text, JournalUse use) {
  // Commands that modify a run must not create an empty journal.
  auto journal = sqlite_journal(workspace.journal, {.create = false, .read_only = use == JournalUse::kLook});
  if (!workspace.keeps_runs()) journal = memory_journal();
  if (!journal) return fail(with_hint(journal.error(), "--journal FILE names another"));
  auto id = find_session(**journal, text);
  if (!id) return fail(with_hint(id.error(), "praxis runs lists them"));
  auto records = read_records(**journal, *id);
  if (!records) return fail(records.error());
  auto state = fold(*records);
  if (!state) return fail(state.error());
  return StoredSession{*std::move(journal), *std::move(id), *std::move(records), *std::move(state)};
}

std::string resume_command(const Workspace& workspace, const SessionId& session) {
  const std::string command = "praxis resume " + session.str();
  return workspace.journal_given ? command + " --journal " + shell_word(workspace.journal) : command;
}

Result<SessionId> root_of(Journal& journal, const SessionId& session) {
  constexpr int kMaxLevels = 64;  // deeper than any agent tree; ends the walk in a corrupt journal
  SessionId root = session;
  for (int level = 0; level < kMaxLevels; ++level) {
    auto row = journal.session(root);
    if (!row) return fail(row.error());
    if (row->parent.empty()) break;
    root = row->parent;
  }
  return root;
}

bool is_held(Journal& journal, const SessionId& session) {
  const auto row = journal.session(session);
  return row && row->held;
}

std::shared_ptr<const RememberedRules> remembered_rules() {
  const fs::path own = own_folder("XDG_CONFIG_HOME", ".config");
  return own.empty() ? nullptr : std::make_shared<const RememberedRules>((own / "allowed.jsonl").string());
}

Status make_rules_folder() {
  const fs::path own = own_folder("XDG_CONFIG_HOME", ".config");
  std::error_code error;
  if (!fs::create_directories(own, error) && !error) return {};
  if (!error) fs::permissions(own, fs::perms::owner_all, error);
  if (!error) return {};
  return fail(usage_error("cannot make the folder " + in_quotes(own.string()) + ": " + error.message()));
}

std::vector<std::string> agent_folders(const Workspace& workspace) {
  std::vector<std::string> folders{".praxis/agents"};
  if (const std::string configured = workspace.config.get("agents.folder"); !configured.empty()) {
    folders.push_back(configured);
  }
  if (const fs::path own = own_folder("XDG_CONFIG_HOME", ".config"); !own.empty()) {
    folders.push_back((own / "agents").string());
  }
  return folders;
}

std::string find_agent_file(const Workspace& workspace, const std::string& word) {
  if (is_agent_path(word)) return is_file(word) ? word : "";
  if (word.empty() || word.find_first_of("/ \n") != std::string::npos) return "";
  for (const std::string& folder : agent_folders(workspace)) {
    const fs::path file = fs::path(folder) / (word + ".toml");
    if (is_file(file)) return file.string();
  }
  return "";
}

Error no_such_agent(const Workspace& workspace, const std::string& word) {
  if (is_agent_path(word)) return usage_error("no agent file " + in_quotes(word));
  const auto nearest = closest(word, agent_names(workspace));
  std::string folders;
  for (const std::string& folder : agent_folders(workspace))
    folders += (folders.empty() ? "" : ", ") + folder;
  return usage_error(
      "no agent " + in_quotes(word) + (nearest ? "; did you mean " + in_quotes(*nearest) + '?' : ""),
      "looked for " + word + ".toml in " + folders);
}

}  // namespace praxis::app
