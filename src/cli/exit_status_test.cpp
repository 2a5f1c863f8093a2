#include "cli/exit_status.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "app/envelope.hpp"

namespace praxis::cli {
namespace {

Error error(ErrorCode code, const char* kind = "") {
  return make_error(code, error_kind_from(kind), "it did not work");
}

AgentResult ended(StopReason reason, std::optional<Error> why = std::nullopt) {
  AgentResult result;
  result.reason = reason;
  result.error = std::move(why);
  return result;
}

TEST(ExitStatusOf, EveryWayATurnEnds) {
  EXPECT_EQ(exit_status(ended(StopReason::kFinished)), ExitStatus::kFinished);
  EXPECT_EQ(exit_status(AgentResult{}), ExitStatus::kParked);
  for (const StopReason limit : {StopReason::kMaxSteps, StopReason::kMaxToolCalls, StopReason::kTimeLimit,
                                 StopReason::kTokenLimit, StopReason::kCostLimit, StopReason::kContextLimit,
                                 StopReason::kOutputLimit, StopReason::kRepetition}) {
    EXPECT_EQ(exit_status(ended(limit, error(ErrorCode::kLimit))), ExitStatus::kLimit) << to_string(limit);
  }
  for (const StopReason failure :
       {StopReason::kRefused, StopReason::kModelFailed, StopReason::kToolFailed, StopReason::kPlanFailed}) {
    EXPECT_EQ(exit_status(ended(failure)), ExitStatus::kFailed) << to_string(failure);
    EXPECT_EQ(exit_status(ended(failure, error(ErrorCode::kTool))), ExitStatus::kFailed)
        << to_string(failure);
  }
  EXPECT_EQ(exit_status(ended(StopReason::kToolFailed, error(ErrorCode::kPolicy))), ExitStatus::kBlocked);
  EXPECT_EQ(exit_status(ended(StopReason::kInvalidOutput, error(ErrorCode::kModel, "invalid_output"))),
            ExitStatus::kInvalidOutput);
}

TEST(ExitStatusOf, UnreachableModelAndInvalidRequestDiffer) {
  for (const char* kind : {"auth", "billing", "rate_limit", "overloaded", "server", "network", "timeout",
                           "truncated_stream", "protocol"}) {
    EXPECT_EQ(exit_status(ended(StopReason::kModelFailed, error(ErrorCode::kModel, kind))),
              ExitStatus::kUnavailable)
        << kind;
  }
  for (const char* kind : {"invalid_request", "not_found", "content_policy", ""}) {
    EXPECT_EQ(exit_status(ended(StopReason::kModelFailed, error(ErrorCode::kModel, kind))),
              ExitStatus::kFailed)
        << kind;
  }
}

TEST(ExitStatusOf, ModelThatItsServerDoesNotHaveIsUnavailable) {
  Error missing = error(ErrorCode::kModel, "not_found");
  missing.set("status", 404);
  EXPECT_EQ(exit_status(ended(StopReason::kModelFailed, missing)), ExitStatus::kUnavailable);
}

TEST(ExitStatusOf, CancelledRunGivesTheSignal) {
  EXPECT_EQ(exit_status(ended(StopReason::kCancelled), SIGINT), ExitStatus::kInterrupted);
  EXPECT_EQ(exit_status(ended(StopReason::kCancelled), SIGTERM), ExitStatus::kTerminated);
  EXPECT_EQ(exit_status(ended(StopReason::kCancelled)), ExitStatus::kFailed)
      << "cancelled by another process";
  EXPECT_EQ(exit_status(ended(StopReason::kFinished), SIGINT), ExitStatus::kFinished)
      << "the signal came too late";
}

TEST(ExitStatusOf, ErrorsWithoutAResult) {
  EXPECT_EQ(exit_status(error(ErrorCode::kInput)), ExitStatus::kUsage);
  EXPECT_EQ(exit_status(error(ErrorCode::kJournal)), ExitStatus::kFailed);
  EXPECT_EQ(exit_status(error(ErrorCode::kPolicy)), ExitStatus::kBlocked);
  EXPECT_EQ(exit_status(error(ErrorCode::kLimit)), ExitStatus::kLimit);
  EXPECT_EQ(exit_status(error(ErrorCode::kInternal)), ExitStatus::kFailed);
}

TEST(Envelope, OfAFailureHasTheFieldsOfAResult) {
  const Json failure = app::envelope("run", 2, app::run_fields(error(ErrorCode::kInput)));
  const Json success = app::envelope("run", 0, app::run_fields(ended(StopReason::kFinished)));
  for (const auto& [key, value] : success.get_object())
    EXPECT_TRUE(failure.get_object().contains(key)) << key;
  EXPECT_TRUE(failure.at("run_id").is_null());
  EXPECT_EQ(json_string(failure, "status"), "error");
  EXPECT_EQ(failure.at("errors").as_array().size(), 1U);
  const auto fields = app::run_fields(error(ErrorCode::kJournal), SessionId{"01K"});
  EXPECT_EQ(json_string(Json(fields), "run_id"), "01K");
}

}  // namespace
}  // namespace praxis::cli
