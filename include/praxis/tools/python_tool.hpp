// The `python` tool: runs code that a model wrote in the machine's Python interpreter, in a separate process.
// The code can call the agent's tools and fork the agent. docs/python-tool.md describes this for authors of
// such code.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "praxis/base/time.hpp"
#include "praxis/process/sandbox.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct PythonToolOptions {
  std::string interpreter = "/usr/bin/python3";  ///< 3.8 or newer
  std::string folder = "/tmp";  ///< working directory; inside a sandbox /tmp is empty and temporary
  /// What the code can access. `std::nullopt`: no sandbox; the code can do all that our own user can.
  std::optional<Sandbox> sandbox = Sandbox{};
  /// Wall time that the code itself may take. The clock stops while the code waits for the answer to a
  /// request, which includes waiting for a human decision.
  Millis time{60'000};
  std::chrono::seconds cpu{60};                     ///< CPU time per process
  std::uint64_t memory_bytes = 1024 * 1024 * 1024;  ///< address space per process
  std::uint64_t processes = 64;                     ///< processes and threads; enforced in a sandbox
  std::uint64_t file_bytes = 256 * 1024 * 1024;     ///< maximum size of each written file
  std::size_t output_bytes = 32 * 1024;  ///< how much of its output is kept, head and tail together
};

/// Runs `code`; its output and the value of a last expression are the result. After a crash of the host
/// process, the code runs again from the start, and the journal answers the calls that it had already made.
/// Not safe by default: a rule must allow it. A call fails with `kPolicy` if the sandbox cannot be set up.
Tool python_tool(PythonToolOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
