// The closed set of facts that a session consists of. A record is either an *input* (an event outside the
// loop, such as a command) or *derived* (a conclusion of `next` from the state); a replay feeds the inputs
// and checks the derived records.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/base/variant.hpp"
#include "praxis/core/history.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/approval.hpp"
#include "praxis/domain/command.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/model_types.hpp"
#include "praxis/domain/trace.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The version of the record set that this library writes; it reads every version up to this one.
inline constexpr std::uint32_t kRecordVersion = 5;

/// The state of a session (S5-13), and `idle` before its first turn.
enum class SessionStatus : std::uint8_t {
  kIdle,
  kRunning,
  kAwaitingUser,
  kCompleted,
  kError,
  kModified,
  kDeleted,
  kCancelled,   ///< the last turn was stopped
  kInterrupted  ///< in the middle of a turn, but its process has ended; only seen from outside
                ///< (`JournalTree`)
};
std::string_view to_string(SessionStatus status);
std::optional<SessionStatus> session_status_from(std::string_view name);

/// Why a turn ended. Everything but `kFinished` makes the result unsuccessful.
enum class StopReason : std::uint8_t {
  kFinished,  ///< the model or plan gave its final answer
  kMaxSteps,
  kMaxToolCalls,
  kTimeLimit,
  kTokenLimit,
  kCostLimit,
  kContextLimit,  ///< the conversation does not fit and cannot be cut
  kOutputLimit,   ///< the answer was cut off by the model's output limit
  kRepetition,    ///< the same call, pair of calls or error repeatedly
  kRefused,       ///< the model refused, or a content filter intervened
  kModelFailed,
  kToolFailed,  ///< a fatal tool error, or `tool_failure = "fail"`
  kPlanFailed,  ///< a written plan could not continue
  /// The answer does not match the requested schema, even after corrections.
  kInvalidOutput,
  kCancelled,
};
std::string_view to_string(StopReason reason);
std::optional<StopReason> stop_reason_from(std::string_view name);

enum class EffectKind : std::uint8_t { kModel, kTool, kTimer };
enum class Outcome : std::uint8_t { kOk, kError, kCancelled, kUnknown };
std::string_view to_string(EffectKind kind);
std::string_view to_string(Outcome outcome);
std::optional<EffectKind> effect_kind_from(std::string_view name);
std::optional<Outcome> outcome_from(std::string_view name);

/// Digests of a model request, part by part, so that a replay can name the part that differs. In a record,
/// `settings` and `tools` are empty if unchanged since the session's previous model request.
struct RequestDigest {
  Digest settings;  ///< model, instructions and options
  Digest tools;
  Digest history;
  bool operator==(const RequestDigest&) const = default;
};

/// The changes of hooks to one model request; recorded, so that a replay needs no hooks.
struct RequestPatch {
  std::optional<std::string> instructions;
  std::optional<ModelOptions> options;
  /// Sent instead of the conversation of the session, which the log has.
  std::optional<History> history = {};
  /// Names of the tools that are offered, of those of the agent; calls of the others are refused.
  std::optional<std::vector<std::string>> tools = {};
  /// The only model of a route that is asked; empty: as the route says.
  std::string model = {};
  bool operator==(const RequestPatch& other) const;
};

// ---- what the records are made of

enum class MessageSource : std::uint8_t { kUser, kSteer, kQueue, kPlan, kRuntime, kImport };
std::string_view to_string(MessageSource source);
std::optional<MessageSource> message_source_from(std::string_view name);
/// Why the runtime puts a note into the conversation.
enum class NoteReason : std::uint8_t {
  kNone,           ///< not a note, or not recorded
  kUnusable,       ///< the vendor refused the form of the answer
  kMalformedCall,  ///< a tool call could not be read
  kRepetition,     ///< the same calls repeatedly
  kSchema,         ///< the answer does not fit its schema
};
std::string_view to_string(NoteReason reason);
std::optional<NoteReason> note_reason_from(std::string_view name);
/// The task of a model call that makes a summary.
struct SummaryTask {
  /// The messages before this index (into the history's messages) are summarised.
  std::size_t keep_from = 0;
  std::string cause;  ///< as in `Compacted`
};
/// A planner's side query to the model: neither question nor answer becomes part of the conversation.
struct Consultation {
  std::string purpose;    ///< name of the answer among the results of the plan
  std::string prompt;     ///< appended to the conversation as a user message
  Json schema = nullptr;  ///< JSON Schema of the answer; null: free text
};
/// The outcome of a tool.
struct ToolOutcome {
  /// Its `id` and `name` are those of the call and not recorded.
  ToolResultPart result;
  Json value;   ///< the structured form; null if the tool has none
  Json memory;  ///< array of memory changes; null if empty
};
/// What an approver is asked.
enum class ParkKind : std::uint8_t { kApproval, kQuestion, kInDoubt, kAuthorisation, kMachine };
std::string_view to_string(ParkKind kind);
std::optional<ParkKind> park_kind_from(std::string_view name);
struct ParkedStep {
  ParkId id;
  ParkKind kind = ParkKind::kApproval;
  std::string prompt;
  CallId call;  ///< the parked call; empty for a question of the planner
  std::string tool;
  std::string arguments;  ///< exactly as they would run
  /// Of tool and arguments: an approval applies only to these.
  Digest digest;
  Json schema = nullptr;  ///< JSON Schema of the answer to a question; null: any text
  /// The session of the step; this and the following fields follow from the log and are not recorded.
  SessionId session = {};
  std::string path = {};    ///< path of that session in the agent tree
  UnixMillis expires = {};  ///< when the step counts as denied; zero: never
};
Json to_json(const ParkedStep& parked);
/// The approvals that a step of this kind takes.
std::vector<ApprovalVerb> allowed_approvals(ParkKind kind);

