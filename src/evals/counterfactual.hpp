// Counterfactual replay: runs a recorded run again with other tools, another model or another prompt, and the
// recorded answers and results where nothing changed. The recorded run is only read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/reopen_run.hpp"
#include "app/workspace.hpp"
#include "evals/recorded_outcomes.hpp"
#include "evals/run_steps.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::evals {

/// Where the results of a tool come from.
enum class ResultSource : std::uint8_t {
  kRecorded,  ///< the record; a call that it does not have fails
  kLive,      ///< the tool, as far as the rules of the agent allow
  kStatic,    ///< a text, for every call
  kFail,      ///< an error, for every call
};
struct ToolChange {
  ResultSource source = ResultSource::kRecorded;
  std::string text = {};  ///< of `kStatic`
};

/// What is different.
struct Changes {
  std::map<std::string, ToolChange, std::less<>> tools = {};  ///< by name; all others are recorded
  std::string model = {};                                     ///< answers every step; empty: the recorded one
  std::optional<std::string> prompt = {};  ///< begins the first turn in place of the recorded message
  std::string from = {};                   ///< the first step: `3`, `t2`, `t2.3`; empty: the first of the run

  bool any() const { return !tools.empty() || !model.empty() || prompt || !from.empty(); }
};

/// Reads `NAME=recorded`, `NAME=live`, `NAME=fail` or `NAME=static:FILE`. Error `kInput`.
Result<std::pair<std::string, ToolChange>> read_tool_change(const std::string& text);

/// Where a replay begins, and what it sends.
struct ReplayPlan {
  std::uint64_t seq = 0;     ///< the records up to this one stay as they are
  bool within_turn = false;  ///< the first turn continues; else it begins with the first of `turns`
  struct Turn {
    std::string id;
    std::optional<Message> message = {};  ///< that begins it; empty: it has none, or has begun
    Json output_schema = nullptr;
  };
  std::vector<Turn> turns = {};
};
/// Error `kInput`: the run cannot be replayed from there (it has not ended, has no such step, was steered, or
/// follows a written plan or a team), or the prompt would be within a turn.
Result<ReplayPlan> plan_replay(const app::StoredSession& stored, const Changes& changes);

/// A replay that has ended.
struct Replayed {
  SessionId run;
  std::vector<StepPair> steps;
  AnswerCount answers;  ///< of the recorded model; with another model none
  std::uint64_t recorded_steps = 0, steps_now = 0;
  Usage recorded_usage = {}, usage_now = {};
  std::optional<AgentResult> last;  ///< of the last turn that ran

  bool is_same() const;
};

/// How replays run.
struct ReplayRun {
  Author principal;
  std::function<Status(const app::AgentChange&)> accept = {};  ///< as in `app::ReopenOptions`
  app::HomeAcceptance accept_home = {};
  std::stop_token stop = {};
};

/// Runs the plan without changes in memory, with recorded answers and results only. Must be the same.
Result<Replayed> replay_unchanged(const app::StoredSession& stored, const app::Workspace& workspace,
                                  const ReplayPlan& plan, const ReplayRun& how);
/// Runs the plan with the changes, in a fork of the run with the tag `counterfactual`. Blocks until it has
/// ended or waits for a human.
Result<Replayed> replay_changed(const app::StoredSession& stored, const app::Workspace& workspace,
                                const ReplayPlan& plan, const Changes& changes, const ReplayRun& how);

}  // namespace praxis::evals
