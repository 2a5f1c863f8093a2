// The closed set of facts a session is made of. A record is either an *input* (something the world or a
// person did) or *derived* (what `next` concluded from the state); a replay feeds the first and checks the
// second.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/approval.hpp"
#include "praxis/domain/command.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/model_types.hpp"

namespace praxis {

/// The version of the record set that this library writes; it reads every version up to this one.
inline constexpr std::uint32_t kRecordVersion = 4;

/// Where a session stands (S5-13), plus `idle` for one that has not had a turn yet.
enum class SessionStatus : std::uint8_t {
  kIdle,
  kRunning,
  kAwaitingUser,
  kCompleted,
  kError,
  kModified,
  kDeleted
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
  kRepetition,    ///< the same call, pair of calls or error again and again
  kRefused,       ///< the model refused, or a content filter stepped in
  kModelFailed,
  kToolFailed,     ///< a fatal tool error, or `tool_failure = "fail"`
  kPlanFailed,     ///< a written plan could not go on
  kInvalidOutput,  ///< the answer does not fit the schema that was asked for, also after corrections
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

/// What a model is asked, field by field, so that a replay can say which part differs. In a record `settings`
/// and `tools` are empty when they are as in the session's previous model request.
struct RequestDigest {
  Digest settings;  ///< model, instructions and options
  Digest tools;
  Digest history;
  bool operator==(const RequestDigest&) const = default;
};

/// What hooks changed in one model request; recorded, so that a replay needs no hooks.
struct RequestPatch {
  std::optional<std::string> instructions;
  std::optional<ModelOptions> options;
  bool operator==(const RequestPatch&) const = default;
};

// ---- the records
// -------------------------------------------------------------------------------------------------

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
};
/// Input. A turn begins; its user message, if any, follows.
struct TurnStarted {
  TurnId turn;
  Json output_schema = nullptr;  ///< JSON Schema that the turn's answer has to fit; null: free text
};
enum class MessageSource : std::uint8_t { kUser, kSteer, kQueue, kPlan, kRuntime, kImport };
std::string_view to_string(MessageSource source);
std::optional<MessageSource> message_source_from(std::string_view name);
/// Input (user, queue, import) or derived (plan, runtime, steer). Assistant and tool messages of the
/// model-driven loop are not repeated here: they are the results of settled effects.
struct MessageAppended {
  MessagePtr message;
  MessageSource source = MessageSource::kUser;
};
/// What a model call that summarises is for.
struct SummaryTask {
  std::size_t keep_from = 0;  ///< what stands before it (index into the history's messages) is summarised
  std::string cause;          ///< as in `Compacted`
};
/// What a planner wants to know from the model beside the conversation: neither question nor answer becomes a
/// part of it.
struct Consultation {
  std::string purpose;    ///< names the answer among the results of the plan
  std::string prompt;     ///< follows the conversation as a user message
  Json schema = nullptr;  ///< JSON Schema of the answer; null: free text
};
/// Derived. Durable before the effect starts. The same effect is intended again for another attempt. It holds
/// what cannot be known from the log before it: the model is the agent's, a tool's arguments are the call's.
struct EffectIntended {
  EffectId effect;
  EffectKind kind = EffectKind::kModel;
  std::uint32_t attempt = 1;
  std::string tool;        ///< of tools: its name
  CallId call;             ///< of tools
  std::uint32_t step = 0;  ///< of models and timers; a tool's is that of the call's model
  RequestDigest request;   ///< of models
  RequestPatch patch;      ///< of models
  Millis delay{0};         ///< of timers, and of model attempts that back off first
  std::optional<SummaryTask> summary = std::nullopt;   ///< of a model that is to summarise, not to answer
  std::optional<Consultation> consult = std::nullopt;  ///< of a model that answers a planner
  bool non_strict = false;  ///< of models: no tool is held to its schema, because the vendor refused that
};
/// Input. The handler of the running call `within` asks for a tool of its agent. Judged and carried out as a
/// call of the model is; its result goes to the handler, not into the conversation.
struct CallProposed {
  CallId within;
  ToolCallPart call;
  std::string key;  ///< finds the call again when the handler runs once more after a crash
};
/// Input. The handler of the running call `call` made a sub-agent. Durable before its session exists.
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
  Usage usage;  ///< of the child and all below it, since it was made
};
/// What a tool gave back.
struct ToolOutcome {
  ToolResultPart result;  ///< its `id` and `name` are the call's and not recorded
  Json value;             ///< the structured form; null when there is none
  Json memory;            ///< array of memory changes; null when there are none
};
/// Input. Durable before anyone sees the effect as done.
struct EffectSettled {
  EffectId effect;
  Outcome outcome = Outcome::kOk;
  Millis duration{0};
  std::variant<std::monostate, ModelResponse, ToolOutcome> result;
  std::optional<Error> error;
  /// Empty for the effect itself; `hook` when a hook answered in its place; `recovery` (then derived) for a
  /// call that was in doubt and is told to the model as unknown.
  std::string by;
  /// Of a model call without an answer: the usage that its vendor stated, else an estimate. Zero when its
  /// request was not sent or was refused.
  Usage spent = {};
};
/// What a person is asked.
enum class ParkKind : std::uint8_t { kApproval, kQuestion, kInDoubt, kAuthorisation };
std::string_view to_string(ParkKind kind);
std::optional<ParkKind> park_kind_from(std::string_view name);
struct ParkedStep {
  ParkId id;
  ParkKind kind = ParkKind::kApproval;
  std::string prompt;
  CallId call;  ///< the call that waits; empty for a question of the planner
  std::string tool;
  std::string arguments;    ///< what exactly would run
  Digest digest;            ///< of tool and arguments: what an approval binds
  Json schema = nullptr;    ///< JSON Schema of the answer to a question; null: any text
  SessionId session = {};   ///< whose step it is; this and what follows is known from the log, not recorded
  std::string path = {};    ///< of that session in the agent tree
  UnixMillis expires = {};  ///< when it counts as denied; zero: never
};
Json to_json(const ParkedStep& parked);
/// Derived, but for approvals, which rules and hooks of the host ask for. The turn waits for a person here.
struct Parked {
  ParkedStep step;
};
/// The approvals that a step of this kind takes.
std::vector<ApprovalVerb> allowed_approvals(ParkKind kind);
/// Input. An approver, rule or hook decided. `park` is empty when nothing had been parked.
struct Decided {
  ParkId park;
  CallId call;
  ApprovalVerb verb = ApprovalVerb::kApprove;
  std::string text;  ///< as in `Approval`
  std::string by;    ///< `person`, `policy`, `hook`
};
/// Input. A command from outside the loop.
struct Intervened {
  CommandVerb verb = CommandVerb::kAnnotate;
  std::string text;
  AgentSpecPtr agent;
};
/// Derived. The model no longer sees what stands before `keep_from` (index into the history's messages).
struct Compacted {
  std::size_t keep_from = 0;
  std::string cause;         ///< `max_messages`, `max_context`, `context_window`, `context_overflow`
  std::string summary = {};  ///< stands in its place; empty: it is forgotten
};
/// Input. `cause` is `recovered` when a new process took over: effects without outcome are in doubt from
/// here.
struct StatusChanged {
  SessionStatus status = SessionStatus::kIdle;
  std::string cause;
  Usage spent = {};  ///< what a model call that is now in doubt is taken to have used
};
/// Derived. The turn is over.
struct TurnSettled {
  TurnId turn;
  StopReason reason = StopReason::kFinished;
  std::string text;  ///< result of a plan; empty when the last assistant message is the result
  std::optional<Error> error;
};