/// What follows from the description of an agent alone. Sessions of one agent share it.
struct PreparedAgent {
  RequestDigest described;           ///< as `State::described`
  std::int64_t overhead_tokens = 0;  ///< as `State::overhead_tokens`
  std::string json;                  ///< the JSON form, as recorded
};
PreparedAgent prepare_agent(const AgentSpec& agent);

// ---- the records

namespace records {

/// Input. The first record of every session.
struct SessionCreated {
  std::uint32_t version = kRecordVersion;
  SessionId session;
  SessionId parent;  ///< empty for a root
  std::uint32_t depth = 0;
  std::string path = {};  ///< agent ids from the root down to this one: `lead/research`
  SessionId forked_from;  ///< empty unless this session is a fork
  std::uint64_t forked_at = 0;
  std::uint64_t seed = 0;
  AgentSpecPtr agent;
  TraceContext trace = {};  ///< none in records up to version 4
  /// Of `agent`, not recorded; null: computed when needed.
  std::shared_ptr<const PreparedAgent> prepared = nullptr;
};
/// Input. A turn begins; its user message, if any, follows.
struct TurnStarted {
  TurnId turn;
  /// JSON Schema that the turn's answer must match; null: free text.
  Json output_schema = nullptr;
};
/// Input (user, queue, import) or derived (plan, runtime, steer). Does not repeat assistant and tool messages
/// of the model-driven loop: they are the results of settled effects.
struct MessageAppended {
  MessagePtr message;
  MessageSource source = MessageSource::kUser;
  NoteReason reason = NoteReason::kNone;  ///< of runtime notes; records up to version 4 do not say
  /// The caller's message, if hooks on outgoing messages changed it; else null.
  MessagePtr original = nullptr;
};
/// Derived. Durable before the effect starts. A further attempt intends the same effect again. Holds only
/// what does not follow from the log before it: the model is the agent's, a tool's arguments are the call's.
struct EffectIntended {
  EffectId effect;
  EffectKind kind = EffectKind::kModel;
  std::uint32_t attempt = 1;
  std::string tool;  ///< for tools: the name
  CallId call;       ///< for tools
  /// For models and timers; the step of a tool is that of the model call that made the call.
  std::uint32_t step = 0;
  RequestDigest request;  ///< for models
  RequestPatch patch;     ///< for models
  /// For timers, and for model attempts that back off first.
  Millis delay{0};
  /// For a model call that makes a summary, not an answer.
  std::optional<SummaryTask> summary = std::nullopt;
  /// For a model call that answers a planner's side query.
  std::optional<Consultation> consult = std::nullopt;
  /// For models: no tool is held to its schema, because the vendor refused that.
  bool non_strict = false;
};
/// Input. The handler of the running call `within` calls a tool of its agent. Reviewed and run like a call of
/// the model; its result goes to the handler, not into the conversation.
struct CallProposed {
  CallId within;
  ToolCallPart call;
  /// Identifies the call when the handler runs again after a crash.
  std::string key;
};
/// Input. The handler of the running call `call` created a sub-agent. Durable before its session exists.
struct ChildSpawned {
  SessionId child;
  CallId call;
  std::string agent;  ///< agent id
  std::string key;    ///< as in `CallProposed`
};
/// Input. A turn of a sub-agent has ended.
struct ChildSettled {
  SessionId child;
  StopReason reason = StopReason::kFinished;
  Usage usage;                                        ///< of the child and all below it, since its creation
  std::uint32_t tool_calls = 0;                       ///< likewise; earlier records of version 5 do not say
  std::map<std::string, std::uint32_t> started = {};  ///< by tool, if rules count calls
};
/// What a tool gave before a hook changed it: a result or an error.
struct ToolOriginal {
  std::optional<ToolOutcome> result;
  std::optional<Error> error;
};
/// Input. Durable before any observer sees the effect as done.
struct EffectSettled {
  EffectId effect;
  Outcome outcome = Outcome::kOk;
  Millis duration{0};
  std::variant<std::monostate, ModelResponse, ToolOutcome> result;
  std::optional<Error> error;
  /// Empty for the effect itself; `hook`: a hook answered in its place, or changed what the tool gave
  /// (`original`); `redact ID, ...` or `deny ID`: content filters changed or replaced the request, or what
  /// the tool gave; `recovery` (then derived): a call in doubt is reported to the model as unknown.
  std::string by;
  /// For a model call without an answer: the usage that its vendor stated, else an estimate. Zero if its
  /// request was not sent or was refused.
  Usage spent = {};
  std::shared_ptr<const ToolOriginal> original = nullptr;  ///< null: no hook changed the outcome
  /// How much longer the turn was active by the end of this effect than by that of the effect before; less
  /// than `duration` for effects that ran at the same time. Empty: as long as `duration`.
  std::optional<Millis> active = std::nullopt;
};
/// Derived, except for approvals, which rules and hooks of the host request. The turn waits for an approver.
struct Parked {
  ParkedStep step;
};
/// Input. An approver, rule or hook decided. `park` is empty when nothing had been parked.
struct Decided {
  ParkId park;
  CallId call;
  ApprovalVerb verb = ApprovalVerb::kApprove;
  std::string text;  ///< as in `Approval`
  Author author = {};
};
/// Input. A command from outside the loop.
struct Intervened {
  CommandVerb verb = CommandVerb::kAnnotate;
  std::string text;
  AgentSpecPtr agent;  ///< of `kSetAgent`
  Author author = {};
  /// The caller's text, if hooks on outgoing messages changed it; else empty.
  std::string original = {};
};
/// Derived. The model no longer sees the messages before `keep_from` (index into the history's messages).
struct Compacted {
  std::size_t keep_from = 0;
  std::string cause;  ///< `max_messages`, `max_context`, `context_window`, `context_overflow`, `requested`
  std::string summary = {};  ///< replaces them; empty: they are dropped
};
/// Input. `cause` is `recovered` if a new process took over: from here on, effects without an outcome are in
/// doubt.
struct StatusChanged {
  SessionStatus status = SessionStatus::kIdle;
  std::string cause;
  Usage spent = {};  ///< assumed usage of a model call that is now in doubt
};
/// Derived. The turn has ended.
struct TurnSettled {
  TurnId turn;
  StopReason reason = StopReason::kFinished;
  /// Result of a plan; empty if the last assistant message is the result.
  std::string text;
  std::optional<Error> error;
};
/// Input. In the conversation of a team: the member that answers from the next turn on. Since version 5.
struct SpeakerSet {
  std::string agent;              ///< agent id
  std::vector<std::string> next;  ///< members that answer the same message after it, in turn
  std::string
      cause;  ///< `set` and `handoff` last; `route` and `chain` (the next in turn) hold for one message
  Json strategy = nullptr;  ///< by which messages are routed; null: the speaker answers
  Author author = {};
};

}  // namespace records

