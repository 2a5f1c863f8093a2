#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/envelope.hpp"
#include "cli/turn.hpp"
#include "cli/values.hpp"
#include "praxis/runtime/agent_file.hpp"

namespace praxis::cli {
namespace {

/// The decisions on the command line. Error `kInput`.
Result<Decisions> decisions_of(const ResumeOptions& options) {
  Decisions decisions;
  for (const std::string& park : options.allow) decisions.emplace_back(ParkId(park), allow());
  for (const std::string& park : options.deny) decisions.emplace_back(ParkId(park), deny(options.reason));
  for (const std::string& text : options.edit) {
    auto edited = parse_assignment(text);
    if (!edited) return fail(edited.error());
    auto arguments = read_input(edited->second);
    if (!arguments) return fail(arguments.error());
    decisions.emplace_back(ParkId(edited->first), edit(*std::move(arguments)));
  }
  for (const std::string& text : options.answer) {
    auto answered = parse_assignment(text);
    if (!answered) return fail(answered.error());
    decisions.emplace_back(ParkId(answered->first), ask(answered->second));
  }
  return decisions;
}

/// Goes back to where the run was started, so that relative paths of its agent and model mean the same again.
Status enter_folder(const AgentSpec& spec) {
  const std::string folder = json_string(spec.metadata, "folder");
  if (folder.empty() || chdir(folder.c_str()) == 0) return {};
  return fail(usage_error(
      fmt::format("the run was started in \"{}\", which cannot be entered: {}", folder, std::strerror(errno)),
      "name the folder to work in with -C DIR"));
}

/// The agent of the run: its recorded description with the tools of its file.
Result<Agent> agent_of(const AgentSpec& spec, const ResumeOptions& options, const Runtime& runtime) {
  const std::string file = options.agent.empty() ? json_string(spec.metadata, "agent_file") : options.agent;
  const std::string& model = options.model.empty() ? spec.model : options.model;
  if (file.empty()) {
    if (!spec.tools.empty()) {
      return fail(usage_error(
          fmt::format("the run's agent \"{}\" has tools, and no agent file is recorded that brings them",
                      spec.id),
          "name it with --agent FILE"));
    }
    Agent agent(spec);
    return agent.model(model);
  }
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) {
    return fail(
        usage_error(fmt::format("the run's agent file \"{}\" is gone", file), "name it with --agent FILE"));
  }
  AgentFileOptions file_options;
  if (spec.plan.is_null() || !options.model.empty()) file_options.model = model;
  file_options.http = runtime.http();
  auto agent = load_agent_file(file, file_options);
  if (!agent) return agent;
  agent->limits(spec.limits);
  remember_folder(*agent);
  return agent;
}

/// Nothing to carry on, decide or say: tells what the run waits for, if anything.
Result<ExitStatus> tell_state(const StoredSession& stored, const Workspace& workspace, bool json,
                              Console& console) {
  const AgentResult result = result_of(stored.state);
  if (result.pending.empty()) {
    return fail(
        usage_error(fmt::format("run {} has no turn to carry on", stored.id.str()),
                    fmt::format("{} \"PROMPT\" starts another", resume_command(workspace, stored.id))));
  }
  if (json) console.json(envelope(result));
  console.err.write(pending_text(workspace, result));
  return ExitStatus::kParked;
}

}  // namespace

Result<ExitStatus> execute(const ResumeOptions& options, Console& console) {
  Interrupts interrupts;
  auto workspace = open_workspace(options.place);
  if (!workspace) return fail(workspace.error());
  if (auto writable = check_output(options.output); !writable) return fail(writable.error());
  auto decisions = decisions_of(options);
  if (!decisions) return fail(decisions.error());
  std::string prompt;
  if (options.prompt) {
    auto text = read_prompt(*options.prompt);
    if (!text) return fail(text.error());
    prompt = *std::move(text);
  }

  auto stored = open_session(*workspace, options.id, JournalUse::kLook);
  if (!stored) return fail(stored.error());
  const bool waits = stored->state.status() == SessionStatus::kAwaitingUser && decisions->empty();
  const bool has_turn = stored->state.turn.has_value() || !stored->state.queue.empty();
  if (!options.prompt && (waits || !has_turn))
    return tell_state(*stored, *workspace, options.output.json, console);

  TurnOutput output = options.output;
  for (std::string* path : {&output.file, &output.record_to}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).string();
  }
  ResumeOptions from = options;
  if (!from.agent.empty()) from.agent = std::filesystem::absolute(from.agent).string();
  if (options.place.folder.empty()) {
    if (auto entered = enter_folder(*stored->state.agent); !entered) return fail(entered.error());
  }
  auto runtime = open_runtime(*workspace, output);
  if (!runtime) return fail(runtime.error());
  auto agent = agent_of(*stored->state.agent, from, **runtime);
  if (!agent) return fail(agent.error());
  auto session = (*runtime)->open_session(stored->id, *agent, options.force);
  if (!session) {
    const bool held = json_string(session.error().detail, "kind") == "lease_held";
    return fail(held ? with_hint(session.error(), "--force takes it over") : session.error());
  }
  Run run = options.prompt ? session->send_user_message(std::move(prompt)) : session->carry_on(*decisions);
  return follow(std::move(run), *workspace, output, interrupts, console);
}

}  // namespace praxis::cli
