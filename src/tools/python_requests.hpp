// What code in the interpreter asks of us and what it is told: the lines of the channel between us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

/// Bounds on what the code may send.
constexpr std::size_t kMaxPythonLine = 1024 * 1024;  // bytes
constexpr std::size_t kMaxOpenPythonRequests = 64;   // without an answer yet
constexpr std::size_t kMaxPythonRequests = 1000;     // in all

struct PythonCall {
  std::string tool;
  std::string arguments;  ///< JSON text of an object
};
struct PythonFork {
  std::string prompt;
};
struct PythonWait {
  std::size_t fork = 0;  ///< its number, from 1
};
struct PythonRequest {
  std::uint64_t id = 0;  ///< that its answer bears
  std::variant<PythonCall, PythonFork, PythonWait> what;
};

/// The requests of one line: a list, which belong together. Error `kTool`: it is no such line.
Result<std::vector<PythonRequest>> parse_python_requests(std::string_view line);

/// The first line that the interpreter gets, with its line end.
std::string python_start_line(const std::string& code, const std::vector<std::string>& tools,
                              const std::string& seed);
/// The line that answers a request, with its line end.
std::string python_answer_line(std::uint64_t id, const Result<Json>& answer);

/// The program that the interpreter runs: it knows this protocol and runs the code.
std::string_view python_bridge_program();

}  // namespace praxis
