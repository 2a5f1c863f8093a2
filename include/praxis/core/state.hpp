// The state of a session: a fold of its records and nothing else. Dropping it and folding the records again
// gives the same value, which is what crash recovery, replay, fork and suspension all rest on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/history.hpp"
#include "praxis/core/records.hpp"
#include "praxis/core/report.hpp"

namespace praxis {

/// A tool call of the batch in progress.
struct CallState {
  enum class Phase : std::uint8_t {
    kProposed,  ///< nobody has judged it yet
    kApproved,  ///< may start (judged, or to be retried)
    kParked,    ///< waits for a person
    kRunning,   ///< intended, no outcome yet
    kInDoubt,   ///< intended by a process that is gone
    kBarred,    ///< cannot go on until a person gives the tool access to something
    kSettled,
  };
  ToolCallPart call;  ///< arguments as they will run: an edit is already in
  CallId within =
      {};  ///< the call whose handler asked for this one; empty for the model's and the plan's own
  std::string key = {};  ///< as in `CallProposed`
  Phase phase = Phase::kProposed;
  EffectId effect;
  std::uint32_t attempt = 0;
  std::optional<ToolResultPart> result;  ///< of the last attempt while another is to follow
  Json value;                            ///< structured form of the result, kept for plans only
};

/// The model call or timer in progress. At most one of them per session.
struct EffectState {
  enum class Phase : std::uint8_t { kRunning, kInDoubt, kFailed };
  EffectId effect;
  EffectKind kind = EffectKind::kModel;
  Phase phase = Phase::kRunning;
  std::uint32_t attempt = 1;
  Millis delay{0};
  std::optional<Error> error;                          ///< of a failed attempt
  std::optional<SummaryTask> summary = std::nullopt;   ///< of a model call that summarises
  std::optional<Consultation> consult = std::nullopt;  ///< of a model call that answers a planner
};

/// A sub-agent of a call in progress.
struct ChildState {
  SessionId id;
  CallId call;
  std::string key;       ///< empty when it belongs to the session that this one is a fork of
  Usage usage = {};      ///< of it and all below it, when its last turn ended
  bool settled = false;  ///< a turn of it has ended
};

/// A summary that waits to take the place of what it sums up.
struct Summary {
  SummaryTask task;
  std::string text;
};

/// How far a turn has got with a model that refuses the conversation as too long.
enum class Overflow : std::uint8_t {
  kNone,
  kRefused,  ///< it has to be shortened
  kShort,    ///< it was shortened and is sent once more
};

/// The last model request, as far as its bytes may stand in a vendor's cache.
struct SentRequest {
  std::string model;
  RequestPatch patch;
  std::int64_t tokens = 0;  ///< of the request, and of its answer once it is there
};
/// Why a request did not extend the bytes of the one before, and what that may cost.
struct PrefixBreak {
  std::string cause;  ///< `model`, `hook`, `settings`, `tools`, `compaction`, `cut`, `rewind`
  std::int64_t tokens = 0;
  MicroUsd cost;
};

/// How the model's last answer ended, unless running its calls is all there is to do; waits to be acted on.
struct Answer {
  FinishReason finish = FinishReason::kStop;
  bool malformed_call = false;  ///< at least one tool call could not be read
};

/// A result that a plan can refer to. Each step of a plan that was carried out leaves exactly one (a batch of
/// calls one a call, in call order), so a plan finds its place by walking its steps along the results.
struct StepResult {
  CallId call;       ///< empty for steps that are no tool call
  std::string tool;  ///< tool name, or `message`, `sleep`, `ask`, `answer`, or the purpose of a consultation
  bool ok = true;
  std::string text;
  Json value;
};

/// Signatures of the last batches, to notice a model that goes in circles.
struct Repetition {
  std::vector<Digest> batches;
  std::vector<Digest> errors;
  bool warned = false;

