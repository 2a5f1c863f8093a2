#include "praxis/tools/shell_tool.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/visible_text.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
constexpr const char* kShellDescription =
    "Runs a program in a sandbox and returns its exit status and output. `argv` is the program and its "
    "arguments, "
    "passed as they are: no shell reads them.";
/// Makes the runtime's own deadline expire after ours.
constexpr Millis kMargin{10'000};

Json schema(const ShellToolOptions& options) {
  JsonObject properties;
  properties["argv"] = {{"type", "array"},
                        {"items", {{"type", "string"}}},
                        {"minItems", 1},
                        {"description", "The program and its arguments"}};
  if (options.shell_strings) {
    properties["command"] = {{"type", "string"}, {"description", "A line for sh, instead of argv"}};
  }
  properties["stdin"] = {{"type", "string"}, {"description", "Standard input"}};
  properties["timeout_ms"] = {{"type", "integer"},
                              {"minimum", 1},
                              {"description", "The program is ended after this time; at most " +
                                                  std::to_string(options.limits.wall_time.count())}};
  JsonObject made{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!options.shell_strings) made["required"] = JsonArray{"argv"};
  return made;
}

std::string description(const ShellToolOptions& options) {
  std::string text = std::string(kShellDescription) + " It runs in " + options.folder + ".";
  if (!options.programs.empty()) {
    text += " Only these programs can be started:";
    for (const std::string& program : options.programs) text += " " + program;
  }
  text += options.proxy_socket.empty() ? " There is no network." : " The network is behind an http proxy.";
  return text;
}

std::string ending(const ProcessResult& result) {
  switch (result.end) {
    case ProcessEnd::kExited:
      return "exit status " + std::to_string(result.exit_code);
    case ProcessEnd::kSignalled:
      return "ended by signal " + std::to_string(result.signal);
    case ProcessEnd::kOutOfMemory:
      return "ended because its processes held more memory than allowed";
    default:
      return "ended after " + std::to_string(result.duration.count()) +
             " ms, because its time limit was reached";
  }
}

ToolOutput program_output(const ProcessResult& result) {
  const std::string out = visible_text(result.out.text()), err = visible_text(result.err.text());
  ToolOutput output;
  output.text = ending(result) + "\n";
  if (!out.empty()) output.text += "stdout:\n" + out + (out.ends_with('\n') ? "" : "\n");
  if (!err.empty()) output.text += "stderr:\n" + err + (err.ends_with('\n') ? "" : "\n");
  output.value = {{"end", to_string(result.end)},
                  {"exit_code", result.exit_code},
                  {"signal", result.signal},
                  {"stdout", out},
                  {"stderr", err},
                  {"stdout_bytes", result.out.total_bytes},
                  {"stderr_bytes", result.err.total_bytes},
                  {"duration_ms", result.duration.count()}};
  return output;
}

/// Thread-safe.
class Shell {
 public:
  explicit Shell(ShellToolOptions options) : options_(std::move(options)) {}

  Result<ToolOutput> run(const ToolContext& context, const Json& arguments) const {
    auto argv = argv_of(arguments);
    if (!argv) return fail(std::move(argv.error()));
    ProcessSpec spec;
    spec.argv = std::move(*argv);
    spec.environment = environment();
    if (options_.prepare) {
      if (auto prepared = options_.prepare(spec.environment); !prepared)
        return fail(with_reach(std::move(prepared.error()), Reach::kNotSent));
    }
    if (!context.trace.trace.empty()) spec.environment["TRACEPARENT"] = traceparent(context.trace);
    if (!context.trace.state.empty()) spec.environment["TRACESTATE"] = context.trace.state;
    spec.folder = options_.folder;
    spec.input = json_text(arguments, "stdin");
    spec.limits = options_.limits;
    if (const Json& timeout = json_at(arguments, "timeout_ms"); timeout.is_int64()) {
      spec.limits.wall_time = std::min(spec.limits.wall_time, Millis(timeout.as_int64()));
    }
    spec.sandbox = sandbox();
    auto process = start_process(spec);
    if (!process) return fail(std::move(process.error()));
    const bool is_limited = context.deadline != Clock::time_point();
    auto result = process->wait(context.stop, is_limited ? context.deadline : Clock::time_point::max());
    if (!result) return fail(with_reach(std::move(result.error()), Reach::kSent));
    if (result->end == ProcessEnd::kCancelled) {
      return fail(
          with_reach(make_error(ErrorCode::kCancelled, "the program was stopped, with all it had started"),
                     Reach::kSent));
    }
    return program_output(*result);
  }

 private:
  Result<std::vector<std::string>> argv_of(const Json& arguments) const {
    const Json &argv = json_at(arguments, "argv"), &command = json_at(arguments, "command");
    if (argv.is_array() == command.is_string())
      return fail(ErrorCode::kInput, "set either /argv or /command");
    if (command.is_string())
      return std::vector<std::string>{"/bin/sh", "-c", std::string(command.as_string())};
    std::vector<std::string> texts;
    for (const Json& text : argv.as_array()) texts.emplace_back(text.as_string());
    const auto& allowed = options_.programs;
    if (!allowed.empty() && std::ranges::find(allowed, texts.front()) == allowed.end()) {
      return fail(ErrorCode::kPolicy,
                  "\"" + texts.front() + "\" is not one of the programs that may be started");
    }
    return texts;
  }

  std::map<std::string, std::string> environment() const {
    std::map<std::string, std::string> variables{{"PATH", kPath}, {"LANG", "C.UTF-8"}, {"TERM", "dumb"}};
    for (const std::string& name : options_.environment) {
      if (const char* value = std::getenv(name.c_str())) variables[name] = value;
    }
    return variables;
  }

  Sandbox sandbox() const {
    Sandbox made;
    made.writable = options_.writable;
    made.writable.push_back(options_.folder);
    made.readable = options_.readable;
    made.protect = options_.protect;
    made.hide = options_.hide;
    made.no_links_below = options_.no_links_below;
    made.proxy_socket = options_.proxy_socket;
    return made;
  }

  const ShellToolOptions options_;
};

}  // namespace

ProcessLimits ShellToolOptions::shell_limits() {
  ProcessLimits limits;
  limits.wall_time = std::chrono::minutes(2);
  limits.memory_bytes = std::uint64_t{4} << 30;
  limits.processes = 256;
  limits.file_bytes = std::uint64_t{1} << 30;
  limits.open_files = 1024;
  return limits;
}

Tool shell_tool(ShellToolOptions options) {
  Tool tool;
  tool.definition.name = "shell";
  tool.definition.description = description(options);
  tool.definition.parameters = schema(options);
  tool.definition.timeout = options.limits.wall_time + kMargin;
  const auto shell = std::make_shared<const Shell>(std::move(options));
  tool.handler = [shell](ToolContext& context, const Json& arguments) {
    return shell->run(context, arguments);
  };
  return tool;
}

}  // namespace praxis
