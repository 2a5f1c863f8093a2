#include "cli/app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <utility>

#include "app/hints.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/acp_flags.hpp"
#include "cli/agents_flags.hpp"
#include "cli/api_flags.hpp"
#include "cli/audit_flags.hpp"
#include "cli/branch_flags.hpp"
#include "cli/built_from.hpp"
#include "cli/chat_flags.hpp"
#include "cli/config_flags.hpp"
#include "cli/console.hpp"
#include "cli/description.hpp"
#include "cli/doctor_flags.hpp"
#include "cli/eval_flags.hpp"
#include "cli/files_flags.hpp"
#include "cli/journal_flags.hpp"
#include "cli/mcp_flags.hpp"
#include "cli/memory_flags.hpp"
#include "cli/models_flags.hpp"
#include "cli/parse_words.hpp"
#include "cli/policy_flags.hpp"
#include "cli/prompts_flags.hpp"
#include "cli/redact_flags.hpp"
#include "cli/runs_flags.hpp"
#include "cli/schedule_flags.hpp"
#include "cli/secrets_flags.hpp"
#include "cli/serve_flags.hpp"
#include "cli/shared_options.hpp"
#include "cli/skills_flags.hpp"
#include "cli/tokens_flags.hpp"
#include "cli/traces_flags.hpp"
#include "cli/tree_words.hpp"
#include "cli/trust_flags.hpp"
#include "cli/view_flags.hpp"
#include "praxis/base/duration.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

constexpr const char* kFooter = R"(Exit status:
  0    finished
  1    the run failed
  2    usage or configuration
  3    waits for a human
  4    a rule denied a call
  5    a limit was reached
  6    provider, key or network unavailable
  7    a replay diverged
  8    an evaluation is below its threshold, or worse than its baseline
  9    the answer does not fit --schema
  130  interrupted (129: hung up, 143: terminated)

'praxis COMMAND --help' explains a command with examples, 'praxis help TOPIC' shows a
page of the documentation, 'praxis help topics' lists them.)";

/// The commands, bound to the option structs they fill.
class Definition {
 public:
  Definition();
  ProgramText describe() const;
  Result<Invocation> parse(std::span<const std::string> arguments);
  bool has_command(const std::string& name) const {
    const auto names = command_names();
    return name.starts_with('-') || std::ranges::find(names, name) != names.end();
  }

 private:
  CLI::App* command(const std::string& name, const std::string& description, const std::string& examples,
                    std::function<Result<Invocation>()> made);
  void define_run();
  void define_resume();
  void define_approve();
  void define_tree();
  void define_looking();
  void define_branching();
  void define_carrying();
  void define_help();

  Result<Invocation> unexpected_argument(const CLI::App& command, std::span<const std::string> all) const;
  std::vector<std::string> command_names() const;

  CLI::App app_{
      "Runs LLM agents durably: every step is journaled before it starts, so a run survives a crash and can "
      "be replayed, forked and rewound.",
      "praxis"};
  std::vector<std::pair<CLI::App*, std::function<Result<Invocation>()>>> commands_;

  RunOptions run_;
  ChatOptions chat_;
  AgentsOptions agents_;
  ResumeOptions resume_;
  ApproveOptions approve_;
  TreeOptions tree_;
  TreeWords tree_words_;
  RunsOptions runs_;
  RunsWords runs_words_;
  ShowOptions show_;
  LogsOptions logs_;
  ForkOptions fork_;
  RewindOptions rewind_;
  DiffOptions diff_;
  UndoOptions undo_;
  ReplayOptions replay_;
  ExportOptions export_;
  ImportOptions import_;
  ModelsOptions models_;
  DoctorOptions doctor_;
  TrustOptions trust_;
  ConfigOptions config_;
  ServeOptions serve_;
  ApiOptions api_;
  MemoryCommandOptions memory_;
  PromptsOptions prompts_;
  ScheduleOptions schedule_;
  McpCommandOptions mcp_;
  AcpOptions acp_;
  SkillsOptions skills_;
  PolicyOptions policy_;
  RedactOptions redact_;
  EvalOptions eval_;
  StatsOptions stats_;
  AuditOptions audit_;
  JournalOptions journal_;
  TokensOptions tokens_;
  SecretsOptions secrets_;
  TracesOptions traces_;
  std::string shell_;
};

// ---- the commands -----------------------------------------------------------------------------------------