using RecordBody =
    std::variant<SessionCreated, TurnStarted, MessageAppended, EffectIntended, EffectSettled, Parked, Decided,
                 Intervened, Compacted, StatusChanged, TurnSettled, CallProposed, ChildSpawned, ChildSettled>;

/// One durable fact with the time it was written.
struct Record {
  UnixMillis time;
  RecordBody body;
};

/// `session_created`, `turn_started`, ...
std::string_view kind_name(const RecordBody& body);
/// Whether `next` derives such a record (and a replay must find the same), rather than the world supplying
/// it.
bool is_derived(const RecordBody& body);

/// A payload that stands outside the record because it is larger than `kBlobThreshold`.
struct RecordBlob {
  Digest digest;
  std::string bytes;
};
inline constexpr std::size_t kBlobThreshold = 16 * 1024;

/// JSON text of a record's body; strings above the threshold go to `blobs` and are named by digest.
std::string encode_record(const RecordBody& body, std::vector<RecordBlob>& blobs);
/// Finds a blob by digest.
using BlobLookup = std::function<Result<std::string>(const Digest&)>;
/// The inverse. Error `kJournal`: an unknown kind, a missing field, a missing blob.
Result<RecordBody> decode_record(std::string_view kind, std::string_view text, const BlobLookup& blobs);

}  // namespace praxis
