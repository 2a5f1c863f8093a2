// The arguments of each command: plain values that `app.cpp` fills.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/run_list.hpp"
#include "app/run_stats.hpp"
#include "app/workspace.hpp"
#include "cli/description.hpp"
#include "cli/operator_options.hpp"
#include "praxis/base/time.hpp"
#include "praxis/core/records.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/memory/retention.hpp"

namespace praxis::cli {

/// How to show the progress and result of a turn.
struct TurnOutput {
  bool json = false;
  bool stream = true;
  std::string file;         ///< `-o`: file for the last message; empty: none
  bool no_input = false;    ///< `--no-input`: ask nothing at the terminal
  bool quiet = false;       ///< `-q`: no progress, and no ending of a turn that finished
  bool verbose = false;     ///< `-v`: the results of calls too
  bool denials_ok = false;  ///< `--denials-ok`: a call that a rule denied does not change the exit status
  std::string record_to;    ///< `--record`: folder for the exchanges with models; empty: none
};

/// Limits of the turn; those that are not given stay as they are.
struct TurnLimits {
  std::optional<MicroUsd> max_usd;
  std::optional<std::uint32_t> max_steps;
  std::optional<Millis> timeout;
  std::optional<Millis> patience;  ///< with a network that fails
};

struct RunOptions {
  app::Place place;
  ServerPlace server = {};
  TurnOutput output;
  std::optional<std::string> first;   ///< an agent or the prompt
  std::optional<std::string> second;  ///< the prompt after an agent
  std::string model;
  std::optional<RouteOrder> route_order;
  std::optional<MicroUsd> route_max_usd;
  std::string schema;               ///< file with the JSON Schema of the answer; empty: free text
  std::vector<std::string> attach;  ///< files and URLs sent with the prompt
  std::vector<std::string> then;    ///< messages of the next turns
  TurnLimits limits;
  bool allow_home = false;  ///< the agent's tools may reach the home folder
};

/// Opens a chat at the terminal.
struct ChatOptions {
  app::Place place;
  ServerPlace server = {};
  std::string agent;   ///< empty: the default agent
  std::string member;  ///< of the team, which answers from now on; empty: as it is
  std::string resume;  ///< the run to open; empty: a new one
  std::string model;
  std::string theme;  ///< empty: as configured
  bool plain = false;
  bool allow_home = false;
};

/// Lists, shows or copies agents.
struct AgentsOptions {
  enum class Verb : std::uint8_t { kList, kShow, kInit };
  app::Place place;
  Verb verb = Verb::kList;
  std::string name;
  std::string file;  ///< of init; empty: NAME.toml
  bool json = false;
};

struct ResumeOptions {
  app::Place place;
  ServerPlace server = {};
  TurnOutput output;
  std::string id;
  std::optional<std::string> prompt;
  std::vector<Part> with_prompt = {};  ///< sent before the prompt: the images and files of an edited message
  std::vector<std::string> allow, deny, edit, answer;
  std::string reason;
  std::string agent;
  std::string accept_agent;  ///< digest of changed files of the agent that are accepted; empty: ask
  bool allow_home = false;
  std::string model;
  TurnLimits limits;
  bool force = false;
};

struct RunsOptions {
  app::Place place;
  app::RunFilter filter;
  std::size_t count = 20;
  bool json = false;
  bool all = false;  ///< include sub-agents
};

/// Names or tags a run.
struct RunsLabelOptions {
  app::Place place;
  std::string id;
  LabelChange change;
  bool json = false;
};

/// Removes runs: those with these ids, or those that fit the filter.
struct RunsRemoveOptions {
  app::Place place;
  std::vector<std::string> ids;  ///< empty: by the filter
  app::RunFilter filter;
  bool named = false;    ///< by the filter: also runs that have a name
  bool yes = false;      ///< without confirmation
  bool dry_run = false;  ///< only list them
  bool json = false;
};

struct TreeOptions {
  app::Place place;
  ServerPlace server = {};
  std::string root;  ///< empty: all runs that are not idle, or else the last one
  bool watch = false;
  bool json = false;
  bool all = false;  ///< all runs
};

/// A command for one node of the tree.
struct TreeCommandOptions {
  app::Place place;
  std::string name;  ///< as typed: `stop`, `steer`, ...
  CommandVerb verb = CommandVerb::kAnnotate;
  std::string node;
  std::string text;
  std::vector<std::pair<CommandVerb, std::string>> further;  ///< `--and`: verbs with their texts
  bool json = false;
  ServerPlace server = {};
};

struct ApproveOptions {
  app::Place place;
  ServerPlace server = {};
  TurnOutput output;  ///< of the resumed run
  std::string id;     ///< empty: list the pending steps
  bool allow = false;
  bool deny = false;
  bool always = false;              ///< approve now and from now on
  std::string seen;                 ///< start of the digest of the call that was shown
  bool yes = false;                 ///< skip the confirmation of the rule
  std::optional<std::string> edit;  ///< file with the arguments
  std::optional<std::string> answer;
  std::string reason;
  std::string agent;         ///< `--agent` of the resumed run
  std::string accept_agent;  ///< `--accept-agent` of the resumed run
  bool allow_home = false;
};

struct ShowOptions {
  app::Place place;
  std::string id;
  bool records = false;  ///< the records instead of the conversation
  bool context = false;  ///< what fills the window of the model instead of the conversation
  bool json = false;     ///< the records, or what fills the window, as JSON
};

struct LogsOptions {
  app::Place place;
  std::string id;
  bool follow = false;     ///< until the turn in progress has ended
  std::uint64_t from = 1;  ///< number of the first record whose events are shown
  bool json = false;
};

struct ForkOptions {
  app::Place place;
  std::string id;      ///< with or without `@STEP`
  std::string prompt;  ///< runs the branch with this message; empty: the branch is only made
  bool edit = false;   ///< runs the branch with the message that began the turn there, edited
  std::optional<std::uint64_t> seq;
  std::string model;
  bool files = false;  ///< takes the files back too
  bool json = false;
};

struct RewindOptions {
  app::Place place;
  std::string id;
  std::string turn;
  bool files = false;  ///< takes the files back too
  bool json = false;
};

struct DiffOptions {
  app::Place place;
  std::string id;  ///< with or without `@STEP`
  bool stat = false;
  bool json = false;
};

struct UndoOptions {
  app::Place place;
  std::string id;  ///< with or without `@STEP`
  std::string to;  ///< the same as `@STEP`; empty: the beginning
  bool redo = false;
  bool dry_run = false;
  bool yes = false;
  bool json = false;
};

struct ReplayOptions {
  app::Place place;
  std::string id;
  std::string agent;
  std::optional<std::uint64_t> to;  ///< number of the last record that is replayed
  // With one of these, the run is run again, changed (evals/counterfactual.hpp).
  std::vector<std::string> tools;  ///< `NAME=SOURCE` each
  std::string model;
  std::optional<std::string> prompt;
  std::string from;
  std::string accept_agent;  ///< digest of changed files of the agent that are accepted; empty: ask
  bool allow_home = false;
  bool json = false;

