// The protocol between Praxis and the Python code: lines of requests and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

/// Limits on what the code may send.
constexpr std::size_t kMaxPythonLine = 1024 * 1024;  // bytes
constexpr std::size_t kMaxOpenPythonRequests = 64;   // unanswered requests
constexpr std::size_t kMaxPythonRequests = 1000;     // requests in total

struct PythonCall {
  std::string tool;
  std::string arguments;  ///< JSON text of an object
};
struct PythonFork {
  std::string prompt;
};
struct PythonWait {
  std::size_t fork = 0;  ///< number of the fork, from 1
};
struct PythonRequest {
  std::uint64_t id = 0;  ///< repeated in the answer
  std::variant<PythonCall, PythonFork, PythonWait> what;
};

/// Parses one line, a list of requests that form a batch. Error `kTool`: not a valid line.
Result<std::vector<PythonRequest>> parse_python_requests(std::string_view line);

/// The first line sent to the interpreter, with its newline.
std::string python_start_line(const std::string& code, const std::vector<std::string>& tools,
                              const std::string& seed);
/// The answer to one request, as a line with its newline.
std::string python_answer_line(std::uint64_t id, const Result<Json>& answer);

/// The program that the interpreter runs: it implements this protocol and runs the code.
std::string_view python_bridge_program();

}  // namespace praxis
