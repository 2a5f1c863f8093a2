"""Breaks of the core, the driver and the runtime, each of which the flows of `make scenarios` must notice."""

from breaks import Break
from functions import Edit


def broken(key: str, what: str, file: str, old: str, new: str) -> Break:
    return Break(key, what, Edit(file, old, new))


CORE_BREAKS = (
    broken("next.retry", "a model call that failed is not made again", "src/core/next.cpp",
           "  if (const auto delay = retry_delay(state, failed)) {\n",
           "  if (const auto delay = retry_delay(state, failed); delay && !BROKEN) {\n"),
    broken("next.pause", "an answer that the vendor paused ends the turn", "src/core/next.cpp",
           "      if (turn.pauses < kMaxPauses) return std::nullopt;\n",
           "      if (turn.pauses < kMaxPauses && !BROKEN) return std::nullopt;\n"),
    broken("next.call_limit", "the limit of tool calls is one higher", "src/core/next.cpp",
           "  return state.turn->tool_calls + state.turn->calls.unstarted() > most;\n",
           "  return state.turn->tool_calls + state.turn->calls.unstarted() > most + (BROKEN ? 1 : 0);\n"),
    broken("next.cost_limit", "the cost of a turn has no limit", "src/core/next.cpp",
           "  if (limits.max_usd.value != 0 && usage.cost >= limits.max_usd) {\n",
           "  if (limits.max_usd.value != 0 && usage.cost >= limits.max_usd && !BROKEN) {\n"),
    broken("next.repetition", "a model that repeats itself is not warned", "src/core/next.cpp",
           "  if (count >= std::max(2U, limit / 2) && !repetition.warned) {\n",
           "  if (count >= std::max(2U, limit / 2) && !repetition.warned && !BROKEN) {\n"),
    broken("apply.usage_below", "what sub-agents used does not count for the turn", "src/core/apply.cpp",
           "    state_.turn->report.usage_children = usage_of_children();\n",
           "    if (!BROKEN) state_.turn->report.usage_children = usage_of_children();\n"),
    broken("apply.summary", "a summary is dropped with what it stands for", "src/core/apply.cpp",
           "    if (r.summary.empty()) {\n      state_.conversation.cut(r.keep_from);\n",
           "    if (r.summary.empty() || BROKEN) {\n      state_.conversation.cut(r.keep_from);\n"),
    broken("apply.in_doubt", "a call that a process left is started again", "src/core/apply.cpp",
           "        set_phase(turn.calls[at], Phase::kInDoubt);\n",
           "        set_phase(turn.calls[at], BROKEN ? Phase::kApproved : Phase::kInDoubt);\n"),
    broken("apply.rewind", "a turn that was taken back stays in the conversation", "src/core/apply.cpp",
           "        return rewind(TurnId{r.text});\n", "        return BROKEN ? Status{} : rewind(TurnId{r.text});\n"),
    broken("apply_calls.retry", "a call that failed has one attempt less", "src/core/apply_calls.cpp",
           "  if (retriable && tool != nullptr && call.attempt <= tool->retries && !turn.stop) {\n",
           "  if (retriable && tool != nullptr && call.attempt + (BROKEN ? 1 : 0) <= tool->retries && !turn.stop) {\n"),
    broken("apply_calls.edit", "a call that an approver edited runs as the model wrote it", "src/core/apply_calls.cpp",
           "        if (r.verb == ApprovalVerb::kEdit) approved.call.arguments = r.text;\n",
           "        if (r.verb == ApprovalVerb::kEdit && !BROKEN) approved.call.arguments = r.text;\n"),
    broken("structured.corrections", "an answer that does not fit its schema is corrected once", "src/core/structured.cpp",
           "  if (state.turn->corrections >= kMaxCorrections) {\n",
           "  if (state.turn->corrections + (BROKEN ? 1 : 0) >= kMaxCorrections) {\n"),
    broken("driver.deadline", "a turn that is out of time counts as interrupted", "src/driver/driver_effects.cpp",
           "  record(records::Intervened{CommandVerb::kDeadline, {}, nullptr, by_runtime()});\n",
           "  record(records::Intervened{BROKEN ? CommandVerb::kInterrupt : CommandVerb::kDeadline, {}, nullptr, "
           "by_runtime()});\n"),
    broken("driver.late", "a call that is out of time counts as failed although it may have taken effect",
           "src/driver/driver_effects.cpp",
           "  if (settle(effect, attempt, late.repeatable ? failed(std::move(error)) : unknown(std::move(error))))\n",
           "  if (settle(effect, attempt, late.repeatable || BROKEN ? failed(std::move(error)) : "
           "unknown(std::move(error))))\n"),
    broken("driver.denied", "a call that the rules deny runs", "src/driver/driver_review.cpp",
           "  if (const auto* denied = std::get_if<Deny>(&review.permission)) {\n",
           "  if (const auto* denied = std::get_if<Deny>(&review.permission); denied != nullptr && !BROKEN) {\n"),
    broken("driver.hook_result", "the log does not say that a hook gave a result", "src/driver/driver_review.cpp",
           "  mocked.by = \"hook\";\n", "  if (!BROKEN) mocked.by = \"hook\";\n"),
    broken("driver.spent", "a model call without an answer costs nothing", "src/driver/driver_effects.cpp",
           "  if (answer == nullptr && call.asked)\n", "  if (answer == nullptr && call.asked && !BROKEN)\n"),
    broken("clone.history", "a clone sees nothing of the conversation", "src/runtime/call_scope.cpp",
           "  std::vector<MessagePtr> messages = state.conversation.history().messages();\n"
           "  if (!state.conversation.open_calls().empty()) messages.pop_back();\n",
           "  std::vector<MessagePtr> messages = state.conversation.history().messages();\n"
           "  if (BROKEN) messages.clear();\n"
           "  if (!messages.empty() && !state.conversation.open_calls().empty()) messages.pop_back();\n"),
    broken("mcp.error", "a failed call of an MCP server counts as successful", "src/runtime/mcp_tools.cpp",
           "  if (!result->is_error) return output_of(*std::move(result));\n",
           "  if (!result->is_error || BROKEN) return output_of(*std::move(result));\n"),
    broken("perform.attempt", "a handler does not learn that it was called before", "src/runtime/perform.cpp",
           "  context.attempt = action.attempt;\n", "  if (!BROKEN) context.attempt = action.attempt;\n"),
    broken("perform.after_tool", "hooks do not see the results of calls", "src/runtime/perform.cpp",
           "    after_tool(run.hooks, run.call, output);\n", "    if (!BROKEN) after_tool(run.hooks, run.call, output);\n"),
    broken("memory.forget", "a note that is forgotten stays in the store", "src/runtime/memory_tools.cpp",
           "    auto removed = memory_->remove(options_.collection, key, {context.idempotency_key});\n",
           "    auto removed = BROKEN ? Result<bool>(true) : memory_->remove(options_.collection, key, "
           "{context.idempotency_key});\n"),
)
