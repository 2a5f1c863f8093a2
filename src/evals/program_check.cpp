#include "evals/program_check.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stop_token>
#include <string_view>
#include <utility>

#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "praxis/json/json.hpp"
#include "praxis/process/process.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::evals {
namespace {

constexpr const char* kProgramPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
constexpr std::size_t kMostReason = 200;  // columns of what a program says

/// What the program reads.
std::string question_of(const EvalCase& test, const AgentResult& result) {
  JsonArray calls;
  for (const ActionResult& action : result.actions) {
    calls.emplace_back(JsonObject{{"tool", action.tool},
                                  {"arguments", app::program_arguments(action.arguments)},
                                  {"outcome", to_string(action.outcome)},
                                  {"result", action.result}});
  }
  return to_json_text(JsonObject{{"case", test.id},
                                 {"prompt", test.prompt},
                                 {"expected", test.expected},
                                 {"answer", result.text},
                                 {"structured", result.structured},
                                 {"calls", std::move(calls)},
                                 {"steps", result.steps},
                                 {"run_id", result.session.str()}});
}

ProcessSpec process_of(const checks::Program& check, std::string input, const ProgramPlace& place) {
  ProcessSpec spec;
  spec.argv = check.argv;
  spec.environment = {{"PATH", kProgramPath}, {"LANG", "C.UTF-8"}, {"TERM", "dumb"}};
  spec.folder = place.folder;
  spec.input = std::move(input);
  spec.limits.wall_time = check.timeout;
  spec.limits.memory_bytes = std::uint64_t{4} << 30;
  spec.limits.processes = 256;
  spec.limits.file_bytes = std::uint64_t{1} << 30;
  spec.limits.open_files = 1024;
  Sandbox sandbox;
  sandbox.readable = {place.folder};
  sandbox.hide = place.hide;
  spec.sandbox = std::move(sandbox);
  return spec;
}

std::string_view last_line(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const auto begin = text.rfind('\n');
  return begin == std::string_view::npos ? text : text.substr(begin + 1);
}

std::string how_it_ended(const ProcessResult& ended) {
  switch (ended.end) {
    case ProcessEnd::kExited:
      return fmt::format("exit status {}", ended.exit_code);
    case ProcessEnd::kTimedOut:
      return fmt::format("it took longer than {} ms", ended.duration.count());
    case ProcessEnd::kSignalled:
      return fmt::format("ended by signal {}", ended.signal);
    default:
      return std::string(to_string(ended.end));
  }
}

}  // namespace

Result<std::optional<std::string>> problem_by_program(const checks::Program& check, const EvalCase& test,
                                                      const AgentResult& result, const ProgramPlace& place) {
  auto process = start_process(process_of(check, question_of(test, result), place));
  if (!process) return fail(process.error());
  const auto ended = process->wait(std::stop_token());
  if (!ended) return fail(ended.error());
  const std::string out = ended->out.text(), err = ended->err.text();
  const bool exits_well = ended->end == ProcessEnd::kExited && ended->exit_code == 0;
  const auto verdict = parse_json(last_line(out));
  const bool has_verdict = verdict && json_at(*verdict, "pass").is_bool();
  if (exits_well && (!has_verdict || json_bool(*verdict, "pass"))) return std::nullopt;
  std::string reason = has_verdict ? json_string(*verdict, "reason") : "";
  if (reason.empty()) reason = std::string(last_line(err.empty() ? out : err));
  std::string problem = "program: ";
  problem += exits_well ? "it does not accept the answer" : how_it_ended(*ended);
  if (!reason.empty()) problem += ": " + app::one_line(reason, kMostReason);
  return problem;
}

}  // namespace praxis::evals
