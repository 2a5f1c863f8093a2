// The environment of a command: merged configuration, journal, and the agents that can be found.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_hooks.hpp"
#include "app/journal_key.hpp"
#include "app/model_files.hpp"
#include "app/own_folder.hpp"
#include "app/project.hpp"
#include "praxis/app/config.hpp"
#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/memory/stores.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/policy/remembered_rules.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis {
class EditorFiles;   // tools/editor_files.hpp
class FileHistory;   // snapshots/file_history.hpp
class SecretBroker;  // app/secret_broker.hpp
}  // namespace praxis

namespace praxis::app {

/// Working directory and journal of a command.
struct Place {
  std::string folder;        ///< `-C`; empty: the current one
  std::string journal;       ///< `--journal`; empty: as configured
  std::string profile = {};  ///< `--profile`; empty: as configured
};

/// The configuration of a place and the journal that it names.
struct Workspace {
  Config config;
  std::shared_ptr<const Project> project;  ///< of the current folder, trusted or not; may be null
  std::string journal;                     ///< absolute path, `memory`, `postgres://...`
  bool journal_given = false;              ///< given by a flag, so that printed commands must repeat it
  std::string server_options = {};         ///< likewise; not empty: the runs are those of a server
  std::string memory = {};                 ///< absolute path of the memory's file; empty: there is no place
  std::string prompts = {};                ///< of the prompts' file, or of a folder; likewise
  std::vector<CommandHook> hooks = {};     ///< programs that see what agents do
  bool offers_presets = true;              ///< whether agents of the program are found by name

  /// How the journal waits for other processes; the surface sets `on_wait`, `stop_waiting`,
  /// `end_stopped_writer`.
  SqliteJournalOptions waits = {};
  /// How the user is asked for the passphrase of a sealed journal; the surface sets it.
  AskPassphrase ask_passphrase = {};
  /// What `seal_secret` was given.
  std::shared_ptr<KeptSecret> secret = std::make_shared<KeptSecret>();

  /// The secrets of the configuration, `[secrets.NAME]`.
  std::shared_ptr<SecretBroker> secrets = {};

  /// What the editor that runs this process has open; null: no editor does.
  std::shared_ptr<EditorFiles> editor = {};

  /// Reads the scripts and cassettes of this process.
  std::shared_ptr<ModelFileReader> model_files = std::make_shared<ModelFileReader>();

  bool keeps_runs() const { return journal != "memory"; }
  /// Whether the journal is a file; other files of the runs are next to it.
  bool in_file() const;
};

/// Changes to the folder of `place`. Error `kInput`.
Status enter_place(const Place& place);
/// Changes to the folder of `place` and reads the configuration; `flags` override every layer. A project
/// counts only if it is trusted. Error `kInput`.
Result<Workspace> open_workspace(const Place& place, std::map<std::string, std::string> flags = {});

/// The catalogue with the configuration's corrections. Error `kInput`.
Result<std::shared_ptr<const Catalog>> open_catalog(const Workspace& workspace);

/// What seals the journal, the memory, the prompts, the schedules and the kept files, by
/// `encryption.journal_key`; asked at most once. Null: they are plain.
AskSealSecret seal_secret(const Workspace& workspace);

enum class JournalUse : bool { kLook, kWrite };
/// Opens the journal; creates it only for writing. Error `kJournal`.
Result<std::shared_ptr<Journal>> open_journal(const Workspace& workspace, JournalUse use);

/// A session as stored in its log.
struct StoredSession {
  std::shared_ptr<Journal> journal;
  SessionId id;
  std::vector<StoredRecord> records;
  State state;
};
/// Opens the journal and reads the session that `text` identifies (`find_session`).
Result<StoredSession> open_session(const Workspace& workspace, std::string_view text, JournalUse use);
/// Reads a session of a journal that is open. Error `kJournal`.
Result<StoredSession> read_session(std::shared_ptr<Journal> journal, const SessionId& id);

/// The options that say where the runs are, for the end of a printed command: ` --journal FILE`, ` --server
/// URL`, or empty.
std::string place_options(const Workspace& workspace);
/// The command to resume a session, for the user to copy; arguments after the id are not included.
std::string resume_command(const Workspace& workspace, const SessionId& session);
/// The topmost session above a session that the journal holds, or the session itself. Error `kJournal`.
Result<SessionId> root_of(Journal& journal, const SessionId& session);
/// Whether a process has the session open.
bool is_held(Journal& journal, const SessionId& session);

/// Opens the memory that agents and `praxis memory` share, or creates it. Errors `kInput`, `kJournal`.
Result<MemoryClients> open_memory(const Workspace& workspace, MemoryUse use);

/// Opens what is known of the files that runs changed, of a workspace that keeps runs; with `create` makes
/// the file. Error `kJournal`, also `not_found`.
Result<std::shared_ptr<FileHistory>> open_file_history(const Workspace& workspace, bool create);

/// Opens the prompts that agents and `praxis prompts` share; creates the file unless it is a folder of plain
/// files. Errors `kInput`, `kJournal`.
Result<std::shared_ptr<PromptStore>> open_prompts(const Workspace& workspace);

/// The user's folders of configuration and state, which hold what agents may do.
std::vector<std::string> own_folders();
/// Journal, memory and prompts with the files next to them, which no tool may read or write.
std::vector<std::string> files_of_runs(const Workspace& workspace);

/// The file for the user's `--always` rules. Null: no location is available.
std::shared_ptr<const RememberedRules> remembered_rules();
/// Creates the folder of that file, accessible only to its owner.
Status make_rules_folder();

/// The agent file that a word identifies.
struct AgentChoice {
  std::string file;
  std::shared_ptr<const Project> project;  ///< the trusted project that it belongs to; null: the user's own
};
/// Finds the agent file for `word`: a path to a .toml file, or a name in one of the user's agent folders,
/// else of the trusted project, else of a preset (app/presets.hpp) if the workspace offers them.
/// `std::nullopt` if no agent has it. Error `kInput`: the name is that of an agent of a project that is not
/// trusted.
Result<std::optional<AgentChoice>> find_agent_file(const Workspace& workspace, const std::string& word);
/// The same for an agent that the user chose, not a client: presets count even if the workspace does not
/// offer them.
Result<std::optional<AgentChoice>> find_agent_or_preset(const Workspace& workspace, const std::string& word);
/// The names by which agents are found, each once, sorted.
std::vector<std::string> agent_names(const Workspace& workspace);
/// The error for a word for which `find_agent_file` found nothing.
Error no_such_agent(const Workspace& workspace, const std::string& word);
/// The error for a word where only the name of an agent of the user's own folder is accepted.
Error not_in_agent_folder(const Workspace& workspace, const std::string& word);

}  // namespace praxis::app
