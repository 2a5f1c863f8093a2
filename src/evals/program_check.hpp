// The check `program`: a program of the suite judges an answer, in the sandbox.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evals/suite.hpp"

namespace praxis::evals {

/// What the programs of a suite can reach.
struct ProgramPlace {
  std::string folder;                  ///< of the suite, absolute: they run in it and may read it
  std::vector<std::string> hide = {};  ///< files and folders that they see as empty
};

/// Runs the program with the case and the result as JSON on standard input. Why it does not accept the
/// answer; nothing if it does. Blocks. Error `kTool` or `kPolicy`: the program cannot be started, or the
/// sandbox cannot be set up.
Result<std::optional<std::string>> problem_by_program(const checks::Program& check, const EvalCase& test,
                                                      const AgentResult& result, const ProgramPlace& place);

}  // namespace praxis::evals