  /// Length of the longest pattern at the end: the same batch, an alternating pair, or the same error.
  std::uint32_t count() const;
};

struct TurnState {
  TurnId id;
  std::string prompt;  ///< text of the user message that began it
  std::uint32_t step = 0;
  std::uint32_t malformed_calls = 0;
  std::uint32_t tool_calls = 0;
  std::vector<CallState> calls;
  std::optional<EffectState> effect;
  std::optional<Answer> answer;
  std::optional<Error> fatal;       ///< a tool failure that ends the turn
  std::optional<StopReason> stop;   ///< somebody or the clock asked to stop
  std::vector<StepResult> results;  ///< of a plan
  Repetition repetition;
  Json output_schema;               ///< that the turn's answer has to fit; null when any does
  std::uint32_t corrections = 0;    ///< how often the model was told that its answer does not fit
  std::uint32_t pauses = 0;         ///< answers in a row that a vendor broke off to be asked again
  std::uint32_t model_retries = 0;  ///< attempts after failed ones, over all model calls
  bool noted = false;               ///< the model was told once what was wrong with its answer's form
  bool redo = false;                ///< the next model call takes the place of one that failed
  bool summary_failed = false;      ///< no further summary is tried in this turn
  Overflow overflow = Overflow::kNone;
  std::optional<Summary> summary;
  bool modified = false;  ///< a person changed what the agent is to do, and the conversation lacks it yet
  std::string task;       ///< what a person changed the prompt to; empty when nobody did
  std::uint32_t modified_at = 0;  ///< number of results when the last such change came into it
  AgentResult report;             ///< as far as it is known

  bool in_flight() const;
};

/// Where a turn began in the history, so that a person can go back to it.
struct TurnMark {
  TurnId turn;
  std::size_t messages = 0;
};

/// Copyable; cheap to move. Not thread-safe: it belongs to its session's strand.
struct State {
  SessionId id;
  std::uint32_t version = kRecordVersion;  ///< of the record set that the log began with
  SessionId parent;
  std::uint32_t depth = 0;
  std::string path;             ///< agent ids from the root down to this one
  std::uint64_t forked_at = 0;  ///< the last record that a fork shares with its original
  std::uint64_t seed = 0;
  std::uint64_t seq = 0;  ///< of the last record applied
  AgentSpecPtr agent;
  RequestDigest described;  ///< of the agent as described: `settings` and `tools`, unpatched
  RequestDigest recorded;   ///< `settings` and `tools` as the last model intent left them
  HistoryBuilder conversation;
  std::optional<TurnState> turn;
  std::optional<AgentResult> last;  ///< of the last settled turn
  std::map<ParkId, ParkedStep> parked;
  std::vector<std::string> steering;
  std::vector<std::string> queue;
  std::vector<TurnMark> marks;
  bool paused = false;
  SessionStatus rest_status = SessionStatus::kIdle;  ///< the status while no turn is in progress
  bool deleted = false;                              ///< a person did away with it: no further turn begins
  std::string comment;                               ///< a person's last annotation
  std::vector<ChildState> children;                  ///< of the calls in progress, in order of creation
  Usage settled_children;                            ///< usage of those of calls that are over
  Usage usage;
  std::int64_t context_tokens = 0;   ///< of the last request and its answer, as the vendor counted
  std::int64_t overhead_tokens = 0;  ///< estimate of instructions and tools, which go with every request
  std::int64_t correction = 1000;    ///< tokens that the vendor counts for 1000 estimated ones
  bool non_strict = false;           ///< the vendor refused to hold this agent's tools to their schemas
  std::optional<SentRequest> sent;
  std::string history_break;                ///< how the history changed since then; empty: it only grew
  std::optional<PrefixBreak> prefix_break;  ///< of the last model request
  std::uint64_t model_calls = 0;            ///< answered or failed; not those cancelled
  std::uint32_t next_turn = 1, next_effect = 1, next_message = 1, next_park = 1;

  SessionStatus status() const;
  bool follows_plan() const { return agent && !agent->plan.is_null(); }
  /// Tokens that the next request is expected to take: the estimate, corrected by what the vendor counted.
  std::int64_t request_tokens() const;
  /// What a model call is taken to have used of which nobody knows how it ended: the next request, and the
  /// longest answer where the agent bounds it. Without a price.
  Usage usage_in_doubt() const;
  /// Of the agent's model, or the agent's own bound on a request; 0 when neither is known.
  std::int64_t context_window() const;
  /// Usage of this session and all below it, as far as turns of sub-agents have ended.
  Usage subtree_usage() const;
  /// JSON Schema that the answer of the turn in progress has to fit; null when there is none.
  const Json& output_schema() const;
  CallState* find_call(const CallId& call);
  CallState* find_call(const EffectId& effect);
};

/// The state after one more record. Error `kJournal`: the record cannot follow this state (a foreign or
/// damaged log).
Result<State> apply(State state, const Record& record);
/// The same in place, which is cheaper. After an error the state is of no use.
Status apply_to(State& state, const Record& record);
/// Whether the conversation can go back to before `turn`. Error `kInput`: a turn is in progress, or there is
/// no such turn (any more).
Status check_rewind(const State& state, const TurnId& turn);
/// The result of the turn in progress, or of the last one.
AgentResult result_of(const State& state);

}  // namespace praxis
