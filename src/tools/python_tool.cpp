#include "praxis/tools/python_tool.hpp"

#include <memory>
#include <utility>

#include "base/visible_text.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/process/process.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/python_bridge.hpp"

namespace praxis {
namespace {

constexpr const char* kPythonDescription =
    "Runs Python code and gives back what it prints and the value of its last expression. Without import it "
    "can use "
    "call(tool, **arguments) -> structured result or text of another tool of yours, and each of those tools "
    "as a "
    "function of that name with arguments by name; gather([(tool, arguments), ...]) -> results of several "
    "calls made "
    "at once; fork(prompt) -> a copy of you, with this conversation, at work on the prompt; wait(fork) or "
    "wait([fork, ...]) -> its answer; tools, a list of names. A call that fails raises ToolError.";

struct RunCodeRequest {
  arg<std::string, "The program"> code;
};
PRAXIS_FIELDS(RunCodeRequest, code)

constexpr std::uint64_t kOpenFiles = 1024;  ///< descriptors of each process

ProcessSpec process_of(const PythonToolOptions& options) {
  ProcessSpec spec;
  spec.argv = {options.interpreter, "-"};
  spec.input = python_bridge_program();
  // The complete environment of the code. A fixed hash seed makes code that runs again take the same path.
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                      {"HOME", options.folder},
                      {"LANG", "C.UTF-8"},
                      {"PYTHONUTF8", "1"},
                      {"PYTHONHASHSEED", "0"},
                      {"PYTHONNOUSERSITE", "1"},
                      {"PYTHONUNBUFFERED", "1"},
                      {"PYTHONDONTWRITEBYTECODE", "1"}};
  spec.folder = options.folder;
  spec.channel = true;
  spec.limits.cpu = options.cpu;
  spec.limits.memory_bytes = options.memory_bytes;
  spec.limits.processes = options.processes;
  spec.limits.file_bytes = options.file_bytes;
  spec.limits.open_files = kOpenFiles;
  spec.limits.output_bytes = options.output_bytes;
  spec.sandbox = options.sandbox;
  return spec;
}

std::string first_line(const ToolContext& context, const std::string& code) {
  std::vector<std::string> names;
  for (const Tool& tool : context.tools()) {
    if (tool.definition.name != kPythonToolName) names.push_back(tool.definition.name);
  }
  return python_start_line(code, names, context.idempotency_key);
}

std::unexpected<Error> failed(ErrorKind kind, std::string why, const ProcessResult& run) {
  const auto add = [&](std::string_view title, const ProcessOutput& output) {
    if (output.total_bytes != 0)
      why.append("\n").append(title).append("\n").append(visible_text(output.text()));
  };
  add("It reported:", run.err);
  add("It printed:", run.out);
  return fail(ErrorCode::kTool, kind, std::move(why));
}

/// The signal that ended the code; 0 if none. The sandbox reports it like a shell, as 128 plus the signal.
int signal_of(const ProcessResult& run) {
  constexpr int kSignalled = 128, kLastSignal = 64;
  const bool by_sandbox = run.exit_code > kSignalled && run.exit_code <= kSignalled + kLastSignal;
  return by_sandbox ? run.exit_code - kSignalled : run.signal;
}

std::string how_it_ended(const ProcessResult& run, const PythonToolOptions& options) {
  if (run.end == ProcessEnd::kOutOfMemory) {
    return "was ended: its processes held more than " + std::to_string(options.memory_bytes >> 20) +
           " MiB of memory";
  }
  const int signal = signal_of(run);
  if (signal == 0) return "exited with status " + std::to_string(run.exit_code);
  return "was ended by signal " + std::to_string(signal) + "; it may use " +
         std::to_string(options.cpu.count()) + " s of processor time and " +
         std::to_string(options.memory_bytes >> 20) + " MiB of memory";
}

Result<ToolOutput> python_output(const Status& served, ProcessResult run, const PythonToolOptions& options) {
  const bool is_late =
      run.end == ProcessEnd::kTimedOut ||
      (!served && served.error().code == ErrorCode::kLimit && served.error().kind() == ErrorKind::kTimeout);
  if (is_late) {
    return failed(
        ErrorKind::kTimeout,
        "The code was stopped: it ran for longer than " + std::to_string(options.time.count()) + " ms.", run);
  }
  if (!served && served.error().code == ErrorCode::kCancelled)
    return fail(with_reach(served.error(), Reach::kSent));
  if (!served)
    return failed(ErrorKind::kProtocol, "The code was stopped: " + served.error().message + ".", run);
  if (run.end == ProcessEnd::kCancelled)
    return fail(with_reach(make_error(ErrorCode::kCancelled, "the code was stopped"), Reach::kSent));
  if (run.end != ProcessEnd::kExited || run.exit_code != 0) {
    return failed(ErrorKind::kFailed, "The code " + how_it_ended(run, options) + ".", run);
  }
  return ToolOutput{visible_text(run.out.text()), nullptr, {}, {}};
}

Result<ToolOutput> run_code(ToolContext& context, const std::string& code, const PythonToolOptions& options) {
  auto process = start_process(process_of(options));
  if (!process) return fail(std::move(process.error()));
  PythonBridge bridge(context, process->channel(), options.time, first_line(context, code));
  const Status served = bridge.serve();
  if (!served) process->kill();
  auto run = process->wait(context.stop, bridge.deadline());
  if (!run) return fail(with_reach(std::move(run.error()), Reach::kSent));
  return python_output(served, *std::move(run), options);
}

}  // namespace

Tool python_tool(PythonToolOptions options) {
  const auto shared = std::make_shared<const PythonToolOptions>(std::move(options));
  Tool tool = make_tool(kPythonToolName, kPythonDescription,
                        [shared](ToolContext& context, const RunCodeRequest& request) {
                          return run_code(context, request.code, *shared);
                        });
  tool.definition.idempotent = true;  // what it asked for is not done twice
  tool.definition.safe_by_default = false;
  tool.definition.timeout = Millis{0};  // enforces its own limit, which excludes waiting
  return tool;
}

}  // namespace praxis
