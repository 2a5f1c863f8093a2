// The messages of a chat that the agent has not got: taking them back, editing and moving them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "app/plain_text.hpp"
#include "tui/conversation.hpp"
#include "tui/queue_list.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostAsked = 100;
constexpr std::string_view kQueueUse =
    "use /queue, /queue edit NUMBER TEXT, /queue up NUMBER, /queue down NUMBER or /queue withdraw NUMBER";

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

}  // namespace

std::vector<WaitingMessage> Conversation::waiting() const {
  std::vector<WaitingMessage> all = view_->steering();
  all.insert(all.end(), view_->queued().begin(), view_->queued().end());
  // The view learns of it by an event, which comes later than the answer to the command.
  std::erase_if(all, [&](const WaitingMessage& each) {
    return std::ranges::find(taken_back_, each.id) != taken_back_.end();
  });
  return all;
}

Status Conversation::withdraw(const WaitingMessage& message) {
  const Status done = run_->command(id_, {{CommandVerb::kWithdraw, std::to_string(message.id)}});
  if (!done && done.error().code != ErrorCode::kInput && asked_back_.size() < kMostAsked)
    asked_back_.push_back(message);
  if (done) {
    taken_back_.push_back(message.id);
    put_outputs_back(message.id);
  }
  return done;
}

/// An answer that was lost: the message was taken back.
void Conversation::note_withdrawn(const records::Intervened& command) {
  std::erase_if(taken_back_, [&](std::uint64_t id) { return std::to_string(id) == command.text; });
  const auto asked = std::ranges::find(asked_back_, command.text,
                                       [](const WaitingMessage& each) { return std::to_string(each.id); });
  if (asked == asked_back_.end()) return;
  put_outputs_back(asked->id);
  unread_.push_back(std::move(asked->text));
  asked_back_.erase(asked);
}

std::string Conversation::move(std::uint64_t message, bool up) {
  const auto& steering = view_->steering();
  const bool is_steering = std::ranges::find(steering, message, &WaitingMessage::id) != steering.end();
  const auto& list = is_steering ? steering : view_->queued();
  const auto found = std::ranges::find(list, message, &WaitingMessage::id);
  if (found == list.end())
    return styles_.error(fmt::format("message {} does not wait any more", message)) + '\n';
  if (up ? found == list.begin() : found + 1 == list.end()) return "";
  const auto first = up ? found - 1 : found;
  const Status done =
      run_->command(id_, {{CommandVerb::kMove, fmt::format("{} before {}", (first + 1)->id, first->id)}});
  return done ? "" : failure(done.error());
}

std::string Conversation::waiting_lines() const {
  std::string text;
  for (const WaitingMessage& each : waiting()) text += waiting_line(each, 1000) + '\n';
  return text;
}

/// `/queue`. An id stays that of its message while others come and go, as a place in the list does not.
std::string Conversation::change_queue(const std::string& rest) {
  const auto all = waiting();
  if (all.empty()) return "no message waits\n";
  if (rest.empty() && setup_.plain) return waiting_lines();
  if (rest.empty()) return shows_queue_ = true, std::string();
  const auto space = std::min(rest.find(' '), rest.size());
  const std::string verb = rest.substr(0, space);
  std::string_view words = without_blanks(std::string_view(rest).substr(space));
  if (words.starts_with('#')) words.remove_prefix(1);
  std::uint64_t id = 0;
  const char* const end = std::from_chars(words.data(), words.data() + words.size(), id).ptr;
  const std::string text(without_blanks({end, static_cast<std::size_t>(words.data() + words.size() - end)}));
  const auto found = std::ranges::find(all, id, &WaitingMessage::id);
  const bool is_known = verb == "edit" || verb == "up" || verb == "down" || verb == "withdraw";
  if (!is_known || id == 0 || (verb == "edit" && setup_.plain && text.empty()))
    return styles_.error(std::string(kQueueUse)) + '\n';
  if (found == all.end()) return styles_.error(fmt::format("no message #{} waits", id)) + '\n';
  if (verb == "up" || verb == "down") {
    const std::string problem = move(id, verb == "up");
    return problem.empty() && setup_.plain ? fmt::format("moved #{} {}\n", id, verb) : problem;
  }
  if (const Status done = withdraw(*found); !done) return failure(done.error());
  if (verb == "withdraw") return "";
  if (text.empty()) return unread_.push_back(found->text), std::string();
  return submit(text, found->verb == CommandVerb::kEnqueue ? Delivery::kQueue : Delivery::kNow, 80);
}

std::string Conversation::compact() {
  if (!is_recorded()) return styles_.error("there is nothing to summarise yet") + '\n';
  const Status done = run_->command(id_, {{CommandVerb::kCompact, ""}});
  return done ? "" : failure(done.error());
}

}  // namespace praxis::tui
