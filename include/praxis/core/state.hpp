// The state of a session: a fold of its records and nothing else. Folding the records again gives the same
// value; crash recovery, replay, fork and suspension all depend on that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/call_batch.hpp"
#include "praxis/core/history.hpp"
#include "praxis/core/records.hpp"
#include "praxis/core/report.hpp"
#include "praxis/core/session_memory.hpp"
#include "praxis/core/step_result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The model call or timer in progress. At most one per session.
struct EffectState {
  enum class Phase : std::uint8_t { kRunning, kInDoubt, kFailed };
  EffectId effect;
  EffectKind kind = EffectKind::kModel;
  Phase phase = Phase::kRunning;
  std::uint32_t attempt = 1;
  Millis delay{0};
  std::optional<Error> error;                         ///< of a failed attempt
  std::optional<SummaryTask> summary = std::nullopt;  ///< of a model call that makes a summary
  /// Of a model call that answers a planner's side query.
  std::optional<Consultation> consult = std::nullopt;
  Digest prompt = {};  ///< of the conversation that a model call sends
  /// What the failed attempts before took, with the delays after them.
  Millis waited{0};
  std::uint32_t outages = 0;  ///< failed attempts before that patience covered
  UnixMillis began = {};      ///< when this attempt was decided on; it starts after `delay`
};

/// A tool call that has begun, or several of them: for rules that count calls.
struct StartedCall {
  std::string tool;
  std::string arguments = {};  ///< as they ran; empty: not kept
  UnixMillis time = {};        ///< of the last of them
  std::uint32_t calls = 1;
  SessionId child = {};  ///< the sub-agent that made them; empty: this session
};

/// A sub-agent of a call in progress.
struct ChildState {
  SessionId id;
  CallId call;
  /// Empty if it belongs to the session that this one was forked from.
  std::string key;
  /// Of the sub-agent and all below it, at the end of its last turn.
  Usage usage = {};
  std::uint32_t tool_calls = 0;  ///< likewise
  bool settled = false;          ///< one of its turns has ended
};

/// A summary that will replace the messages it summarises.
struct Summary {
  SummaryTask task;
  std::string text;
};

/// The progress of a turn after a model has refused the conversation as too long.
enum class Overflow : std::uint8_t {
  kNone,
  kRefused,  ///< the conversation must be shortened
  kShort,    ///< it was shortened and is sent once more
};

/// The last model request, as far as its bytes may be in a vendor's cache.
struct SentRequest {
  std::string model;
  RequestPatch patch;
  /// Of the request, and of its answer once received.
  std::int64_t tokens = 0;
};

/// Signatures of the last batches, to detect a model that repeats itself.
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
  UnixMillis step_began;  ///< of the step in progress
  std::uint32_t malformed_calls = 0;
  std::uint32_t tool_calls = 0;
  CallBatch calls;
  std::optional<EffectState> effect;
  std::optional<Answer> answer;
  std::optional<Error> fatal;       ///< a tool failure that ends the turn
  std::optional<StopReason> stop;   ///< a command or the clock asked to stop
  std::vector<StepResult> results;  ///< of a plan
  Repetition repetition;
  /// JSON Schema that the turn's answer must match; null without a schema.
  Json output_schema;
  /// How often the model was asked to correct its answer.
  std::uint32_t corrections = 0;
  /// Answers in a row that a vendor paused.
  std::uint32_t pauses = 0;
  /// Retries over all model calls of the turn.
  std::uint32_t model_retries = 0;
  /// The model has got one note about the form of its answer.
  bool noted = false;
  /// The next model call replaces one that failed.
  bool redo = false;
  /// No further summary is tried in this turn.
  bool summary_failed = false;
  Overflow overflow = Overflow::kNone;
  std::optional<Summary> summary;
  /// A command changed the request, and the conversation does not have the change yet.
  bool modified = false;
  /// The changed prompt; empty if unchanged.
  std::string task;
  /// Number of results when the last change entered the conversation.
  std::uint32_t modified_at = 0;
  /// The result so far.
  AgentResult report;

  bool in_flight() const;
};

/// Where a turn began in the history, for a rewind.
struct TurnMark {
  TurnId turn;
  std::size_t messages = 0;
};

/// The speakers in the conversation of a team.
struct TeamState {
  std::string speaker;            ///< id of the agent that answers unless the strategy names another
  std::string answering;          ///< id of the agent that answers the present message
  std::vector<std::string> next;  ///< as in `SpeakerSet`
  Json strategy;                  ///< likewise
  /// `chain` or `handoff` while `answering` has yet to begin its turn, which needs no new message; else
  /// empty.
  std::string pending;
};

