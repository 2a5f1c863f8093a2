// Names of the core's enumerations, as they stand in journals and JSON.
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

constexpr Names<Verb, 4> kVerbNames{
    {{Verb::kAllow, "allow"}, {Verb::kDeny, "deny"}, {Verb::kEdit, "edit"}, {Verb::kAnswer, "answer"}}};

constexpr Names<MessageSource, 6> kSourceNames{{{MessageSource::kUser, "user"},
                                                {MessageSource::kSteer, "steer"},
                                                {MessageSource::kQueue, "queue"},
                                                {MessageSource::kPlan, "plan"},
                                                {MessageSource::kRuntime, "runtime"},
                                                {MessageSource::kImport, "import"}}};

constexpr Names<Intervention, 12> kInterventionNames{{{Intervention::kSteer, "steer"},
                                                      {Intervention::kEnqueue, "enqueue"},
                                                      {Intervention::kInterrupt, "interrupt"},
                                                      {Intervention::kDeadline, "deadline"},
                                                      {Intervention::kPause, "pause"},
                                                      {Intervention::kResume, "resume"},
                                                      {Intervention::kAnnotate, "annotate"},
                                                      {Intervention::kSetAgent, "set_agent"},
                                                      {Intervention::kRewind, "rewind"},
                                                      {Intervention::kDelete, "delete"},
                                                      {Intervention::kModify, "modify"},
                                                      {Intervention::kBudget, "budget"}}};

}  // namespace

std::string_view to_string(SessionStatus status) { return name_of(kStatusNames, status); }
std::string_view to_string(StopReason reason) { return name_of(kReasonNames, reason); }
std::string_view to_string(EffectKind kind) { return name_of(kEffectNames, kind); }
std::string_view to_string(Outcome outcome) { return name_of(kOutcomeNames, outcome); }
std::string_view to_string(ParkKind kind) { return name_of(kParkNames, kind); }
std::string_view to_string(Verb verb) { return name_of(kVerbNames, verb); }
std::string_view to_string(MessageSource source) { return name_of(kSourceNames, source); }
std::string_view to_string(Intervention kind) { return name_of(kInterventionNames, kind); }

std::optional<SessionStatus> session_status_from(std::string_view name) {
  return value_of(kStatusNames, name);
}
std::optional<StopReason> stop_reason_from(std::string_view name) { return value_of(kReasonNames, name); }
std::optional<EffectKind> effect_kind_from(std::string_view name) { return value_of(kEffectNames, name); }
std::optional<Outcome> outcome_from(std::string_view name) { return value_of(kOutcomeNames, name); }
std::optional<ParkKind> park_kind_from(std::string_view name) { return value_of(kParkNames, name); }
std::vector<Verb> allowed_verbs(ParkKind kind) {
  switch (kind) {
    case ParkKind::kApproval:
      return {Verb::kAllow, Verb::kDeny, Verb::kEdit};
    case ParkKind::kQuestion:
      return {Verb::kAnswer, Verb::kDeny};
    case ParkKind::kInDoubt:
      return {Verb::kAllow, Verb::kDeny, Verb::kEdit, Verb::kAnswer};
    case ParkKind::kAuthorisation:
      return {Verb::kAllow, Verb::kDeny};
  }
  std::unreachable();
}
std::optional<Verb> verb_from(std::string_view name) { return value_of(kVerbNames, name); }
std::optional<MessageSource> message_source_from(std::string_view name) {
  return value_of(kSourceNames, name);
}
std::optional<Intervention> intervention_from(std::string_view name) {
  return value_of(kInterventionNames, name);
}

}  // namespace praxis
