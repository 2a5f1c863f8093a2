#include "tui/event_feed.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace praxis::tui {

EventFeed::EventFeed() : signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void EventFeed::add(const Event& event) {
  // What a call looks like while the model writes it is not shown, apart from that it is written.
  const std::lock_guard lock(mutex_);
  if (!joined(event)) items_.emplace_back(event);
  wake();
}

void EventFeed::add_item(Item item) {
  const std::lock_guard lock(mutex_);
  items_.push_back(std::move(item));
  wake();
}

bool EventFeed::joined(const Event& event) {
  auto* last = items_.empty() ? nullptr : std::get_if<Event>(&items_.back());
  if (last == nullptr || last->agent.id != event.agent.id || last->attempt != event.attempt) return false;
  if (std::holds_alternative<events::ToolCallDelta>(event.body))
    return std::holds_alternative<events::ToolCallDelta>(last->body);
  if (const auto* reasoning = std::get_if<events::ReasoningDelta>(&event.body)) {
    auto* before = std::get_if<events::ReasoningDelta>(&last->body);
    if (before != nullptr) before->text += reasoning->text;
    return before != nullptr;
  }
  const auto* text = std::get_if<events::TextDelta>(&event.body);
  auto* before = std::get_if<events::TextDelta>(&last->body);
  if (text == nullptr || before == nullptr) return false;
  before->text += text->text;
  return true;
}

void EventFeed::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(signal_.get(), &one, sizeof one);
}

std::vector<EventFeed::Item> EventFeed::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(signal_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(items_, {});
}

}  // namespace praxis::tui
