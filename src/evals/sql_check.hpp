// The check `sql`: what a database holds after a run, by a statement that only reads.
#pragma once

#include <optional>
#include <string>

#include "evals/check.hpp"
#include "evals/program_check.hpp"

namespace praxis::evals {

/// Runs the statement on the SQLite file. Why its rows are not the expected ones, or why it fails; nothing if
/// they are. Blocks. Error `kTool` or `kPolicy`: the file cannot be read, or is one of `place.hide`.
Result<std::optional<std::string>> problem_by_sql(const checks::Sql& check, const ProgramPlace& place);

}  // namespace praxis::evals
