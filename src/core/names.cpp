// Names of the core's enumerations in journals and JSON.
#include <utility>

#include "domain/enum_names.hpp"
#include "praxis/core/records.hpp"

namespace praxis {
namespace {

constexpr Names<SessionStatus, 9> kStatusNames{{{SessionStatus::kIdle, "idle"},
                                                {SessionStatus::kRunning, "running"},
                                                {SessionStatus::kAwaitingUser, "awaiting_user"},
                                                {SessionStatus::kCompleted, "completed"},
                                                {SessionStatus::kError, "error"},
                                                {SessionStatus::kModified, "modified"},
                                                {SessionStatus::kDeleted, "deleted"},
                                                {SessionStatus::kCancelled, "cancelled"},
                                                {SessionStatus::kInterrupted, "interrupted"}}};

constexpr Names<StopReason, 15> kReasonNames{{{StopReason::kFinished, "finished"},
                                              {StopReason::kMaxSteps, "max_steps"},
                                              {StopReason::kMaxToolCalls, "max_tool_calls"},
                                              {StopReason::kTimeLimit, "time_limit"},
                                              {StopReason::kTokenLimit, "token_limit"},
                                              {StopReason::kCostLimit, "cost_limit"},
                                              {StopReason::kContextLimit, "context_limit"},
                                              {StopReason::kOutputLimit, "output_limit"},
                                              {StopReason::kRepetition, "repetition"},
                                              {StopReason::kRefused, "refused"},
                                              {StopReason::kModelFailed, "model_failed"},
                                              {StopReason::kToolFailed, "tool_failed"},
                                              {StopReason::kPlanFailed, "plan_failed"},
                                              {StopReason::kInvalidOutput, "invalid_output"},
                                              {StopReason::kCancelled, "cancelled"}}};

constexpr Names<EffectKind, 3> kEffectNames{
    {{EffectKind::kModel, "model"}, {EffectKind::kTool, "tool"}, {EffectKind::kTimer, "timer"}}};

constexpr Names<Outcome, 4> kOutcomeNames{{{Outcome::kOk, "ok"},
                                           {Outcome::kError, "error"},
                                           {Outcome::kCancelled, "cancelled"},
                                           {Outcome::kUnknown, "unknown"}}};

constexpr Names<ParkKind, 5> kParkNames{{{ParkKind::kApproval, "approval"},
                                         {ParkKind::kQuestion, "question"},
                                         {ParkKind::kInDoubt, "in_doubt"},
                                         {ParkKind::kAuthorisation, "authorisation"},
                                         {ParkKind::kMachine, "machine"}}};

constexpr Names<MessageSource, 6> kSourceNames{{{MessageSource::kUser, "user"},
                                                {MessageSource::kSteer, "steer"},
                                                {MessageSource::kQueue, "queue"},
                                                {MessageSource::kPlan, "plan"},
                                                {MessageSource::kRuntime, "runtime"},
                                                {MessageSource::kImport, "import"}}};

constexpr Names<NoteReason, 5> kNoteNames{{{NoteReason::kNone, "none"},
                                           {NoteReason::kUnusable, "unusable"},
                                           {NoteReason::kMalformedCall, "malformed_call"},
                                           {NoteReason::kRepetition, "repetition"},
                                           {NoteReason::kSchema, "schema"}}};

}  // namespace

std::string_view to_string(NoteReason reason) { return name_of(kNoteNames, reason); }
std::optional<NoteReason> note_reason_from(std::string_view name) { return value_of(kNoteNames, name); }
std::string_view to_string(SessionStatus status) { return name_of(kStatusNames, status); }
std::string_view to_string(StopReason reason) { return name_of(kReasonNames, reason); }
std::string_view to_string(EffectKind kind) { return name_of(kEffectNames, kind); }
std::string_view to_string(Outcome outcome) { return name_of(kOutcomeNames, outcome); }
std::string_view to_string(ParkKind kind) { return name_of(kParkNames, kind); }
std::string_view to_string(MessageSource source) { return name_of(kSourceNames, source); }

std::optional<SessionStatus> session_status_from(std::string_view name) {
  return value_of(kStatusNames, name);
}
std::optional<StopReason> stop_reason_from(std::string_view name) { return value_of(kReasonNames, name); }
std::optional<EffectKind> effect_kind_from(std::string_view name) { return value_of(kEffectNames, name); }
std::optional<Outcome> outcome_from(std::string_view name) { return value_of(kOutcomeNames, name); }
std::optional<ParkKind> park_kind_from(std::string_view name) { return value_of(kParkNames, name); }
std::vector<ApprovalVerb> allowed_approvals(ParkKind kind) {
  switch (kind) {
    case ParkKind::kApproval:
      return {ApprovalVerb::kApprove, ApprovalVerb::kReject, ApprovalVerb::kEdit};
    case ParkKind::kQuestion:
      return {ApprovalVerb::kAnswer, ApprovalVerb::kReject};
    case ParkKind::kInDoubt:
      return {ApprovalVerb::kApprove, ApprovalVerb::kReject, ApprovalVerb::kEdit, ApprovalVerb::kAnswer};
    case ParkKind::kAuthorisation:
    case ParkKind::kMachine:
      return {ApprovalVerb::kApprove, ApprovalVerb::kReject};
  }
  std::unreachable();
}
std::optional<MessageSource> message_source_from(std::string_view name) {
  return value_of(kSourceNames, name);
}

}  // namespace praxis
