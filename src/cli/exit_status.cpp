#include "cli/exit_status.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "praxis/json/json.hpp"

namespace praxis::cli {
namespace {

ExitStatus cancelled_by(int signal) {
  if (signal == SIGINT) return ExitStatus::kInterrupted;
  if (signal == SIGTERM) return ExitStatus::kTerminated;
  if (signal == SIGHUP) return ExitStatus::kHungUp;
  return ExitStatus::kFailed;
}

/// Whether the model could not be reached, is not there or refused service, as opposed to an invalid request.
bool is_unavailable(const Error& error) {
  using enum ErrorKind;
  static constexpr std::array kKinds{kAuth,    kBilling, kRateLimit,       kOverloaded, kServer,
                                     kNetwork, kTimeout, kTruncatedStream, kProtocol};
  // Without a status, it is a script that has no further answer.
  const bool is_missing = error.kind() == kNotFound && json_int(error.detail(), "status") != 0;
  return is_missing || std::ranges::find(kKinds, error.kind()) != kKinds.end();
}

}  // namespace

ExitStatus exit_status(const Error& error, int signal) {
  switch (error.code) {
    case ErrorCode::kInput:
      return ExitStatus::kUsage;
    case ErrorCode::kPolicy:
      return ExitStatus::kBlocked;
    case ErrorCode::kLimit:
      return ExitStatus::kLimit;
    case ErrorCode::kCancelled:
      return cancelled_by(signal);
    case ErrorCode::kModel:
      return is_unavailable(error) ? ExitStatus::kUnavailable : ExitStatus::kFailed;
    case ErrorCode::kTool:
    case ErrorCode::kJournal:
    case ErrorCode::kInternal:
      break;
  }
  return ExitStatus::kFailed;
}

ExitStatus exit_status(const AgentResult& result, int signal) {
  if (!result.reason) return ExitStatus::kParked;
  switch (*result.reason) {
    case StopReason::kFinished:
      return ExitStatus::kFinished;
    case StopReason::kCancelled:
      return cancelled_by(signal);
    case StopReason::kMaxSteps:
    case StopReason::kMaxToolCalls:
    case StopReason::kTimeLimit:
    case StopReason::kTokenLimit:
    case StopReason::kCostLimit:
    case StopReason::kContextLimit:
    case StopReason::kOutputLimit:
    case StopReason::kRepetition:
      return ExitStatus::kLimit;
    case StopReason::kInvalidOutput:
      return ExitStatus::kInvalidOutput;
    case StopReason::kRefused:
    case StopReason::kModelFailed:
    case StopReason::kToolFailed:
    case StopReason::kPlanFailed:
      break;
  }
  const bool tells =
      result.error && (result.error->code == ErrorCode::kModel || result.error->code == ErrorCode::kPolicy);
  return tells ? exit_status(*result.error, signal) : ExitStatus::kFailed;
}

}  // namespace praxis::cli
