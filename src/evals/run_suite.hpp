// Runs a suite: makes the agents of its variants, then runs what the journal does not have yet, several runs
// at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/home_folder.hpp"
#include "app/workspace.hpp"
#include "evals/trial.hpp"

namespace praxis::evals {

/// How the agents of variants are made.
struct VariantMaking {
  std::string model = {};  ///< of variants that name none; empty: that of the agent or the configuration
  app::HomeAcceptance accept_home = {};
  std::function<void(const std::string&)> warn = {};  ///< gets what is probably a mistake in an agent file
};

/// Reads the agents of the variants. Error `kInput`: an agent or a setting cannot be used.
Result<std::vector<PreparedVariant>> prepare_variants(const Suite& suite, const VariantMaking& making,
                                                      const app::Workspace& workspace,
                                                      const Runtime& runtime);

/// Makes the judge of the suite; nothing if no check needs one. Error `kInput`: the model cannot be used.
Result<std::optional<PreparedJudge>> prepare_judge(const Suite& suite, const VariantMaking& making,
                                                   const app::Workspace& workspace, const Runtime& runtime);

struct SuiteRun {
  std::string round = {};
  std::size_t jobs = 4;       ///< runs at the same time
  MicroUsd max_usd = {};      ///< no further run begins once those of this evaluation cost this; 0: no bound
  std::stop_token stop = {};  ///< once requested, no further run begins
  std::optional<PreparedJudge> judge = {};  ///< of `prepare_judge`
  const OfflineRuns* offline = nullptr;     ///< makes the runs again; null: only what is missing is run
  std::vector<std::string> hide = {};       ///< files that programs of checks see as empty
  /// Gets each result as soon as there is one; the calls never overlap.
  std::function<void(const TrialResult&)> done = {};
};

struct SuiteResult {
  std::vector<TrialResult> trials;  ///< in the order of cases, variants and repeats
  std::size_t missing = 0;          ///< runs that did not begin, because of `stop` or `max_usd`
  bool over_budget = false;
  std::optional<JudgeReport> judge = {};  ///< if there are labelled answers and all runs have ended
};

/// Blocks until all runs have ended, or wait for a human. Error `kInput`: a case cannot be used.
Result<SuiteResult> run_suite(const Suite& suite, const std::vector<PreparedVariant>& variants,
                              Runtime& runtime, const SuiteRun& how);

}  // namespace praxis::evals