/// Copyable; cheap to move. Not thread-safe: used on its session's strand.
struct State {
  SessionId id;
  /// Version of the record set that the log began with.
  std::uint32_t version = kRecordVersion;
  SessionId parent;
  std::uint32_t depth = 0;
  std::string path;             ///< agent ids from the root down to this one
  std::uint64_t forked_at = 0;  ///< the last record that a fork shares with its original
  std::uint64_t seed = 0;
  TraceContext trace;     ///< of the session; none when the log began with version 4 or older
  std::uint64_t seq = 0;  ///< of the last record applied
  UnixMillis time = {};   ///< likewise
  AgentSpecPtr agent;
  /// Digests of the agent as described: `settings` and `tools`, without patches.
  RequestDigest described;
  /// `settings` and `tools` as of the last model intent.
  RequestDigest recorded;
  HistoryBuilder conversation;
  std::optional<TurnState> turn;
  std::optional<TeamState> team;    ///< of a conversation that several agents share
  std::optional<AgentResult> last;  ///< of the last settled turn
  std::map<ParkId, ParkedStep> parked;
  /// Arguments of the calls that a person approved, as they run; the last 64, those up to 16 KiB.
  std::vector<std::string> approved;
  /// The calls of the session and below it that have begun, while rules of its agent count calls; old ones
  /// are added up by tool.
  std::vector<StartedCall> started;
  std::vector<WaitingMessage> steering;  ///< for the next step
  std::vector<WaitingMessage> queue;     ///< each for a turn of its own
  std::vector<std::uint64_t> delivered;  ///< ids of the last 64 waiting messages that the model got
  bool compact = false;                  ///< a command asked to summarise before the next model call
  std::vector<TurnMark> marks;
  SessionMemory memory;  ///< as the settled calls have left it
  bool paused = false;
  SessionStatus rest_status = SessionStatus::kIdle;  ///< the status while no turn is in progress
  bool deleted = false;              ///< a command deleted the session: no further turn begins
  std::string comment;               ///< the last annotation
  std::vector<ChildState> children;  ///< of the calls in progress, in order of creation
  Usage settled_children;            ///< of calls that have ended
  std::uint32_t ended_calls = 0;     ///< tool calls of the ended turns and of all below them
  Millis ended_turns{0};             ///< wall time of the ended turns
  std::string last_task;             ///< of the last turn: its prompt, or what a modification made of it
  Usage usage;
  std::int64_t context_tokens = 0;  ///< of the last request and its answer, as the vendor counted
  /// Estimate for instructions and tools, which are part of every request.
  std::int64_t overhead_tokens = 0;
  /// Tokens that the vendor counts for 1000 estimated ones.
  std::int64_t correction = 1000;
  /// The vendor refused to hold this agent's tools to their schemas.
  bool non_strict = false;
  std::optional<SentRequest> sent;
  /// How the history changed since that request; empty: it only grew.
  std::string history_break;
  std::optional<PrefixBreak> prefix_break;  ///< of the last model request
  std::uint64_t model_calls = 0;            ///< answered or failed, not cancelled
  std::uint32_t next_turn = 1, next_effect = 1, next_message = 1, next_park = 1;

  SessionStatus status() const;
  bool follows_plan() const { return agent && !agent->plan.is_null(); }
  /// Expected tokens of the next request: the estimate, corrected by the vendor's counts.
  std::int64_t request_tokens() const;
  /// Tokens that fill the window: as the vendor counted the last request and its answer, else
  /// `request_tokens`.
  std::int64_t used_tokens() const { return context_tokens != 0 ? context_tokens : request_tokens(); }
  /// The assumed usage of a model call whose outcome is unknown: the next request, and the longest answer if
  /// the agent bounds it. Without a price.
  Usage usage_in_doubt() const;
  /// Tokens that a request may take: the agent's `Limits::max_context` if set, else the window of
  /// its model; 0 if neither is known.
  std::int64_t context_window() const;
  /// Usage of this session and all below it, as far as turns of sub-agents have ended.
  Usage subtree_usage() const;
  /// The tool calls of the turn in progress, including those of its sub-agents whose turns have ended.
  std::uint32_t turn_calls() const;
  /// The tool calls of the session and all below it, since its creation.
  std::uint32_t subtree_calls() const { return ended_calls + turn_calls(); }
  /// The calls of `started`, added up by tool.
  std::map<std::string, std::uint32_t> started_by_tool() const;
  /// JSON Schema that the answer of the turn in progress must match; null without a schema.
  const Json& output_schema() const;
  /// Null when the turn in progress has no such call.
  const CallState* find_call(const CallId& call) const;
  const CallState* find_call(const EffectId& effect) const;
};

/// Returns the state after one more record. Error `kJournal`: the record cannot follow this state (a foreign
/// or damaged log).
Result<State> apply(State state, const Record& record);
/// The same in place, which is cheaper. After an error the state is unusable.
Status apply_to(State& state, const Record& record);
/// Whether the conversation can go back to before `turn`. Error `kInput`: a turn is in progress, or `turn` is
/// unknown or was removed.
Status check_rewind(const State& state, const TurnId& turn);
/// The id of a parked step that is unique in the agent tree: `<session>/<id>`.
ParkId qualified_id(const SessionId& session, const ParkId& park);
/// The result of the turn in progress, or of the last one.
AgentResult result_of(const State& state);

}  // namespace praxis
#pragma GCC visibility pop
