// The steps of a run as a reader compares them: what the model said, which tools it called, what they gave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::evals {

/// A call of the model and its result.
struct StepCall {
  std::string tool;
  std::string arguments;  ///< canonical JSON, or the text that the model sent
  std::string result;     ///< what the model read
};

struct RunStep {
  std::string turn;
  std::uint32_t step = 0;
  std::string text;  ///< of the model
  std::vector<StepCall> calls = {};
  Usage usage = {};
};

/// The steps of the model after the record `seq`. Error `kJournal`.
Result<std::vector<RunStep>> steps_of(const std::vector<StoredRecord>& records, std::uint64_t seq);

/// One thing that is not the same in two steps.
struct StepDifference {
  std::string field;  ///< `step`, `text`, `call` or `result`
  std::string tool;   ///< of calls and results
  std::string recorded, now;
};

/// A step in the recorded run and in the other one. No differences: it is the same.
struct StepPair {
  std::string turn;
  std::uint32_t step = 0;
  std::vector<StepDifference> differences = {};
};

/// Pairs the steps of the same number in the same turn, in the order of the recorded run.
std::vector<StepPair> compare_steps(const std::vector<RunStep>& recorded, const std::vector<RunStep>& now);

/// An item of `praxis replay --json`.
JsonObject pair_json(const StepPair& pair);
/// Lines for a terminal.
std::vector<std::string> pair_text(const StepPair& pair);

}  // namespace praxis::evals
