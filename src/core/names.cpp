// Names of the core's enumerations in journals and JSON.
#include <array>
#include <utility>

#include "praxis/core/records.hpp"

namespace praxis {
namespace {

template <class E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

template <class E, std::size_t N>
std::string_view name_of(const Names<E, N>& names, E value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  std::unreachable();
}

template <class E, std::size_t N>
std::optional<E> value_of(const Names<E, N>& names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

constexpr Names<SessionStatus, 7> kStatusNames{{{SessionStatus::kIdle, "idle"},
                                                {SessionStatus::kRunning, "running"},
                                                {SessionStatus::kAwaitingUser, "awaiting_user"},
                                                {SessionStatus::kCompleted, "completed"},
                                                {SessionStatus::kError, "error"},
                                                {SessionStatus::kModified, "modified"},
                                                {SessionStatus::kDeleted, "deleted"}}};

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

constexpr Names<ParkKind, 4> kParkNames{{{ParkKind::kApproval, "approval"},
                                         {ParkKind::kQuestion, "question"},
                                         {ParkKind::kInDoubt, "in_doubt"},
                                         {ParkKind::kAuthorisation, "authorisation"}}};

constexpr Names<ApprovalVerb, 4> kApprovalNames{{{ApprovalVerb::kApprove, "allow"},
                                                 {ApprovalVerb::kReject, "deny"},
                                                 {ApprovalVerb::kEdit, "edit"},
                                                 {ApprovalVerb::kAnswer, "answer"}}};

constexpr Names<MessageSource, 6> kSourceNames{{{MessageSource::kUser, "user"},
                                                {MessageSource::kSteer, "steer"},
                                                {MessageSource::kQueue, "queue"},
                                                {MessageSource::kPlan, "plan"},
                                                {MessageSource::kRuntime, "runtime"},
                                                {MessageSource::kImport, "import"}}};

constexpr Names<CommandVerb, 12> kCommandNames{{{CommandVerb::kSteer, "steer"},
                                                {CommandVerb::kEnqueue, "enqueue"},
                                                {CommandVerb::kInterrupt, "interrupt"},
                                                {CommandVerb::kDeadline, "deadline"},
                                                {CommandVerb::kPause, "pause"},
                                                {CommandVerb::kUnpause, "resume"},
                                                {CommandVerb::kAnnotate, "annotate"},
                                                {CommandVerb::kSetAgent, "set_agent"},
                                                {CommandVerb::kRewind, "rewind"},
                                                {CommandVerb::kDelete, "delete"},
                                                {CommandVerb::kModify, "modify"},
                                                {CommandVerb::kBudget, "budget"}}};

}  // namespace

std::string_view to_string(SessionStatus status) { return name_of(kStatusNames, status); }
std::string_view to_string(StopReason reason) { return name_of(kReasonNames, reason); }
std::string_view to_string(EffectKind kind) { return name_of(kEffectNames, kind); }
std::string_view to_string(Outcome outcome) { return name_of(kOutcomeNames, outcome); }
std::string_view to_string(ParkKind kind) { return name_of(kParkNames, kind); }
std::string_view to_string(ApprovalVerb verb) { return name_of(kApprovalNames, verb); }
std::string_view to_string(MessageSource source) { return name_of(kSourceNames, source); }
std::string_view to_string(CommandVerb kind) { return name_of(kCommandNames, kind); }

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
      return {ApprovalVerb::kApprove, ApprovalVerb::kReject};
  }
  std::unreachable();
}
std::optional<ApprovalVerb> approval_verb_from(std::string_view name) {
  return value_of(kApprovalNames, name);
}
std::optional<MessageSource> message_source_from(std::string_view name) {
  return value_of(kSourceNames, name);
}
std::optional<CommandVerb> command_verb_from(std::string_view name) { return value_of(kCommandNames, name); }

}  // namespace praxis