Definition::Definition() {
  app_.set_version_flag("--version", std::string(built_from()), "Print the version and its parts");
  app_.footer(kFooter);
  app_.require_subcommand(1);
  define_run();
  define_resume();
  define_approve();
  define_tree();
  define_looking();
  define_branching();
  define_carrying();
  define_help();
  for (const auto& [command, made] : commands_) refuse_values_of_flags(command);
}

CLI::App* Definition::command(const std::string& name, const std::string& description,
                              const std::string& examples, std::function<Result<Invocation>()> made) {
  CLI::App* added = app_.add_subcommand(name, description);
  added->footer("Examples:\n" + examples);
  added->allow_extras();
  commands_.emplace_back(added, std::move(made));
  return added;
}

void Definition::define_run() {
  CLI::App* run = command("run", "Run one turn of an agent and print its answer",
                          "  praxis run --model openai:gpt-5-mini \"Explain WebSockets\"\n"
                          "  praxis run reviewer.toml \"Review the last commit\" --max-usd 0.50\n"
                          "  git diff | praxis run reviewer \"Review this change\" -o review.md\n"
                          "  praxis run \"Whose face is this?\" --attach photo.jpg --schema person.json\n"
                          "  praxis run reviewer \"Check the docs\" --json | jq -r .event",
                          [this] { return Invocation(run_); });
  run->add_option("AGENT", run_.first,
                  "Agent file (NAME.toml), or name of an agent, as praxis agents lists them; otherwise "
                  "this is the prompt")
      ->type_name("");
  run->add_option("PROMPT", run_.second,
                  "The task of the agent; '-' reads it from standard input. Text from a pipe or file "
                  "on standard input follows any other prompt as a block of its own")
      ->type_name("");
  add_turn_output(run, run_.output);
  run->add_option("--model", run_.model,
                  "Model as PROVIDER:NAME, instead of the agent's or the configured one")
      ->type_name("MODEL");
  add_route(run, run_);
  takes_path(run->add_option("--schema", run_.schema,
                             "Require an answer in JSON that follows the JSON Schema in this file"),
             "FILE");
  add_repeated(run, "--attach", run_.attach, "Attach this image, PDF or text file to the prompt", "FILE|URL");
  add_repeated(run, "--then", run_.then, "Send this message when the turn before it has finished", "PROMPT");
  add_limits(run, run_.limits);
  add_home(run, run_.allow_home);
  add_place(run, run_.place);
  add_server(run, run_.server);
  add_chat_flags(command("chat", kChatHelp, kChatExamples, [this] { return Invocation(chat_); }), chat_);
  add_agents_flags(command("agents", kAgentsHelp, kAgentsExamples, [this] { return Invocation(agents_); }),
                   agents_);
}

void Definition::define_resume() {
  CLI::App* resume = command(
      "resume", "Resume a run: after a crash, an outage or a limit, with approvals, or with a new message",
      "  praxis resume last\n  praxis resume last --max-usd 2 --timeout 1h\n"
      "  praxis resume 01K9X --allow p1\n"
      "  praxis resume 01K9X --deny p1 -m \"not on a Friday\"\n"
      "  praxis resume 01K9X --allow p1 \"Then send it\"\n"
      "  praxis resume 01K9X --edit p1=arguments.json --answer p2=\"the blue one\"\n"
      "  praxis resume last \"And now in French\"",
      [this] { return Invocation(resume_); });
  resume->add_option("ID", resume_.id, std::string(kIdHelp) + "; without one, a terminal asks")
      ->type_name("");
  resume
      ->add_option("PROMPT", resume_.prompt,
                   "Start another turn with this message; the --schema of the last one holds for it too. "
                   "Standard input as with 'praxis run'")
      ->type_name("");
  add_repeated(resume, "--allow", resume_.allow, "Approve the parked call", "P");
  add_repeated(resume, "--deny", resume_.deny, "Reject the parked call", "P");
  add_repeated(resume, "--edit", resume_.edit, "Run the parked call with the arguments (JSON) in a file",
               "P=FILE");
  add_repeated(resume, "--answer", resume_.answer, "Answer the parked question", "P=TEXT");
  resume->add_option("-m,--reason", resume_.reason, "Reason for a rejection; the model receives it")
      ->type_name("REASON");
  add_agent(resume, resume_.agent, resume_.accept_agent);
  add_home(resume, resume_.allow_home);
  resume->add_option("--model", resume_.model, "Resume with another model")->type_name("MODEL");
  add_limits(resume, resume_.limits);
  resume->add_flag("--force", resume_.force, "Take the run over from a process that still owns it");
  add_turn_output(resume, resume_.output);
  add_place(resume, resume_.place);
  add_server(resume, resume_.server);
}

