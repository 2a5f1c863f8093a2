#include "tui/followed_agent.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

void FollowedAgent::show_past(const Event& event) {
  if (event.agent.id != id_) return;
  past_ = std::max(past_, event.seq);
  take(event);
}

void FollowedAgent::show(const Event& event) {
  if (event.agent.id != id_ || (!is_delta(event.body) && event.seq <= past_)) return;
  take(event);
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
          [&](const events::TurnCompleted& e) { add(end_line(e.result)); },
          [&](const events::TurnFailed& e) { add(end_line(e.result)); },
          [&](const events::TurnTimedOut& e) { add(end_line(e.result)); },
          [&](const events::TurnCancelled& e) { add(end_line(e.result)); },
          [](const auto&) {},
      },
      event.body);
}

/// Adds a text as lines.
void FollowedAgent::add(std::string_view text) {
  text_.append(text).append("\n");
  if (text_.size() <= kMostKept) return;
  const auto line = text_.find('\n', text_.size() - kMostKept);
  text_.erase(0, line == std::string::npos || line + 1 == text_.size() ? text_.size() - kMostKept : line + 1);
}

std::vector<std::string> FollowedAgent::lines(std::size_t columns, std::size_t rows,
                                              std::size_t above) const {
  const std::string all = text_ + arriving_;
  // Enough for the rows that are seen, so that a frame costs the same however long the conversation is.
  std::vector<std::string> broken = hard_rows(end_of(all, 4 * columns * (rows + above + 1)), columns);
  while (!broken.empty() && broken.back().empty()) broken.pop_back();
  const std::size_t hidden = std::min(above, broken.size() > rows ? broken.size() - rows : 0);
  broken.resize(broken.size() - hidden);
  if (broken.size() > rows) broken.erase(broken.begin(), broken.end() - static_cast<std::ptrdiff_t>(rows));
  return broken;
}

}  // namespace praxis::tui
