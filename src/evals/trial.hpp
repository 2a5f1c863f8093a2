// One run of an evaluation: a case, put to a variant, for the n-th time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evals/judge.hpp"
#include "evals/offline_runs.hpp"
#include "evals/program_check.hpp"
#include "evals/suite.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::evals {

/// A variant with its agent. Two agents with the same `digest` do the same.
struct PreparedVariant {
  std::string name;
  Agent agent;
  Digest digest;
};

/// Which run.
struct Trial {
  const EvalCase* test = nullptr;
  const PreparedVariant* variant = nullptr;
  std::uint32_t repeat = 1;  ///< from 1
  Message message;           ///< the prompt with its attachments
  SessionId run;
};

/// What the runs of an evaluation have in common.
struct TrialPlace {
  std::string suite;                     ///< its name
  std::string round;                     ///< runs of other rounds are other runs
  std::optional<std::int64_t> seed;      ///< as in the suite
  ProgramPlace programs = {};            ///< of checks
  const PreparedJudge* judge = nullptr;  ///< of checks; null: no case has one
  const OfflineRuns* offline = nullptr;  ///< makes the runs again; null: they are read, resumed or begun
};

/// Names the run: a digest of suite, round, case with its attachments, variant with its agent, and repeat.
/// The checks are no part of it. Error `kInput`: an attachment cannot be read.
Result<Trial> make_trial(const TrialPlace& place, const EvalCase& test, const PreparedVariant& variant,
                         std::uint32_t repeat);

enum class Verdict : std::uint8_t {
  kPassed,
  kFailed,   ///< it ended, and a check or a limit failed
  kError,    ///< the model or the journal failed: the next evaluation tries again
  kWaiting,  ///< for a human
};
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view name);

/// How a run went; also what a report of an earlier evaluation says of it.
struct TrialResult {
  std::string test;  ///< id of the case
  std::string variant;
  std::uint32_t repeat = 1;
  SessionId run = {};
  Verdict verdict = Verdict::kError;
  std::vector<std::string> problems = {};  ///< why it did not pass
  std::uint32_t steps = 0;
  std::uint32_t tool_calls = 0;
  std::uint32_t tool_errors = 0;
  Usage usage = {};  ///< of all its turns, with its sub-agents
  Millis duration{0};
  double weight = 1;
  bool from_journal = false;  ///< it had ended before; nothing was spent on it now
  MicroUsd spent = {};        ///< on the run and on judging it, now
  bool differs = false;       ///< a request of the run that was made again off-line is not as recorded

  bool passed() const { return verdict == Verdict::kPassed; }
};

/// Runs, resumes or reads the run, and judges it. Blocks until it has ended or waits for a human.
TrialResult run_trial(Runtime& runtime, const TrialPlace& place, const Trial& trial);

}  // namespace praxis::evals
