#include "tui/followed_agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "app/user_message.hpp"
#include "app/values.hpp"
#include "base/visible_text.hpp"
#include "tui/composer.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostOnLine = 1000;  ///< columns of a line that is cut

std::string call_line(std::string_view name, std::string_view how) {
  return app::one_line(fmt::format("* {} ({})", name, how), kMostOnLine);
}

std::string end_line(const AgentResult& result) {
  const std::string sum = fmt::format("- {} {}, {}, {}", result.steps, result.steps == 1 ? "step" : "steps",
                                      app::show_duration(result.duration), app::show_usage(result.usage));
  if (result.error) return sum + ": " + app::one_line(result.error->message, kMostOnLine);
  const bool is_whole = !result.reason || *result.reason == StopReason::kFinished;
  return is_whole ? sum : fmt::format("{}: {}", sum, to_string(*result.reason));
}

std::string command_line(const records::Intervened& command) {
  const std::string author = command.author.principal.empty() ? std::string(to_string(command.author.surface))
                                                              : command.author.principal;
  const std::string text = command.text.empty() ? "" : ": " + command.text;
  return app::one_line(fmt::format("{} by {}{}", to_string(command.verb), author, text), kMostOnLine);
}

/// Whether the pieces of an answer that came before the event are no part of one after it.
bool ends_answer(const EventBody& body) {
  return std::holds_alternative<events::ModelRequested>(body) ||
         std::holds_alternative<events::AttemptSuperseded>(body) ||
         std::holds_alternative<events::ModelFailed>(body) ||
         std::holds_alternative<events::AssistantText>(body) || ends_turn(body);
}

}  // namespace

void FollowedAgent::show_past(const Event& event) {
  if (event.agent.id != id_) return;
  past_ = std::max(past_, event.seq);
  take(event);
}

void FollowedAgent::show(const Event& event) {
  if (event.agent.id != id_) return;
  if (is_delta(event.body) || event.seq > past_) return take(event);
  if (ends_answer(event.body)) arriving_.clear();  // the log had what the pieces became
}

void FollowedAgent::take(const Event& event) {
  std::visit(
      match{
          [&](const events::MessageAdded& e) {
            if (e.message != nullptr)
              add("> " + visible_text(app::readable_message(e.message->text()).text) + '\n');
          },
          [&](const events::TextDelta& e) {
            arriving_ += visible_text(e.text);
            arriving_ = end_of(arriving_, kMostKept);
          },
          [&](const events::ModelRequested&) { arriving_.clear(); },
          [&](const events::AttemptSuperseded&) { arriving_.clear(); },
          [&](const events::ModelFailed& e) {
            keep_arriving();
            add("model failed: " + app::one_line(e.error.message, kMostOnLine));
          },
          [&](const events::AssistantText& e) {
            arriving_.clear();
            add(visible_text(e.text));
          },
          [&](const events::ToolCalled& e) {
            add(app::one_line("* " + e.name + ' ' + e.arguments, kMostOnLine));
          },
          [&](const events::ToolCompleted& e) { add(call_line(e.name, app::show_duration(e.duration))); },
          [&](const events::ToolFailed& e) { add(call_line(e.name, "failed: " + e.error.message)); },
          [&](const events::ToolTimedOut& e) { add(call_line(e.name, "timed out")); },
          [&](const events::SessionIntervened& e) { add(command_line(e.intervention)); },
          [&](const events::SessionPaused&) { add("paused"); },
          [&](const events::SessionUnpaused&) { add("continues"); },
          [&](const events::TurnCompleted& e) { end(e.result); },
          [&](const events::TurnFailed& e) { end(e.result); },
          [&](const events::TurnTimedOut& e) { end(e.result); },
          [&](const events::TurnCancelled& e) { end(e.result); },
          [](const auto&) {},
      },
      event.body);
}

/// Adds a text as lines.
void FollowedAgent::add(std::string_view text) {
  text_.append(text).append("\n");
  written_ += text.size() + 1;
  if (text_.size() <= kMostKept) return;
  const auto line = text_.find('\n', text_.size() - kMostKept);
  text_.erase(0, line == std::string::npos || line + 1 == text_.size() ? text_.size() - kMostKept : line + 1);
}

/// What arrived of an answer whose end does not come.
void FollowedAgent::keep_arriving() {
  if (!arriving_.empty()) add(std::exchange(arriving_, {}));
}

void FollowedAgent::end(const AgentResult& result) {
  keep_arriving();
  add(end_line(result));
}

/// The rows below the place, also the empty ones, when what is read stays: those that there were, and those
/// that came since. An answer that is begun again takes its rows away.
std::size_t FollowedAgent::below(const Place& place, std::size_t columns) const {
  const std::string_view added = end_of(text_, written_ - place.written);
  const std::size_t rows =
      place.above + place.blank + hard_rows(added, columns).size() - 1 + hard_rows(arriving_, columns).size();
  return rows - std::min(rows, place.unfinished);
}

std::vector<std::string> FollowedAgent::lines(std::size_t columns, std::size_t rows, Place& place) const {
  const std::string all = text_ + arriving_;
  const bool stays = place.above > 0 && place.drawn;
  const std::size_t hidden = stays ? below(place, columns) : place.above;
  // Enough for the rows that are seen, so that a frame costs the same however long the conversation is. From
  // the beginning of a line, so that it is broken where it was.
  const std::size_t enough = 4 * columns * (rows + hidden + 1);
  const std::size_t line = enough < all.size() ? all.rfind('\n', all.size() - enough) : std::string::npos;
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  std::vector<std::string> broken = hard_rows(std::string_view(all).substr(begin), columns);
  std::size_t blank = 0;
  for (; !broken.empty() && broken.back().empty(); ++blank) broken.pop_back();
  const std::size_t above = stays ? hidden - std::min(hidden, blank) : hidden;
  place = {.above = std::min(above, broken.size() > rows ? broken.size() - rows : 0),
           .drawn = true,
           .written = written_,
           .unfinished = hard_rows(arriving_, columns).size(),
           .blank = blank};
  broken.resize(broken.size() - place.above);
  if (broken.size() > rows) broken.erase(broken.begin(), broken.end() - static_cast<std::ptrdiff_t>(rows));
  return broken;
}

}  // namespace praxis::tui
