// What a chat lets its user search: runs, models, agents, turns.
#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "tui/conversation.hpp"
#include "tui/run_choices.hpp"

namespace praxis::tui {

std::string Conversation::offer_runs() {
  const auto rows = setup_.place.runs();
  if (!rows) return failure(rows.error());
  auto choices = run_choices(*rows, now());
  std::erase_if(choices, [&](const Choice& each) { return each.value == id_.str(); });
  if (choices.empty()) return styles_.dim("there is no other run") + '\n';
  offer_ = Offer{"Open which run?", "/resume ", std::move(choices)};
  return "";
}

std::string Conversation::offer_models() {
  auto known = setup_.place.models();
  if (!known) return failure(known.error());
  std::vector<Choice> choices{{model_, model_, "this run's model"}};
  std::erase_if(*known, [&](const Choice& each) { return each.value == model_; });
  std::ranges::move(*known, std::back_inserter(choices));
  offer_ = Offer{"Which model from now on?", "/model ", std::move(choices)};
  return "";
}

std::string Conversation::offer_agents() {
  std::vector<Choice> choices;
  if (const Members members = run_->members(); !members.all.empty()) {
    for (const std::string& name : members.all)
      choices.push_back({name, name, name == members.current ? "answers now" : ""});
    offer_ = Offer{"Who answers from now on?", "/agent ", std::move(choices)};
    return "";
  }
  const auto names = setup_.place.agents();
  if (!names) return failure(names.error());
  for (const std::string& name : *names) choices.push_back({name, name, ""});
  if (choices.empty()) return styles_.dim("there are no agents; praxis agents lists where they are") + '\n';
  offer_ = Offer{"A new run of which agent?", "/agent ", std::move(choices)};
  return "";
}

/// The turns of the conversation as it stands, the last first, each with its message.
std::string Conversation::offer_turns() {
  if (is_busy() || !is_recorded()) return "";
  std::vector<Choice> choices;
  for (const Turn& each : turns_) choices.push_back(each.choice);
  if (choices.empty()) return "";
  std::ranges::reverse(choices);
  offer_ =
      Offer{"Back to before which message? It comes back into the composer", "/rewind ", std::move(choices)};
  return "";
}

std::string Conversation::choose(const Offer& offer, const Choice& choice, std::size_t columns) {
  if (offer.command != "/rewind ") return command(offer.command + choice.value, columns);
  return rewind_run(choice.value, [&] {
    const auto turn =
        std::ranges::find(turns_, choice.value, [](const Turn& each) { return each.choice.value; });
    if (turn != turns_.end()) shell_outputs_.put_back(turn->outputs);
    unread_.push_back(choice.label);
  });
}

std::vector<std::string> Conversation::take_unread() {
  std::vector<WaitingMessage> unread = view_->take_unread();
  for (const WaitingMessage& each : std::views::reverse(unread)) put_outputs_back(each.id);
  forget_outputs();
  std::vector<std::string> texts;
  for (WaitingMessage& each : unread) texts.push_back(std::move(each.text));
  std::ranges::move(std::exchange(unread_, {}), std::back_inserter(texts));
  return texts;
}

}  // namespace praxis::tui
