// For tests of the examples: what `praxis tree` says about their runs.
#pragma once

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

namespace praxis::testing {

/// Returns the lines of `praxis tree` of the last run in `journal` whose node is not `completed`, or "no
/// tree" if the command prints no lines.
inline std::string unfinished_nodes(const std::filesystem::path& journal) {
  const std::string command = PRAXIS_BINARY_DIR "/praxis tree last --journal " + journal.string() + " 2>&1";
  std::string drawn;
  if (FILE* pipe = ::popen(command.c_str(), "r")) {
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) drawn += static_cast<char>(c);
    ::pclose(pipe);
  }
  if (drawn.empty()) return "no tree";
  std::istringstream lines(drawn);
  std::string unfinished;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("  completed  ") == std::string::npos) unfinished += line + '\n';
  }
  return unfinished;
}

}  // namespace praxis::testing