using AnyRecord =
    std::variant<records::SessionCreated, records::TurnStarted, records::MessageAppended,
                 records::EffectIntended, records::EffectSettled, records::Parked, records::Decided,
                 records::Intervened, records::Compacted, records::StatusChanged, records::TurnSettled,
                 records::CallProposed, records::ChildSpawned, records::ChildSettled, records::SpeakerSet>;
extern template class Variant<AnyRecord>;
using RecordBody = Variant<AnyRecord>;

/// One durable fact and the time when it was written.
struct Record {
  UnixMillis time;
  RecordBody body;
};

/// `session_created`, `turn_started`, ...
std::string_view kind_name(const RecordBody& body);
/// Whether `next` derives such a record (and a replay must find the same), as opposed to an input.
bool is_derived(const RecordBody& body);

/// A payload stored outside the record because it is larger than `kBlobThreshold`.
struct RecordBlob {
  Digest digest;
  std::string bytes;
};
inline constexpr std::size_t kBlobThreshold = 16 * 1024;

/// Returns the JSON text of a record's body; strings above the threshold go to `blobs` and are referenced by
/// digest.
std::string encode_record(const RecordBody& body, std::vector<RecordBlob>& blobs);
/// Finds a blob by its digest.
using BlobLookup = std::function<Result<std::string>(const Digest&)>;
/// The inverse of `encode_record`. Error `kJournal`: an unknown kind, a missing field, a missing blob.
Result<RecordBody> decode_record(std::string_view kind, std::string_view text, const BlobLookup& blobs);

}  // namespace praxis
#pragma GCC visibility pop
