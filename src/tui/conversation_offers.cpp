// What a chat lets its user search: runs, models, agents, turns.
#include <algorithm>
#include <iterator>
#include <utility>

#include "app/provider_status.hpp"
#include "app/user_message.hpp"
#include "app/workspace.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/catalog.hpp"
#include "tui/conversation.hpp"
#include "tui/run_choices.hpp"

namespace praxis::tui {

std::string Conversation::offer_runs() {
  const auto rows = setup_.runtime->journal().sessions();
  if (!rows) return failure(rows.error());
  auto choices = run_choices(*rows, now());
  std::erase_if(choices, [&](const Choice& each) { return each.value == id_.str(); });
  if (choices.empty()) return styles_.dim("there is no other run") + '\n';
  offer_ = Offer{"Open which run?", "/resume ", std::move(choices)};
  return "";
}

std::string Conversation::offer_models() {
  const auto catalog = app::open_catalog(setup_.workspace);
  if (!catalog) return failure(catalog.error());
  std::vector<Choice> choices{{model_, model_, "this run's model"}};
  for (const std::string& provider : (*catalog)->providers()) {
    if (!app::status_of(*(*catalog)->provider(provider), setup_.workspace).configured) continue;
    for (const ModelFacts& model : (*catalog)->models(provider)) {
      const std::string name = model.provider + ':' + model.id;
      if (name != model_) choices.push_back({name, name, model.name});
    }
  }
  offer_ = Offer{"Which model from now on?", "/model ", std::move(choices)};
  return "";
}

std::string Conversation::offer_agents() {
  std::vector<Choice> choices;
  if (run_.team) {
    const std::string current = run_.team->current_agent().spec().id;
    for (const Agent& each : run_.team->agents()) {
      const std::string& name = each.spec().id;
      choices.push_back({name, name, name == current ? "answers now" : ""});
    }
    offer_ = Offer{"Who answers from now on?", "/agent ", std::move(choices)};
    return "";
  }
  for (const std::string& name : app::agent_names(setup_.workspace)) choices.push_back({name, name, ""});
  if (choices.empty()) return styles_.dim("there are no agents; praxis agents lists where they are") + '\n';
  offer_ = Offer{"A new run of which agent?", "/agent ", std::move(choices)};
  return "";
}

/// The turns of the conversation as it stands, the last first, each with its message.
std::string Conversation::offer_turns() {
  if (is_busy() || !is_recorded()) return "";
  const auto records = read_records(setup_.runtime->journal(), id_);
  if (!records) return failure(records.error());
  std::vector<Choice> choices;
  TurnId turn;
  for (const StoredRecord& stored : *records) {
    if (const auto* started = std::get_if<records::TurnStarted>(&stored.record.body)) turn = started->turn;
    if (const auto* command = std::get_if<records::Intervened>(&stored.record.body);
        command != nullptr && command->verb == CommandVerb::kRewind) {
      const auto first = std::ranges::find(choices, command->text, &Choice::value);
      choices.erase(first, choices.end());
    }
    const auto* said = std::get_if<records::MessageAppended>(&stored.record.body);
    const bool is_first = choices.empty() || choices.back().value != turn.str();
    if (said == nullptr || said->message == nullptr || turn.empty() || !is_first) continue;
    choices.push_back({turn.str(), app::readable_message(said->message->text()).text, turn.str()});
  }
  if (choices.empty()) return "";
  std::ranges::reverse(choices);
  offer_ =
      Offer{"Back to before which message? It comes back into the composer", "/rewind ", std::move(choices)};
  return "";
}

std::string Conversation::choose(const Offer& offer, const Choice& choice, std::size_t columns) {
  std::string text = command(offer.command + choice.value, columns);
  if (offer.command == "/rewind ") unread_.push_back(choice.label);
  return text;
}

std::vector<std::string> Conversation::take_unread() {
  std::vector<std::string> unread = view_->take_unread();
  std::ranges::move(std::exchange(unread_, {}), std::back_inserter(unread));
  return unread;
}

}  // namespace praxis::tui
