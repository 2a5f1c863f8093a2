#include "core/waiting.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace praxis {
namespace {

constexpr std::size_t kMostDelivered = 64;

std::unexpected<Error> refused(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

/// A number of a record, such as `12` or `#12`.
Result<std::uint64_t> waiting_id(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('#')) digits.remove_prefix(1);
  std::uint64_t id = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && id != 0) return id;
  return refused('"' + std::string(text.substr(0, 40)) +
                 "\" is no id of a waiting message, which is a number such as 12");
}

auto find_in(std::vector<WaitingMessage>& list, std::uint64_t id) {
  return std::ranges::find(list, id, &WaitingMessage::id);
}

std::unexpected<Error> does_not_wait(std::uint64_t id, const std::vector<std::uint64_t>& delivered) {
  const std::string message = "message " + std::to_string(id);
  if (std::ranges::find(delivered, id) != delivered.end())
    return refused(message + " is already with the model");
  return refused(message + " does not wait: it was withdrawn, its turn is over, or it was never sent");
}

}  // namespace

Status change_waiting(std::vector<WaitingMessage>& steering, std::vector<WaitingMessage>& queue,
                      const std::vector<std::uint64_t>& delivered, CommandVerb verb, std::string_view text) {
  constexpr std::string_view kBefore = " before ";
  const auto between = text.find(kBefore);
  const bool moves = verb == CommandVerb::kMove;
  if (moves && between == std::string_view::npos)
    return refused("a move names two waiting messages, such as \"12 before 9\"");
  const auto id = waiting_id(moves ? text.substr(0, between) : text);
  if (!id) return fail(id.error());
  auto& list = find_in(steering, *id) != steering.end() ? steering : queue;
  const auto found = find_in(list, *id);
  if (found == list.end()) return does_not_wait(*id, delivered);
  if (!moves && found->verb == CommandVerb::kModify)
    return refused("message " + std::to_string(*id) +
                   " has changed the task; only another modify replaces it");
  if (!moves) return list.erase(found), Status();
  const auto before = waiting_id(text.substr(between + kBefore.size()));
  if (!before) return fail(before.error());
  const auto place = find_in(list, *before);
  auto& other = &list == &queue ? steering : queue;
  if (place == list.end() && find_in(other, *before) != other.end())
    return refused("message " + std::to_string(*id) + " cannot go before " + std::to_string(*before) +
                   ": one waits for the next step, the other for a turn of its own");
  if (place == list.end()) return does_not_wait(*before, delivered);
  if (found < place) {
    std::rotate(found, found + 1, place);
  } else if (place < found) {
    std::rotate(place, found, found + 1);
  }
  return {};
}

void take_first(State& state, std::vector<WaitingMessage>& list) {
  if (state.delivered.size() >= kMostDelivered) state.delivered.erase(state.delivered.begin());
  state.delivered.push_back(list.front().id);
  list.erase(list.begin());
}

}  // namespace praxis