  bool changes() const { return !tools.empty() || !model.empty() || prompt || !from.empty(); }
};

struct ExportOptions {
  app::Place place;
  std::string id;
  std::string file;
  std::string format = "records";
};

struct ImportOptions {
  app::Place place;
  std::string file;
  bool json = false;
};

struct ModelsOptions {
  app::Place place;
  std::string name;  ///< a provider, or a model as PROVIDER:NAME; empty: all configured providers
  bool json = false;
  bool all = false;     ///< include providers without configuration
  bool online = false;  ///< list what the servers have, not the catalogue
};

struct DoctorOptions {
  app::Place place;
  bool json = false;
  bool online = false;  ///< also contact each provider's server
  bool fix = false;     ///< first create missing folders and narrow rights that are too wide
  /// Print where the journal ends; with a text, check that the journal is there or further.
  std::optional<std::string> head;
  bool accept_loss = false;  ///< acknowledge what is left of a damaged journal
  bool yes = false;          ///< without confirmation
  EngineOptions engine;      ///< also try this one
};

/// Shows the project of the folder, decides about it, or lists those that are trusted.
struct TrustOptions {
  enum class Verb : std::uint8_t { kAsk, kShow, kAccept, kList, kRevoke };
  std::string folder;  ///< `-C`
  Verb verb = Verb::kAsk;
  std::string target;  ///< the project to revoke; empty: that of the folder
  std::string digest;  ///< accept without a question exactly what has this digest; empty: ask
  bool json = false;
};

/// Prints text without secrets and personal data.
struct RedactOptions {
  std::string file;                  ///< empty: standard input
  std::string profile = "balanced";  ///< or `strict`
  std::string only;                  ///< `secrets` or `personal`; empty: both
  bool list = false;                 ///< where they are instead of the text
  bool json = false;
};

/// Shows, explains or changes the configuration.
struct ConfigOptions {
  enum class Verb : std::uint8_t { kShow, kExplain, kSet, kEdit };
  app::Place place;
  Verb verb = Verb::kShow;
  std::optional<std::string> key, value;
  bool json = false;
};

/// Shows and changes what agents remember.
struct MemoryCommandOptions {
  enum class Verb : std::uint8_t { kList, kSearch, kShow, kAdd, kForget, kSweep, kExport, kImport };
  app::Place place;
  Verb verb = Verb::kList;
  /// Of search and add a text, of show and forget a key, of import a file; with `files` all of them.
  std::vector<std::string> words;
  bool files = false;      ///< of add: documents
  Retention retention;     ///< of sweep
  std::string memory;      ///< `--memory`; empty: as configured
  std::string collection;  ///< empty: `notes`, of documents `documents`; of list, search and export: all
  std::string key;         ///< of add; empty: a new one
  std::vector<std::string> tags;
  std::string filter;  ///< as JSON text
  std::uint32_t limit = 20;
  std::string output;  ///< of export; empty: standard output
  bool all = false;    ///< forget the whole collection
  bool json = false;
};

/// Shows, renders and changes versioned prompts.
struct PromptsOptions {
  enum class Verb : std::uint8_t { kList, kShow, kDiff, kRender, kPut, kLabel, kCheck };
  app::Place place;
  Verb verb = Verb::kList;
  std::string first, second, third;    ///< the arguments of the verb
  std::string store;                   ///< `--prompts`; empty: as configured
  std::vector<std::string> variables;  ///< NAME=VALUE
  std::string variables_file;
  std::vector<std::string> tags;
  std::vector<std::string> required;
  std::string engine = "fstring";
  std::string name;
  std::string author;  ///< empty: the user
  bool json = false;
};

/// Shows a page of the documentation, or lists them (`topics`).
struct TopicOptions {
  std::string topic;
};

/// Lists, shows and checks skills.
struct SkillsOptions {
  enum class Verb : std::uint8_t { kList, kShow, kCheck };
  Verb verb = Verb::kList;
  std::vector<std::string> words;   ///< a skill, or the folders to check
  std::vector<std::string> places;  ///< `--from`; empty: the usual ones
  std::string folder;               ///< `--directory`
  bool json = false;
};

/// Shows, tries and tests the rules about what an agent may do.
struct PolicyOptions {
  enum class Verb : std::uint8_t { kShow, kCheck, kTest, kExplain };
  app::Place place;
  Verb verb = Verb::kShow;
  std::vector<std::string> words;  ///< an agent, a tool and arguments; files; or a run and a call
  std::string at;                  ///< the time of the call that is checked; empty: now
  std::uint32_t calls = 0;         ///< that have begun before it
  bool json = false;
};

/// Shows and tries the MCP servers of an agent, or offers agents as an MCP server.
struct McpCommandOptions {
  enum class Verb : std::uint8_t {
    kList,
    kTest,
    kCall,
    kAccept,
    kPrompts,
    kLogin,
    kLogout,
    kAdd,
    kRemove,
    kServe
  };
  app::Place place;
  Verb verb = Verb::kList;
  std::vector<std::string> words;  ///< an agent, for call and accept tools as well; for serve agents
  std::string model;
  bool open = false;  ///< for login: open the address in the browser
  bool allow_home = false;
  bool json = false;
};

/// Is the agent of an editor.
struct AcpOptions {
  app::Place place;
  std::string agent;
  std::string model;
  bool allow_home = false;
};

/// Runs the cases of a suite, or adds one.
struct EvalOptions {
  app::Place place;
  std::vector<std::string> words;  ///< the suite; or `add`, a run and a suite
  std::vector<std::string> tags;   ///< only cases with one of them; empty: all
  std::string model;
  std::size_t jobs = 4;
  std::string round;
  std::optional<MicroUsd> max_usd;
  std::optional<double> threshold;
  std::string baseline, junit, html;  ///< files; empty: none
  bool replay = false;                ///< makes recorded runs again, off-line
  bool allow_home = false;
  bool quiet = false;
  bool json = false;
};

/// Measures the runs of a journal.
struct StatsOptions {
  app::Place place;
  app::StatsBy by = app::StatsBy::kAll;
  std::optional<Millis> since;
  std::string html;  ///< a file; empty: none
  bool json = false;
};

/// Sends the spans of runs to a collector, or writes them.
struct TracesOptions {
  app::Place place;
  std::vector<std::string> words;  ///< `export` and a run
  std::string endpoint;            ///< empty: as configured
  std::string file;                ///< `-`: standard output; empty: they are sent
  std::string format;              ///< `json`, `protobuf`; empty: as configured, in files JSON
  std::string names;               ///< empty: as configured
  bool metrics = false;            ///< metrics instead of spans in the file
  bool content = false;
  bool json = false;
};

/// Prints what the last of these words can become, for a shell.
struct CompleteOptions {
  ProgramText program;
  std::vector<std::string> words;  ///< after the program's name
};

/// Prints help, the version, a completion script or the man page.
struct PrintText {
  std::string text;
  bool is_help = false;  ///< fits itself into the width of a terminal
};

using Invocation =
    std::variant<PrintText, RunOptions, ChatOptions, AgentsOptions, ResumeOptions, ApproveOptions,
                 TreeOptions, TreeCommandOptions, RunsOptions, RunsLabelOptions, RunsRemoveOptions,
                 ShowOptions, LogsOptions, ForkOptions, RewindOptions, DiffOptions, UndoOptions,
                 ReplayOptions, ExportOptions, ImportOptions, ModelsOptions, DoctorOptions, TrustOptions,
                 ConfigOptions, ServeOptions, ApiOptions, MemoryCommandOptions, PromptsOptions,
                 ScheduleOptions, McpCommandOptions, AcpOptions, SkillsOptions, PolicyOptions, RedactOptions,
                 EvalOptions, StatsOptions, AuditOptions, JournalOptions, TokensOptions, SecretsOptions,
                 TracesOptions, CompleteOptions, TopicOptions>;

}  // namespace praxis::cli
