// The `python` tool: runs code that a model wrote in this machine's interpreter, in a process of its own, and
// lets the code call the agent's tools and fork the agent. docs/python-tool.md is for those who write such
// code.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "praxis/base/time.hpp"
#include "praxis/process/sandbox.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

struct PythonToolOptions {
  std::string interpreter = "/usr/bin/python3";  ///< 3.8 or newer
  std::string folder = "/tmp";                   ///< where the code runs; in a box /tmp is empty and passes
  /// What the code may reach. Nothing: no box at all, for code that may do whatever our own user may.
  std::optional<Box> box = Box{};
  /// In which the code works by itself: while an answer to one of its requests is due, a person's decision
  /// included, this time stands still.
  Millis time{60'000};
  std::chrono::seconds cpu{60};                     ///< of processor time, of each process
  std::uint64_t memory_bytes = 1024 * 1024 * 1024;  ///< of address space, of each process
  std::uint64_t processes = 64;                     ///< and threads, in a box
  std::uint64_t file_bytes = 256 * 1024 * 1024;     ///< of each file written
  std::size_t output_bytes = 32 * 1024;             ///< of what it prints, head and tail together
};

/// Runs `code`; what it prints, and the value of a last expression, is the result. After a crash of ours the
/// code runs again from the top, and the calls that it had made are answered from the journal. Not safe by
/// default: a rule has to allow it. A call is an error of code `kPolicy` when the box cannot be built.
Tool python_tool(PythonToolOptions options = {});

}  // namespace praxis
