// The check `judge`: a model judges an answer by a rubric. Each judgement is a run of its own in the journal.
// Labelled answers, which a human judged, show how far the judge can be trusted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evals/suite.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::evals {

/// The agent that judges. Two with the same `digest` do the same.
struct PreparedJudge {
  Agent agent;
  Digest digest;
  bool only_recorded = false;  ///< judgements are read from the journal, and no other is made
  /// Makes the judgements that the journal does not have, so that it gets no record of them; null: they are
  /// made and kept in that journal.
  std::shared_ptr<Runtime> apart = nullptr;
};

/// Makes `agent` a judge: it gets its instructions, the form of its answer and its limits.
void make_judge(Agent& agent, const JudgeSpec& spec);

/// One answer to judge.
struct JudgeQuestion {
  const EvalCase* test = nullptr;
  std::string rubric;
  std::string answer;
  std::string round;  ///< judgements of other rounds are other runs
  std::string about;  ///< the run or label that the answer is from
};

struct Judgement {
  bool pass = false;
  std::string reason;
  SessionId run;  ///< empty: it was made apart, and is in no journal
  Usage usage;
  bool from_journal = false;  ///< nothing was spent on it now
};

/// Asks the judge, or reads its judgement from the journal. Blocks. Error: the judge did not answer.
Result<Judgement> ask_judge(Runtime& runtime, const PreparedJudge& judge, const JudgeQuestion& question);

/// How the judge and the labels go together.
struct JudgeReport {
  std::string model;
  std::uint64_t both_pass = 0, both_fail = 0;
  std::uint64_t judge_passes = 0;  ///< answers that the label fails
  std::uint64_t judge_fails = 0;   ///< answers that the label passes
  std::uint64_t errors = 0;        ///< labels that the judge did not judge
  Usage usage = {};                ///< of the judgements of labels

  std::uint64_t labels() const { return both_pass + both_fail + judge_passes + judge_fails; }
  std::uint64_t agreed() const { return both_pass + both_fail; }
};

/// Judges the labelled answers of the suite, `jobs` at the same time.
JudgeReport judge_labels(Runtime& runtime, const PreparedJudge& judge, const Suite& suite,
                         const std::string& round, std::size_t jobs);

/// The member `judge` of the envelope.
JsonObject judge_json(const JudgeReport& report);
/// One sentence for a report.
std::string judge_text(const JudgeReport& report);

}  // namespace praxis::evals
