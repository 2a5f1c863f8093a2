// Keeps a conversation within its model's context window: decides when to summarise older messages, which
// ones, and with what request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "praxis/core/next.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// Returns what must be removed from the conversation before the model is called again; `std::nullopt` if it
/// fits.
std::optional<Decision> fit_window(const State& state);
/// Whether a command can ask for a summary of older messages: not for plans, nor without a model.
bool can_compact(const State& state);
/// Whether a command asked for this summary. If it fails, the conversation stays as it is.
bool is_requested(const SummaryTask& task);
/// Whether a model refused the conversation as too long.
bool is_overflow(const Error& error);
/// The error for an answer that broke off because the model's context window was full.
Error window_full();
/// Returns what shortens a conversation that proved too long; `std::nullopt` if that was done already for
/// this answer, is disabled, or saves nothing.
std::optional<Decision> shorten_once(const State& state);
/// Decides after the model refused the conversation as too long: shortens it, or gives up with `error`.
Decision after_overflow(const State& state, const Error& error);

/// Returns the part of the history to summarise, followed by the request for a summary.
History history_to_summarise(const History& history, std::size_t keep_from);
/// Returns the history followed by a planner's side query.
History history_to_consult(const History& history, std::string_view prompt);
/// Returns a summary in the form that the model sees.
Message summary_message(std::string_view text);
/// Whether `text` is noticeably shorter than the messages that it summarises.
bool is_shorter(const State& state, const SummaryTask& task, std::string_view text);
/// Tokens of a request above which older messages are summarised before the model is called again;
/// `std::nullopt` if they never are: the agent follows a plan or turned it off, its model does it by itself,
/// or the window is unknown.
std::optional<std::int64_t> compaction_mark(const State& state);
/// Tokens (estimated) that the user's own messages may keep in a summarised history.
std::int64_t verbatim_tokens(const State& state);

}  // namespace praxis
