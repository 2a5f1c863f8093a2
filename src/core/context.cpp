#include "core/context.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/decisions.hpp"

namespace praxis {
namespace {

// For the user's own messages, if the window is unknown.
constexpr std::int64_t kVerbatimTokens = 4'000;

constexpr const char* kSummaryRequest =
    "the conversation so far is about to exceed what can be sent to you. Write a summary that can take its "
    "place. Say what was done and found, with names, paths, identifiers, figures and error messages exactly "
    "as they appeared; what was decided and why; which constraints hold; and every task that is still open, "
    "word for word. The user's first and latest messages stay as they are, so do not repeat them. Answer "
    "with the summary alone and call no tool.";

bool compacts(const State& state) { return state.agent->limits.compact_at != 0 && can_compact(state); }

constexpr const char* kRequested = "requested";  ///< cause of a summary

bool summary_failed(const TurnState& turn) {
  return turn.summary_failed || (turn.effect && turn.effect->summary && !is_requested(*turn.effect->summary));
}

/// How long the history may get before it is summarised, in estimated tokens; at least 1.
std::int64_t history_room(const State& state) {
  const std::int64_t window = state.context_window();
  if (window == 0) return state.conversation.history().estimated_tokens();
  const std::int64_t threshold = window * state.agent->limits.compact_at / 100;
  return std::max<std::int64_t>(threshold * 1000 / state.correction - state.overhead_tokens, 1);
}

/// Tokens saved by summarising the messages before `keep_from`, not counting the summary.
std::int64_t tokens_replaced(const State& state, std::size_t keep_from) {
  const History& history = state.conversation.history();
  const auto verbatim = kept_verbatim(history, keep_from, verbatim_tokens(state));
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < keep_from; ++i) {
    const Message& message = *history.messages()[i];
    const bool stays = message.role == Role::kSystem || message.role == Role::kDeveloper ||
                       std::ranges::binary_search(verbatim, i);
    if (!stays) tokens += estimate_tokens(message);
  }
  return tokens;
}

/// Summarises all but the last messages, which take at most `kept` tokens.
std::optional<Decision> summarise_before(const State& state, std::int64_t kept, std::string cause) {
  if (summary_failed(*state.turn)) return std::nullopt;
  const History& history = state.conversation.history();
  const std::size_t cut = choose_cut(history, {0, std::max<std::int64_t>(kept, 1)});
  // A summary that saves less than a tenth is not worth its call.
  if (cut == 0 || tokens_replaced(state, cut) * 10 < history.estimated_tokens()) return std::nullopt;
  return Summarise{{cut, std::move(cause)}};
}

std::optional<Decision> summarise(const State& state, std::string cause) {
  if (!compacts(state)) return std::nullopt;
  // Half of the room is kept for the summary, the user's messages and the next steps.
  return summarise_before(state, history_room(state) / 2, std::move(cause));
}

/// A user does not ask for a summary of what is about to be cut off anyway: little stays as it is.
std::optional<Decision> summarise_as_asked(const State& state) {
  const bool has_failed = state.turn->effect && state.turn->effect->summary;
  if (!state.compact || has_failed || !can_compact(state)) return std::nullopt;
  const std::int64_t tokens = state.conversation.history().estimated_tokens() / 4;
  const std::int64_t kept = compacts(state) ? std::min(tokens, history_room(state) / 2) : tokens;
  return summarise_before(state, kept, kRequested);
}

std::optional<Decision> leave_out(const State& state, std::int64_t max_tokens, std::string cause) {
  const std::size_t cut =
      choose_cut(state.conversation.history(), {0, std::max<std::int64_t>(max_tokens, 1)});
  if (cut == 0) return std::nullopt;
  return Compact{cut, std::move(cause)};
}

std::optional<Decision> shorten(const State& state) {
  constexpr const char* kCause = "context_overflow";
  if (auto decision = summarise(state, kCause)) return decision;
  return leave_out(state, state.conversation.history().estimated_tokens() / 2, kCause);
}

bool nears_window(const State& state) {
  const auto mark = compaction_mark(state);
  return mark && state.request_tokens() > *mark;
}

/// Whether the estimate for a part is reliable: only the vendor knows the tokens of media, files and
/// reasoning.
bool is_countable(const Part& part) {
  return std::holds_alternative<TextPart>(part) || std::holds_alternative<ToolCallPart>(part) ||
         std::holds_alternative<ToolResultPart>(part) || std::holds_alternative<RefusalPart>(part);
}

std::int64_t countable_tokens(const History& history) {
  std::int64_t tokens = 0;
  for (const MessagePtr& message : history.messages()) {
    Message counted;
    std::ranges::copy_if(message->parts, std::back_inserter(counted.parts), is_countable);
    for (Part& part : counted.parts) {
      if (auto* result = std::get_if<ToolResultPart>(&part)) result->images.clear();
    }
    tokens += estimate_tokens(counted);
  }
  return tokens;
}

/// Returns the approximate tokens of the next request if that certainly exceeds the model's known window. The
/// vendor's counts may only lower the estimate here: what a vendor adds to a short conversation says little
/// about a long one. Up to version 3 of the records, refusing such a request was left to the vendor.
std::optional<std::int64_t> surely_too_long(const State& state) {
  constexpr std::int64_t kHeadroom = 115;  // percent; the error of estimates
  const std::int64_t window = state.agent->profile.context_window;
  const bool judged_here = window != 0 && state.agent->limits.max_context == 0 &&
                           !state.agent->profile.compacts && !state.follows_plan();
  if (state.version < 4 || !judged_here) return std::nullopt;
  const auto of_request = [&](std::int64_t history) {
    return (history + state.overhead_tokens) * std::min<std::int64_t>(state.correction, 1000) / 1000;
  };
  const auto too_long = [&](std::int64_t tokens) { return tokens * 100 > window * kHeadroom; };
  const History& history = state.conversation.history();
  if (!too_long(of_request(history.estimated_tokens()))) return std::nullopt;
  const std::int64_t tokens = of_request(countable_tokens(history));
  return too_long(tokens) ? std::optional(tokens) : std::nullopt;
}

/// Returns what to do about a request that certainly exceeds the window.
std::optional<Decision> keep_below_window(const State& state) {
  const auto tokens = surely_too_long(state);
  if (!tokens) return std::nullopt;
  if (compacts(state)) {
    if (auto decision = leave_out(state, history_room(state), "context_window")) return decision;
  }
  return limit_reached(StopReason::kContextLimit,
                       "the next request would take about " + std::to_string(*tokens) +
                           " tokens, the context window of " + state.agent->model + " is " +
                           std::to_string(state.agent->profile.context_window) +
                           ", and it cannot be shortened any further");
}

}  // namespace

