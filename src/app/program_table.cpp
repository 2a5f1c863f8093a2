#include "app/program_table.hpp"

#include <cstdlib>
#include <utility>

#include "app/sandboxed_tools.hpp"
#include "app/setting_key.hpp"
#include "app/values.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramPath = "/usr/local/bin:/usr/bin:/bin";
constexpr const char* kProgramHome = "/tmp";       ///< of the sandbox; deleted at the end
constexpr std::int64_t kProgramMemoryMb = 16'384;  ///< address space, of which some runtimes reserve a lot
constexpr std::size_t kKeptReport = 4096;
constexpr std::uint64_t kMebi = std::uint64_t{1024} * 1024;
constexpr std::uint64_t kProgramProcesses = 256;
constexpr std::uint64_t kProgramOpenFiles = 1024;

/// Sets the variables of a program, and returns what adds those with secrets before a start.
Result<std::function<Status(std::map<std::string, std::string>&)>> set_variables(
    const SecretTable& table, McpProgram& program, std::map<std::string, std::string> given) {
  auto variables = variables_of_table(table, &given);
  if (!variables) return fail(std::move(variables.error()));
  program.environment = std::move(given);
  program.environment.merge(std::map<std::string, std::string>{
      {"PATH", kProgramPath}, {"LANG", "C.UTF-8"}, {"HOME", kProgramHome}});
  for (const std::string& name : variables->passed_on) {
    if (const char* value = std::getenv(name.c_str())) program.environment[name] = value;
  }
  return std::move(variables->prepare);
}

/// Gives the sandbox the folders of the table, and the program its working folder.
Status set_folders(const SecretTable& table, const std::string& folder, const ProgramBounds& bounds,
                   McpProgram& program, Sandbox& sandbox) {
  const Json& json = table.document.at(table.path);
  for (auto [key, list] : {std::pair{"read", &sandbox.readable}, {"write", &sandbox.writable}}) {
    const Json& paths = json_at(json, key);
    if (auto checked = bounds.check_granted(table.path + '.' + key, texts_of(paths)); !checked)
      return checked;
    *list = paths_of(paths, bounds.start);
  }
  program.folder = kProgramHome;
  if (!folder.empty()) {
    if (auto checked = bounds.check_granted(table.path + ".folder", {folder}); !checked) return checked;
    program.folder = (bounds.start / folder).lexically_normal();
    sandbox.readable.push_back(program.folder);
  }
  sandbox.protect = bounds.files.protect;
  sandbox.hide = bounds.files.hide;
  sandbox.no_links_below = bounds.files.no_links_below;
  return {};
}

}  // namespace

Result<McpProgram> program_of_table(const SecretTable& table, const std::string& folder,
                                    std::vector<std::string> argv, std::map<std::string, std::string> given,
                                    const ProgramBounds& bounds) {
  McpProgram program;
  program.argv = std::move(argv);
  auto secrets = set_variables(table, program, std::move(given));
  if (!secrets) return fail(std::move(secrets.error()));
  program.limits.processes = kProgramProcesses;
  program.limits.open_files = kProgramOpenFiles;
  program.limits.output_bytes = kKeptReport;
  const auto memory = json_int(table.document.at(table.path), "max_memory_mb", kProgramMemoryMb);
  program.limits.memory_bytes = static_cast<std::uint64_t>(memory) * kMebi;
  Sandbox sandbox;
  if (auto set = set_folders(table, folder, bounds, program, sandbox); !set)
    return fail(std::move(set.error()));
  auto way = sandbox_way_out(table.document, table.path);
  if (!way) return fail(std::move(way.error()));
  sandbox.proxy_socket = way->socket;
  program.prepare = [open = std::move(way->open), secrets = *std::move(secrets)](
                        std::map<std::string, std::string>& environment) -> Status {
    if (auto opened = open ? open() : Status{}; !opened) return opened;
    return secrets ? secrets(environment) : Status{};
  };
  program.sandbox = std::move(sandbox);
  return program;
}

}  // namespace praxis::app