void Definition::define_approve() {
  CLI::App* approve = command(
      "approve", "Decide the steps of all runs that await a human, one after the other, or one of them",
      "  praxis approve\n"
      "  praxis approve 01K9X/p1 --allow\n"
      "  praxis approve p1 --deny -m \"not on a Friday\"\n"
      "  praxis approve 01K9X/p2 --edit arguments.json\n"
      "  praxis approve 01K9X/p3 --answer \"the blue one\"\n"
      "  praxis approve 01K9X/p1 --always",
      [this] { return Invocation(approve_); });
  approve
      ->add_option("ID", approve_.id,
                   "Step to decide: RUN/p1, last/p1, or p1 if it is unique; without a decision it is shown. "
                   "Without a step: at a terminal each one is asked about, elsewhere all are listed")
      ->type_name("");
  approve->add_flag("--allow", approve_.allow, "Approve the call");
  approve
      ->add_option(
          "--seen", approve_.seen,
          "With --allow or --always: all of a call was shown that a list cuts; DIGEST is in the command "
          "that 'praxis approve ID' prints below the whole call")
      ->type_name("DIGEST");
  approve->add_flag("--deny", approve_.deny, "Reject the call, or decline to answer");
  approve
      ->add_option("--edit", approve_.edit,
                   "Approve it with the arguments (JSON) in a file; '-' reads them from "
                   "standard input")
      ->type_name("FILE");
  approve->add_option("--answer", approve_.answer, "Answer the question")->type_name("TEXT");
  approve->add_flag("--always", approve_.always,
                    "Approve all calls with exactly these arguments from now on; shows the rule first");
  approve->add_flag("--yes", approve_.yes, "Save the rule of --always without confirmation");
  approve->add_option("-m,--reason", approve_.reason, "Reason for a rejection; the model receives it")
      ->type_name("REASON");
  add_agent(approve, approve_.agent, approve_.accept_agent);
  add_home(approve, approve_.allow_home);
  add_turn_output(approve, approve_.output);
  add_place(approve, approve_.place);
  add_server(approve, approve_.server);
}

void Definition::define_tree() {
  CLI::App* tree = command("tree", "Draw the agents of a run with their state, or send one a command",
                           "  praxis tree\n"
                           "  praxis tree last --watch\n"
                           "  praxis tree --all --json | jq 'select(.status == \"awaiting_user\") | .id'\n"
                           "  praxis tree steer 01K9X \"Look at the tests first\"\n"
                           "  praxis tree stop 01K9X",
                           [this] { return tree_command(tree_, tree_words_); });
  tree->add_option("ROOT", tree_words_.first,
                   "Run to draw (id, or 'last'); default: all runs that are not idle. Or a command: stop, "
                   "pause, unpause, steer, enqueue, withdraw, move, annotate, modify, compact, delete")
      ->type_name("");
  tree->add_option("NODE", tree_words_.node, "The target of the command: the id of a node")->type_name("");
  tree->add_option("TEXT", tree_words_.text, "Its text; withdraw: ID, move: 'ID before ID'")->type_name("");
  add_repeated(tree, "--and", tree_words_.further,
               "A further command for the node, recorded together with the first: pause, 'steer TEXT'",
               "COMMAND");
  tree->add_flag("--watch", tree_.watch, "Show changes until all agents are idle or their process has ended");
  tree->add_flag("--all", tree_.all, "Draw every run in the journal");
  add_json(tree, tree_.json, "agent, with --watch for each change");
  add_place(tree, tree_.place);
  add_server(tree, tree_.server);
}

void Definition::define_looking() {
  CLI::App* runs =
      command("runs", kRunsDescription, kRunsExamples, [this] { return runs_command(runs_, runs_words_); });
  add_runs_flags(runs, runs_, runs_words_);

  add_show_flags(command("show", "Show the conversation of a run, or its records", kShowExamples,
                         [this] { return Invocation(show_); }),
                 show_);
  add_logs_flags(command("logs", kLogsHelp, kLogsExamples, [this] { return Invocation(logs_); }), logs_);
}

