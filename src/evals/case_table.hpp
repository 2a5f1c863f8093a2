// Rows of cases: how a table of TOML, a line of JSONL or a row of CSV becomes a case.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "evals/suite.hpp"

namespace praxis::evals {

/// Upper bound on a file of cases.
inline constexpr std::size_t kMaxCaseFileBytes = 64UL * 1024 * 1024;

/// Makes the error for a mistake in the member `key` of a row; an empty key stands for the row.
using RowMistake = std::function<std::unexpected<Error>(const std::string& key, const std::string& what)>;

/// What the cases of a suite share.
struct CaseDefaults {
  std::string folder;            ///< that paths are relative to
  const Json* checks = nullptr;  ///< of every case, before its own; null: none
};

/// Reads a case. Members: `id`, `prompt`, `files`, `expected`, `tags`, `weight`, `checks`. A case without any
/// check must be exactly `expected`. Error as `mistake` makes it.
Result<EvalCase> read_case(const Json& row, const CaseDefaults& defaults, const RowMistake& mistake);

/// Reads a file of cases: CSV by the ending `.csv`, else JSONL. Error `kInput` with file and line.
Result<std::vector<EvalCase>> read_case_file(std::string_view text, const std::string& path,
                                             const CaseDefaults& defaults);

}  // namespace praxis::evals
