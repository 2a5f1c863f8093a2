// Keeping a conversation within its model's context window: when older messages are summarised, which ones,
// and what the model is asked for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "praxis/core/next.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// What has to be left out of the conversation before the model is asked again; nothing when it fits.
std::optional<Decision> fit_window(const State& state);
/// Whether a model refused the conversation as too long.
bool is_overflow(const Error& error);
/// What an answer amounts to that broke off because the model's context window was full.
Error window_full();
/// What shortens a conversation that turned out to be too long; nothing when that was done already for this
/// answer, is not wanted or frees nothing.
std::optional<Decision> shorten_once(const State& state);
/// After the model refused the conversation as too long: shorten it, or give up with `error`.
Decision after_overflow(const State& state, const Error& error);

/// The part of the history that a summary is made of, followed by the request for it.
History history_to_summarise(const History& history, std::size_t keep_from);
/// The history followed by what a planner asks beside it.
History history_to_consult(const History& history, std::string_view prompt);
/// What the model sees of a summary.
Message summary_message(std::string_view text);
/// Whether `text` takes noticeably less room than what it sums up.
bool is_shorter(const State& state, const SummaryTask& task, std::string_view text);
/// Room for the user's own words in a history that is summarised, in estimated tokens.
std::int64_t verbatim_tokens(const State& state);

}  // namespace praxis
