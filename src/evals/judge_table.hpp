// The table `[judge]` of a suite, and the answers that people judged.
#pragma once

#include <vector>

#include "app/toml_document.hpp"
#include "evals/suite.hpp"

namespace praxis::evals {

/// Reads the table and its file of labels (JSONL), whose path starts at the folder of the document. Error
/// `kInput` with the place: also for a label of a case that is not there, or that no judge judges.
Result<JudgeSpec> read_judge_table(const TomlDocument& document, const std::vector<EvalCase>& cases);

}  // namespace praxis::evals