void Definition::define_branching() {
  CLI::App* fork = command("fork", "Branch a run at a step; the run itself is unchanged", kForkExamples,
                           [this] { return Invocation(fork_); });
  add_fork_flags(fork, fork_);
  add_json(fork, fork_.json, kEnvelope);
  add_place(fork, fork_.place);

  CLI::App* rewind = command("rewind", "Return a conversation to the state before a turn",
                             "  praxis rewind last --to t3\n"
                             "  praxis resume last \"Let me put it differently\"",
                             [this] { return Invocation(rewind_); });
  rewind->add_option("ID[@TURN]", rewind_.id, "Run id, with the first turn to undo, such as last@t3")
      ->type_name("")
      ->required();
  rewind->add_option("--to", rewind_.turn, "First turn to undo, as listed by 'praxis show'")
      ->type_name("TURN");
  rewind->add_flag("--files", rewind_.files, "Take back what the run changed in files since then, too");
  add_json(rewind, rewind_.json, kEnvelope);
  add_place(rewind, rewind_.place);

  add_diff_flags(command("diff", kDiffHelp, kDiffExamples, [this] { return Invocation(diff_); }), diff_);
  add_undo_flags(command("undo", kUndoHelp, kUndoExamples, [this] { return Invocation(undo_); }), undo_);

  CLI::App* replay = command("replay", "Replay a run offline, or run it again with changes", kReplayExamples,
                             [this] { return Invocation(replay_); });
  add_replay_flags(replay, replay_);
  add_json(replay, replay_.json, "step of a changed replay");
  add_place(replay, replay_.place);
}

void Definition::define_carrying() {
  add_export_flags(command("export", "Write a run as JSON Lines, for import elsewhere, or its conversation",
                           kExportExamples, [this] { return Invocation(export_); }),
                   export_);

  CLI::App* read = command("import", "Read an exported run into the journal",
                           "  praxis import run.jsonl\n"
                           "  zcat run.jsonl.gz | praxis import -",
                           [this] { return Invocation(import_); });
  read->add_option("FILE", import_.file, "An export; '-' for standard input")->type_name("")->required();
  add_json(read, import_.json, kEnvelope);
  add_place(read, import_.place);
}

void Definition::define_help() {
  const auto define = [this](const char* name, const char* help, const char* examples, auto& options,
                             const auto& add_flags) {
    add_flags(command(name, help, examples, [&options] { return Invocation(options); }), options);
  };
  define("models", kModelsHelp, kModelsExamples, models_, add_models_flags);
  define("trust", kTrustHelp, kTrustExamples, trust_, add_trust_flags);
  define("config", "Show, explain and change the configuration", kConfigExamples, config_, add_config_flags);
  define("serve", kServeHelp, kServeExamples, serve_, add_serve_flags);
  define("api", kApiHelp, kApiExamples, api_, add_api_flags);
  define("memory", "Show and change what agents remember", kMemoryExamples, memory_, add_memory_flags);
  define("prompts", "Show, render and change versioned prompts", kPromptsExamples, prompts_,
         add_prompts_flags);
  define("schedule", kScheduleHelp, kScheduleExamples, schedule_, add_schedule_flags);
  define("mcp", kMcpHelp, kMcpExamples, mcp_, add_mcp_flags);
  define("acp", kAcpHelp, kAcpExamples, acp_, add_acp_flags);
  define("skills", kSkillsHelp, kSkillsExamples, skills_, add_skills_flags);
  define("policy", kPolicyHelp, kPolicyExamples, policy_, add_policy_flags);
  define("tokens", kTokensHelp, kTokensExamples, tokens_, add_tokens_flags);
  define("secrets", kSecretsHelp, kSecretsExamples, secrets_, add_secrets_flags);
  define("audit", kAuditHelp, kAuditExamples, audit_, add_audit_flags);
  define("journal", kJournalHelp, kJournalExamples, journal_, add_journal_flags);
  define("redact", kRedactHelp, kRedactExamples, redact_, add_redact_flags);
  define("eval", kEvalHelp, kEvalExamples, eval_, add_eval_flags);
  define("stats", kStatsHelp, kStatsExamples, stats_, add_stats_flags);
  define("traces", kTracesHelp, kTracesExamples, traces_, add_traces_flags);

  define("doctor", "Check configuration, journal and providers",
         "  praxis doctor\n  praxis doctor --online\n"
         "  praxis doctor --engine restate\n"
         "  praxis doctor --json | jq .checks",
         doctor_, add_doctor_flags);

  CLI::App* completion = command("completion", "Print the completion script of a shell",
                                 "  source <(praxis completion bash)\n"
                                 "  praxis completion zsh > ~/.zfunc/_praxis\n"
                                 "  praxis completion fish | source",
                                 [this]() -> Result<Invocation> {
                                   auto script = completion_script(describe(), shell_);
                                   if (!script) return fail(script.error());
                                   return PrintText{*std::move(script)};
                                 });
  completion->add_option("SHELL", shell_, "bash, zsh or fish")->type_name("")->required();

  CLI::App* man = command("man", "Print the man page", "  praxis man | man -l -",
                          [this] { return Invocation(PrintText{man_page(describe())}); });
  man->group("");
}