std::optional<Decision> fit_window(const State& state) {
  const Limits& limits = state.agent->limits;
  const History& history = state.conversation.history();
  if (state.turn->overflow == Overflow::kRefused) {
    if (auto decision = shorten(state)) return decision;
    return limit_reached(
        StopReason::kContextLimit,
        "the conversation does not fit the model's context window, and nothing more can be left out");
  }
  if (auto decision = summarise_as_asked(state)) return decision;
  if (nears_window(state)) {
    constexpr const char* kCause = "context_window";
    if (auto decision = summarise(state, kCause)) return decision;
    if (summary_failed(*state.turn)) {
      if (auto decision = leave_out(state, history_room(state), kCause)) return decision;
    }
  }
  const bool too_long = limits.max_context != 0 && history.estimated_tokens() > limits.max_context;
  if (const std::size_t cut = choose_cut(history, {limits.max_messages, limits.max_context})) {
    return Compact{cut, too_long ? "max_context" : "max_messages"};
  }
  if (too_long) {
    return limit_reached(StopReason::kContextLimit,
                         "the conversation needs about " + std::to_string(history.estimated_tokens()) +
                             " tokens, the limit is " + std::to_string(limits.max_context) +
                             ", and nothing more can be left out");
  }
  return keep_below_window(state);
}

// Plans find their position by the messages.
bool can_compact(const State& state) { return !state.follows_plan() && !state.agent->model.empty(); }

bool is_requested(const SummaryTask& task) { return task.cause == kRequested; }

bool is_overflow(const Error& error) {
  return error.kind() == ErrorKind::kContextOverflow || json_text(error.detail(), "change") == "compact";
}

Error window_full() {
  return make_error(ErrorCode::kModel, ErrorKind::kContextOverflow,
                    "the model's context window was full before its answer was complete");
}

std::optional<Decision> shorten_once(const State& state) {
  if (!compacts(state) || state.turn->overflow != Overflow::kNone) return std::nullopt;
  return shorten(state);
}

Decision after_overflow(const State& state, const Error& error) {
  if (auto decision = shorten_once(state)) return *std::move(decision);
  return Finish{StopReason::kContextLimit, {}, error};
}

History history_to_summarise(const History& history, std::size_t keep_from) {
  HistoryBuilder builder;
  for (std::size_t i = 0; i < std::min(keep_from, history.messages().size()); ++i) {
    builder.push(history.messages()[i]);
  }
  builder.push(std::make_shared<const Message>(runtime_note(kSummaryRequest).message));
  return builder.history();
}

History history_to_consult(const History& history, std::string_view prompt) {
  HistoryBuilder builder;
  for (const MessagePtr& message : history.messages()) builder.push(message);
  builder.push(std::make_shared<const Message>(text_message(Role::kUser, std::string(prompt))));
  return builder.history();
}

Message summary_message(std::string_view text) {
  Message message;
  message.parts.emplace_back(
      CompactionPart{"Summary of the conversation so far:\n" + std::string(text), nullptr});
  return message;
}

bool is_shorter(const State& state, const SummaryTask& task, std::string_view text) {
  return estimate_tokens(text) * 10 <= tokens_replaced(state, task.keep_from) * 9;
}

std::optional<std::int64_t> compaction_mark(const State& state) {
  const std::int64_t window = state.context_window();
  if (window == 0 || !compacts(state) || state.agent->profile.compacts) return std::nullopt;
  return window * state.agent->limits.compact_at / 100;
}

std::int64_t verbatim_tokens(const State& state) {
  const std::int64_t window = state.context_window();
  return window == 0 ? kVerbatimTokens : window / 8;
}

}  // namespace praxis
