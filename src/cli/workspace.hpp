// Where a command works: the merged configuration, the journal it names, and the agents that can be found.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "praxis/app/config.hpp"
#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/policy/remembered_rules.hpp"

namespace praxis::cli {

/// The value of an environment variable; empty when unset.
std::string environment_variable(const std::string& name);

struct Workspace {
  Config config;
  std::string journal;         ///< absolute path, or `memory`
  bool journal_given = false;  ///< by a flag, so that commands to be typed later must name it too

  bool keeps_runs() const { return journal != "memory"; }
};

/// Changes to the place's folder and reads the configuration; `flags` win over every layer. Error `kInput`.
Result<Workspace> open_workspace(const Place& place, std::map<std::string, std::string> flags = {});

/// What is known of providers and models, with what the configuration says of them. Error `kInput`.
Result<std::shared_ptr<const Catalog>> open_catalog(const Workspace& workspace);

enum class JournalUse : bool { kLook, kWrite };
/// Opens the journal; only writing makes it when there is none. Error `kJournal`.
Result<std::shared_ptr<Journal>> open_journal(const Workspace& workspace, JournalUse use);

/// A session as its log tells it.
struct StoredSession {
  std::shared_ptr<Journal> journal;
  SessionId id;
  std::vector<StoredRecord> records;
  State state;
};
/// Opens the journal and reads the session that `text` names (`find_session`).
Result<StoredSession> open_session(const Workspace& workspace, std::string_view text, JournalUse use);

/// The command that a person types to carry on a session, without what follows the id.
std::string resume_command(const Workspace& workspace, const SessionId& session);
/// The root above a session, or the session itself. Error `kJournal`.
Result<SessionId> root_of(Journal& journal, const SessionId& session);
/// Whether some process has the session open.
bool is_held(Journal& journal, const SessionId& session);

/// The file in which this person's `--always` is kept. Null: there is no place for it.
std::shared_ptr<const RememberedRules> remembered_rules();
/// Makes the folder of that file, for its owner alone.
Status make_rules_folder();

/// The folders in which agents are looked up by name, nearest first.
std::vector<std::string> agent_folders(const Workspace& workspace);
/// The agent file that `word` names: a path to a .toml file, or the name of one in an agents folder. Empty
/// when it is neither.
std::string find_agent_file(const Workspace& workspace, const std::string& word);
/// What to say when `find_agent_file` found nothing and there was nothing else that the word could mean.
Error no_such_agent(const Workspace& workspace, const std::string& word);

}  // namespace praxis::cli
