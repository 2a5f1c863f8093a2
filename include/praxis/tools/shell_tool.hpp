// The `shell` tool: runs programs of the machine, always inside the sandbox (praxis/process/sandbox.hpp).
#pragma once

#include <string>
#include <vector>

#include "praxis/process/process.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct ShellToolOptions {
  std::string folder;                 ///< working directory, absolute; writable
  std::vector<std::string> writable;  ///< additional writable folders
  std::vector<std::string> readable;  ///< readable folders and files, in addition to the system's programs
  std::vector<std::string> protect;   ///< further paths that stay read-only, as in `Sandbox`
  std::vector<std::string> hide;      ///< as in `Sandbox`
  std::vector<std::string> no_links_below;  ///< as in `Sandbox`
  std::vector<std::string> programs;  ///< names or paths that may be started, compared literally; empty: any
  bool shell_strings = false;         ///< also accept `command`, run by `sh -c`, which can start any program
  std::vector<std::string> environment;  ///< names of the environment variables to pass on; no others are
  std::function<Status(std::map<std::string, std::string>& environment)> prepare;  ///< as in `McpProgram`
  std::string proxy_socket;  ///< as in `Sandbox`; empty: no network
  ProcessLimits limits = shell_limits();

  /// Two minutes, 4 GiB of address space, 256 processes, files of 1 GiB, 64 KiB kept of each output.
  static ProcessLimits shell_limits();
};

/// Takes `{argv, stdin?, timeout_ms?}` and returns the exit status, standard output and standard error, and
/// how much was omitted. Control characters are made visible. A program that exits with an error is a result,
/// not a tool error. Neither safe by default nor idempotent. Errors of a call: `kPolicy` (the sandbox cannot
/// be set up, or the program is not allowed), `kTool` (the program cannot be started), `kCancelled`.
Tool shell_tool(ShellToolOptions options);

}  // namespace praxis
#pragma GCC visibility pop