// ---- from arguments to a command --------------------------------------------------------------------------

/// The spellings of this option on the command line.
std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const auto& name : option.get_snames()) flags.push_back('-' + name);
  for (const auto& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

ProgramText Definition::describe() const {
  ProgramText program{"praxis", PRAXIS_VERSION, app_.get_description(), {}, kFooter};
  for (const auto& [app, made] : commands_) {
    if (app->get_group().empty()) continue;
    CommandText text{app->get_name(), app->get_description(), {}, app->get_footer()};
    for (const CLI::Option* option : app->get_options()) {
      const bool is_flag = option->get_items_expected_max() == 0;
      std::string value = option->get_positional() ? option->get_name() : option->get_type_name();
      text.options.push_back({flags_of(*option), is_flag ? "" : std::move(value), option->get_description()});
    }
    program.commands.push_back(std::move(text));
  }
  return program;
}

std::vector<std::string> Definition::command_names() const {
  std::vector<std::string> names;
  for (const auto& [app, made] : commands_) names.push_back(app->get_name());
  return names;
}

/// "; did you mean ...?", or empty.
std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = closest(word, known);
  return nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : "";
}

Result<Invocation> Definition::unexpected_argument(const CLI::App& command,
                                                   std::span<const std::string> all) const {
  const std::string argument = command.remaining().front();
  const std::string hint = fmt::format("praxis {} --help", command.get_name());
  if (!argument.starts_with('-'))
    return fail(app::usage_error(fmt::format("unexpected argument \"{}\"", argument), hint_for_rest(all)));
  const std::string flag = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    std::ranges::move(flags_of(*option), std::back_inserter(known));
  const bool is_long = flag.starts_with("--");  // one letter is like any other
  return fail(app::usage_error(
      fmt::format("unknown option \"{}\"{}", flag, is_long ? suggestion(flag, known) : ""), hint));
}

Result<Invocation> Definition::parse(std::span<const std::string> arguments) {
  const auto found =
      std::ranges::find(commands_, arguments[0], [](const auto& entry) { return entry.first->get_name(); });
  const CLI::App* named = found == commands_.end() ? nullptr : found->first;
  if (!named && !arguments[0].starts_with('-')) {
    const std::string meant = suggestion(arguments[0], command_names());
    return fail(app::usage_error(fmt::format("unknown command \"{}\"{}", arguments[0], meant),
                                 meant.empty() ? hint_for_words(arguments) : "praxis --help"));
  }
  const bool is_known_flag = arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "--version";
  if (!named && !is_known_flag)
    return fail(app::usage_error(fmt::format("the command comes first, not \"{}\"", arguments[0]),
                                 "praxis COMMAND [OPTION]...; praxis --help lists the commands"));
  const std::string hint = named ? fmt::format("praxis {} --help", named->get_name()) : "praxis --help";
  try {
    app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return PrintText{named ? named->help("praxis") : app_.help(), true};
  } catch (const CLI::CallForVersion& version) {
    return PrintText{std::string(version.what()) + '\n'};
  } catch (const CLI::ParseError& error) {
    // Reported first: an unknown argument is the likely cause of other missing arguments.
    if (named && named->remaining_size() > 0) return unexpected_argument(*named, arguments);
    return fail(app::usage_error(plain_message(error.what()), hint));
  }
  if (named->remaining_size() > 0) return unexpected_argument(*named, arguments);
  return found->second();
}

}  // namespace

Result<Invocation> parse_arguments(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    return fail(app::usage_error("no command given; try praxis run \"Explain WebSockets\"", "praxis --help"));
  }
  if (arguments[0] == "__complete")
    return CompleteOptions{Definition().describe(), {arguments.begin() + 1, arguments.end()}};
  Definition definition;
  if (arguments.size() == 2 && arguments[0] == "help" && !definition.has_command(arguments[1]))
    return TopicOptions{arguments[1]};
  return definition.parse(without_shortcuts(arguments));
}

}  // namespace praxis::cli
