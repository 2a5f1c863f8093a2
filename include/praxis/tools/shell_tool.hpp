// The `shell` tool: programs of the machine, run in the box (praxis/process/sandbox.hpp) and never outside
// it.
#pragma once

#include <string>
#include <vector>

#include "praxis/process/process.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

struct ShellToolOptions {
  std::string folder;                 ///< where programs run, absolute; writable
  std::vector<std::string> writable;  ///< further folders
  std::vector<std::string> readable;  ///< folders and files, besides the system's programs
  std::vector<std::string> protect;   ///< what stays read-only within, besides what `Box` protects always
  std::vector<std::string> programs;  ///< names or paths that may be started, spelt so; empty means any
  bool shell_strings = false;         ///< also takes `command`, run by `sh -c`, which can start any program
  std::vector<std::string> environment;  ///< names of our variables that are passed on; of no others
  std::string proxy_socket;              ///< as in `Box`; empty: no network
  ProcessLimits limits = shell_limits();

  /// Two minutes, 4 GiB of address space, 256 processes, files of 1 GiB, 64 KiB kept of each output.
  static ProcessLimits shell_limits();
};

/// Takes `{argv, stdin?, timeout_ms?}` and gives exit status, standard output and standard error with what
/// was left out; control characters are made visible. A program that fails is a result, not an error. Neither
/// safe by default nor idempotent. Errors of a call: `kPolicy`, the box cannot be built or the program is not
/// allowed; `kTool`, it cannot be started; `kCancelled`.
Tool shell_tool(ShellToolOptions options);

}  // namespace praxis
