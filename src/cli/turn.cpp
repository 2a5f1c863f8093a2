#include "cli/turn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/envelope.hpp"
#include "cli/pending_text.hpp"
#include "cli/progress.hpp"
#include "cli/questions.hpp"
#include "cli/values.hpp"

namespace praxis::cli {
namespace {

std::string sum_of(const AgentResult& result) {
  const Usage all = result.usage + result.usage_children;
  return fmt::format("{} {}, {}, {} tokens, {}", result.steps, result.steps == 1 ? "step" : "steps",
                     show_duration(result.duration), all.total(), show_usd(all.cost));
}

/// How the turn ended and how to resume it.
std::string ending(const Workspace& workspace, const AgentResult& result) {
  std::string text;
  if (result.reason) text = fmt::format("{}: {}\n", to_string(*result.reason), sum_of(result));
  for (const std::string& denial : result.denials) text += fmt::format("denied: {}\n", one_line(denial, 200));
  for (const std::string& warning : result.warnings)
    text += fmt::format("warning: {}\n", one_line(warning, 200));
  text += pending_text(workspace, result);
  text += fmt::format("run {}\n", result.session.str());
  if (!workspace.keeps_runs()) return text;
  const std::string resume = resume_command(workspace, result.session);
  if (result.reason) return text + fmt::format("resume: {} \"PROMPT\"\n", resume);
  return result.pending.empty() ? text + fmt::format("resume: {}\n", resume) : text;
}

/// Writes the JSON envelope or the ending; returns the exit status.
ExitStatus tell(const Result<AgentResult>& result, const SessionId& session, const Workspace& workspace,
                const TurnOutput& output, int signal, Console& console) {
  if (output.json) console.json(result ? envelope(*result) : envelope(result.error(), session));
  if (!result) return console.report(result.error(), signal);
  ExitStatus status = exit_status(*result, signal);
  if (!output.file.empty()) {
    if (auto written = write_file(output.file, result->text); !written)
      status = console.report(written.error());
  }
  if (result->error) console.report(*result->error);
  console.err.write(ending(workspace, *result));
  return status;
}

}  // namespace

Result<std::shared_ptr<Runtime>> open_runtime(const Workspace& workspace, const TurnOutput& output) {
  auto journal = open_journal(workspace, JournalUse::kWrite);
  if (!journal) return fail(journal.error());
  auto catalog = open_catalog(workspace);
  if (!catalog) return fail(catalog.error());
  RuntimeOptions options;
  options.journal = *std::move(journal);
  options.catalog = *std::move(catalog);
  options.stream = output.stream;
  options.record_to = output.record_to;
  options.suspend_when_waiting = workspace.config.get("suspend") == "true";
  return Runtime::create(std::move(options));
}

AgentFileOptions agent_file_options(const Workspace& workspace, const Runtime& runtime) {
  AgentFileOptions options;
  options.http = runtime.http();
  options.default_model = workspace.config.get("model");
  options.remembered = remembered_rules();
  return options;
}

Status check_output(const TurnOutput& output) {
  if (output.file.empty()) return {};
  const int fd = open(output.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return fail(usage_error(fmt::format("cannot write \"{}\": {}", output.file, std::strerror(errno))));
  close(fd);
  return {};
}

Result<std::string> read_prompt(const std::string& prompt) {
  auto text = prompt == "-" ? read_input("-") : Result<std::string>(prompt);
  if (!text || text->find_first_not_of(" \t\r\n") != std::string::npos) return text;
  return fail(usage_error(prompt == "-" ? "standard input holds no prompt" : "the prompt is empty"));
}

void remember_folder(Agent& agent) {
  const Json& given = agent.spec().metadata;
  JsonObject metadata = given.is_object() ? given.get_object() : JsonObject{};
  metadata["folder"] = std::filesystem::current_path().string();
  agent.metadata(std::move(metadata));
}

ExitStatus follow(Run run, Runtime& runtime, const Workspace& workspace, const TurnOutput& output,
                  Interrupts& interrupts, Console& console) {
  interrupts.on_first([run]() mutable { run.interrupt(); });
  std::optional<Progress> progress;
  std::shared_ptr<Questions> questions;
  if (!output.json) progress.emplace(console, run.session_id(), runtime.journal());
  if (progress && Questions::can_ask(console)) {
    questions = std::make_shared<Questions>(console, *progress);
    runtime.set_approval_handler([questions](const ParkedStep& step, const std::stop_token& stop) {
      return questions->ask(step, stop);
    });
  }
  for (const Event& event : run) {
    if (progress) {
      progress->show(event);
    } else {
      console.json(to_json(event));
    }
  }
  const auto result = run.result();
  if (questions) {
    runtime.set_approval_handler(nullptr);
    questions->close();
  }
  if (progress && result) progress->finish(*result);
  progress.reset();
  return tell(result, run.session_id(), workspace, output, interrupts.received(), console);
}

}  // namespace praxis::cli
