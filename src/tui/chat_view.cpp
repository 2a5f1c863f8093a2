#include "tui/chat_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/plain_text.hpp"
#include "app/team_run.hpp"
#include "app/user_message.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"
#include "core/waiting.hpp"
#include "tui/composer.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostThinking = 400;  ///< bytes
constexpr std::size_t kMostCallText = 300;  ///< columns
constexpr std::size_t kMostWaiting = 1000;  ///< messages that are remembered as waiting
constexpr std::size_t kShownCalls = 5;

std::string with_last_line_ended(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

std::string name_of(const Author& author) {
  const std::string name =
      author.principal.empty() ? std::string(to_string(author.surface)) : author.principal;
  return app::one_line(name, 40);
}

/// Whether a failed attempt continues once a person acts, such as by answering the question of a server.
bool waits_for_human(const Error& error) {
  return error.kind() == ErrorKind::kAuthorisation || error.kind() == ErrorKind::kMachine;
}

}  // namespace

std::string ChatView::show(const Event& event, std::size_t columns) {
  columns_ = std::max<std::size_t>(columns, 20);
  answer_.set_columns(columns_);
  std::string out;
  if (std::holds_alternative<events::TurnStarted>(event.body)) at_work_.insert(event.agent.id);
  if (ends_turn(event.body)) at_work_.erase(event.agent.id);
  if (event.agent.id == root_) show_root(event, out);
  std::visit(
      match{
          [&](const events::ModelFailed& e) { note(event, "model failed: " + e.error.message, true, out); },
          [&](const events::ToolCalled& e) {
            const auto [place, is_new] = calls_.try_emplace({event.agent.id, e.call});
            place->second.text = app::one_line(e.name + ' ' + e.arguments, kMostCallText);
            place->second.agent = agent_prefix(event.agent);
          },
          [&](const events::ToolStarted& e) {
            Call& call = calls_[{event.agent.id, e.call}];
            if (call.text.empty()) call.text = app::one_line(e.name + ' ' + e.arguments, kMostCallText);
            call.agent = agent_prefix(event.agent);
            call.started = event.time;
          },
          [&](const events::ToolProgress& e) {
            calls_[{event.agent.id, e.call}].progress = app::one_line(e.text, 80);
          },
          [&](const events::ToolCompleted& e) {
            end_call(event, e.call, e.name, app::show_duration(e.duration), false, out);
          },
          [&](const events::ToolFailed& e) {
            const bool waits = waits_for_human(e.error);
            end_call(event, e.call, e.name, (waits ? "waits: " : "failed: ") + e.error.message, !waits, out);
          },
          [&](const events::ToolTimedOut& e) {
            end_call(event, e.call, e.name, "timed out after " + app::show_duration(e.duration), true, out);
          },
          [&](const events::ChildSpawned& e) {
            agents_[e.child] = agent_prefix(event.agent) + app::one_line(e.name, 40) + ' ';
          },
          [&](const events::StepDecided& e) { show_decision(event, e.decision, out); },
          [&](const events::SessionPaused&) { note(event, "paused", false, out); },
          [&](const events::SessionUnpaused&) { note(event, "continues", false, out); },
          [&](const events::SessionIntervened& e) {
            if (event.agent.id != root_) show_command_below(event, e.intervention, out);
          },
          [&](const events::HookFailed& e) {
            note(event, fmt::format("hook {} failed: {}", e.hook, e.message), true, out);
          },
          [](const auto&) {},
      },
      event.body);
  return out;
}

void ChatView::show_root(const Event& event, std::string& out) {
  std::visit(match{
                 [&](const events::TurnStarted& e) {
                   busy_since_ = event.time;
                   doing_ = "starting";
                   if (e.config && !app::recorded_team(e.config->metadata).file.empty())
                     note(event, e.config->id + " answers", false, out);
                 },
                 [&](const events::MessageAdded& e) { show_message(e, out); },
                 [&](const events::ModelRequested& e) {
                   doing_ = e.purpose.empty() ? "waits for the model" : app::one_line(e.purpose, 20);
                 },
                 [&](const events::ReasoningDelta& e) {
                   doing_ = "thinks";
                   thinking_ += visible_text(e.text);
                   if (thinking_.size() > kMostThinking) thinking_.erase(0, thinking_.size() - kMostThinking);
                 },
                 [&](const events::TextDelta& e) {
                   doing_ = "writes";
                   thinking_.clear();
                   if (answer_.fed().empty() && !has_blank_) out += '\n';
                   const std::string complete = answer_.feed(e.text);
                   out += complete;
                   has_blank_ = false;
                 },
                 [&](const events::ToolCallDelta&) { doing_ = "writes a call"; },
                 [&](const events::AttemptSuperseded&) {
                   if (answer_.fed().empty()) return;
                   out += answer_.finish();
                   note(event, "the connection broke; the answer begins again", true, out);
                 },
                 [&](const events::ModelResponded& e) {
                   if (e.purpose.empty()) show_answer(e, out);
                 },
                 [&](const events::TurnCompleted& e) { end_turn(e.result, out); },
                 [&](const events::TurnFailed& e) { end_turn(e.result, out); },
                 [&](const events::TurnTimedOut& e) { end_turn(e.result, out); },
                 [&](const events::TurnCancelled& e) { end_turn(e.result, out); },
                 [&](const events::SessionRecovered&) {
                   out += answer_.finish();
                   note(event, "continues where another process ended", false, out);
                 },
                 [&](const events::SessionIntervened& e) { show_command(event, e.intervention, out); },
                 [&](const events::HistoryCut& e) {
                   const bool is_cut = e.summary.empty();
                   note(event,
                        (is_cut ? "the model no longer sees the beginning: "
                                : "the model sees a summary of older messages: ") +
                            e.cause,
                        false, out);
                 },
                 [](const auto&) {},
             },
             event.body);
}

