// The python tool for the code of tests.
#pragma once

#include <optional>
#include <utility>

#include "praxis/tools/python_tool.hpp"

namespace praxis::testing {

/// Without a sandbox: the supervisor has its own tests, and this code is trusted.
inline Tool unsandboxed_python() {
  PythonToolOptions options;
  options.sandbox = std::nullopt;
  return python_tool(std::move(options));
}

}  // namespace praxis::testing