void ChatView::show_message(const events::MessageAdded& added, std::string& out) {
  if (added.message == nullptr) return;
  const app::ReadableMessage readable = app::readable_message(added.message->text());
  const std::string text = visible_text(readable.text);
  if (added.source == MessageSource::kRuntime || added.source == MessageSource::kPlan)
    return add_line(out, styles_.dim(app::one_line(text, columns_ - 1)));
  if (added.source == MessageSource::kSteer && !steering_.empty()) steering_.erase(steering_.begin());
  if (added.source == MessageSource::kQueue && !queued_.empty()) queued_.erase(queued_.begin());
  if (!has_blank_) out += '\n';
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += styles_.bold((begin == 0 ? "> " : "  ") + text.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  } while (begin <= text.size());
  for (const std::string& each : readable.attached)
    out += styles_.dim("  + " + app::one_line(app::exact(each), columns_ - 4)) + '\n';
  for (const Part& part : added.message->parts) {
    const auto* image = std::get_if<ImagePart>(&part);
    if (image != nullptr)
      out += styles_.dim(fmt::format("  + {} ({} kB)", image->source.mime,
                                     (image->source.data.size() + 999) / 1000)) +
             '\n';
  }
  out += '\n';
  has_blank_ = true;
}

/// Prints what the deltas have not: nothing after a stream, all of it without one.
void ChatView::show_answer(const events::ModelResponded& responded, std::string& out) {
  const std::string text = responded.message == nullptr ? "" : responded.message->text();
  thinking_.clear();
  doing_ = "works";
  const std::string fed = answer_.fed();
  if (responded.message == nullptr) {  // of a server: the deltas were complete
    out += answer_.finish();
  } else if (text.starts_with(fed)) {
    if (fed.empty() && !text.empty() && !has_blank_) out += '\n';
    out += answer_.feed(std::string_view(text).substr(fed.size())) + answer_.finish();
  } else {
    out += answer_.finish() + '\n' + answer_.feed(text) + answer_.finish();
  }
  if (!text.empty()) has_blank_ = false;
}

void ChatView::end_turn(const AgentResult& result, std::string& out) {
  out += answer_.finish();
  if (result.error) add_line(out, styles_.error("error: " + app::one_line(result.error->message, 2000)));
  for (const ActionResult& action : result.actions) {
    if (action.outcome != Outcome::kUnknown) continue;
    add_line(out, styles_.error(fmt::format("unknown: {} may or may not have taken effect",
                                            app::one_line(action.tool, 64))));
  }
  const Usage all = result.usage + result.usage_children;
  std::string sum = fmt::format("{} {}, {}, {}", result.steps, result.steps == 1 ? "step" : "steps",
                                app::show_duration(result.duration), app::show_usage(all));
  if (result.reason && *result.reason != StopReason::kFinished)
    sum = fmt::format("{}: {}", to_string(*result.reason), sum);
  add_line(out, styles_.dim("- " + sum));
  out += '\n';
  has_blank_ = true;
  busy_since_.reset();
  doing_.clear();
  thinking_.clear();
  calls_.clear();
  at_work_.clear();
  for (WaitingMessage& each : std::exchange(steering_, {})) {
    if (each.verb == CommandVerb::kSteer) unread_.push_back(std::move(each));
  }
}

void ChatView::end_call(const Event& event, const CallId& id, const std::string& name, const std::string& how,
                        bool failed, std::string& out) {
  const auto call = calls_.find({event.agent.id, id});
  const std::string what =
      call == calls_.end() || call->second.text.empty() ? app::one_line(name, 64) : call->second.text;
  const std::string suffix = " (" + app::one_line(how, failed ? 200 : 40) + ')';
  const std::string prefix = "* " + agent_prefix(event.agent);
  const std::size_t used = columns_of(prefix) + columns_of(suffix) + 1;
  const std::size_t room = std::max<std::size_t>(columns_ > used ? columns_ - used : 0, 16);
  const std::string line = prefix + cut_to(what, room) + suffix;
  add_line(out, failed ? styles_.error(line) : styles_.dim(line));
  if (call != calls_.end()) calls_.erase(call);
}

void ChatView::show_decision(const Event& event, const records::Decided& decision, std::string& out) {
  const auto call = calls_.find({event.agent.id, decision.call});
  const bool was_asked = !decision.park.empty();
  if (!was_asked && decision.verb != ApprovalVerb::kReject) return;
  const std::string what = call == calls_.end() ? decision.park.str() : call->second.text;
  std::string line = fmt::format("{} by {}: {}", to_string(decision.verb), name_of(decision.author),
                                 app::one_line(what, columns_));
  if (decision.verb == ApprovalVerb::kReject && !decision.text.empty())
    line += " (" + app::one_line(decision.text, 200) + ')';
  add_line(out, styles_.warning(line));
}

void ChatView::show_command(const Event& event, const records::Intervened& command, std::string& out) {
  const auto wait = [&](std::vector<WaitingMessage>& list) {
    if (list.size() >= kMostWaiting) return;
    list.push_back({event.seq, command.verb, app::readable_message(command.text).text});
  };
  switch (command.verb) {
    case CommandVerb::kSteer:
      return wait(steering_);
    case CommandVerb::kEnqueue:
      return wait(queued_);
    case CommandVerb::kWithdraw:
    case CommandVerb::kMove:
      return change_waiting(event, command, out);
    case CommandVerb::kCompact:
      return note(event, "older messages are summarised before the next model call", false, out);
    case CommandVerb::kModify:
      wait(steering_);
      [[fallthrough]];
    case CommandVerb::kAnnotate:
    case CommandVerb::kDelete:
    case CommandVerb::kRewind:
      return add_line(
          out, styles_.dim(fmt::format("{} {}", to_string(command.verb), app::one_line(command.text, 200))));
    default:
      return;
  }
}

/// A command to an agent below the run. What stops an agent shows in the result of its call.
void ChatView::show_command_below(const Event& event, const records::Intervened& command, std::string& out) {
  switch (command.verb) {
    case CommandVerb::kSteer:
    case CommandVerb::kEnqueue:
    case CommandVerb::kAnnotate:
    case CommandVerb::kModify: {
      const std::string text = command.text.empty() ? "" : ": " + app::readable_message(command.text).text;
      return note(event, fmt::format("{} by {}{}", to_string(command.verb), name_of(command.author), text),
                  false, out);
    }
    default:
      return;
  }
}

/// The past may begin after a message was sent: then there is nothing to change.
void ChatView::change_waiting(const Event& event, const records::Intervened& command, std::string& out) {
  std::vector<WaitingMessage> before = steering_;
  before.insert(before.end(), queued_.begin(), queued_.end());
  if (!praxis::change_waiting(steering_, queued_, {}, command.verb, command.text)) return;
  if (command.verb == CommandVerb::kMove) return;
  for (const WaitingMessage& each : before) {
    const auto same = [&](const WaitingMessage& other) { return other.id == each.id; };
    if (std::ranges::none_of(steering_, same) && std::ranges::none_of(queued_, same))
      note(event, fmt::format("withdrawn by {}: {}", name_of(command.author), each.text), false, out);
  }
}

void ChatView::note(const Event& event, std::string_view text, bool failed, std::string& out) {
  const std::string line = agent_prefix(event.agent) + app::one_line(text, 1000);
  add_line(out, failed ? styles_.error(line) : styles_.dim(line));
}

std::string ChatView::agent_prefix(const AgentMeta& agent) const {
  const auto known = agents_.find(agent.id);
  return known == agents_.end() ? "" : known->second;
}

void ChatView::add_line(std::string& out, std::string line) {
  if (!answer_.tail().empty()) out += with_last_line_ended(answer_.finish());
  out += std::move(line) + '\n';
  has_blank_ = false;
}

// ---- in progress ------------------------------------------------------------------------------------------

std::vector<std::string> ChatView::live(std::size_t columns, std::size_t rows, UnixMillis now) const {
  std::vector<std::string> running;
  std::size_t count = 0;
  for (const auto& [id, call] : calls_) {
    if (!call.started || ++count > kShownCalls) continue;
    const std::string time = app::show_age(now - *call.started);
    std::string text = call.agent + call.text;
    if (!call.progress.empty()) text += ": " + call.progress;
    const std::size_t room = columns > time.size() + 6 ? columns - time.size() - 6 : 1;
    running.push_back(styles_.dim(fmt::format("* {} ({})", cut_to(text, room), time)));
  }
  if (count > kShownCalls) running.push_back(styles_.dim(fmt::format("  and {} more", count - kShownCalls)));
  std::vector<std::string> lines;
  if (!thinking_.empty())
    lines.push_back(styles_.dim(cut_to("~ " + app::one_line(thinking_, 1000), columns)));
  if (const std::string tail = answer_.tail(); !tail.empty()) {
    std::vector<std::string> text = hard_rows(end_of(tail, 4 * columns * (rows + 1)), columns);
    lines.insert(lines.end(), text.begin(), text.end());
  }
  lines.insert(lines.end(), running.begin(), running.end());
  if (lines.size() > rows) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(rows));
  return lines;
}

}  // namespace praxis::tui
