// The whole conversation of a session, from its records.
#include <set>
#include <string>
#include <unordered_map>

#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis {
namespace {

/// Collects the messages of a conversation while its records are applied.
class Collector {
 public:
  /// Adds the messages that are new at the end of `history`.
  void add(const History& history) {
    const auto& all = history.messages();
    std::size_t from = all.size();
    while (from > 0 && !knows(all[from - 1])) --from;
    for (; from < all.size(); ++from) {
      const MessagePtr& message = all[from];
      const auto [place, is_new] = places_.try_emplace(message->id.str(), messages_.size());
      if (is_new) {
        messages_.push_back(message);
      } else {
        messages_[place->second] = message;
      }
    }
  }

  /// The messages of `history` that are unknown replace others for the model alone.
  void ignore(const History& history) {
    for (const MessagePtr& message : history.messages()) {
      if (!places_.contains(message->id.str())) ignored_.insert(message);
    }
  }

  /// Drops the messages after the last of `history`.
  void take_back(const History& history) {
    std::size_t kept = 0;
    for (const MessagePtr& message : history.messages()) {
      const auto place = places_.find(message->id.str());
      if (place != places_.end()) kept = std::max(kept, place->second + 1);
    }
    for (std::size_t i = kept; i < messages_.size(); ++i) places_.erase(messages_[i]->id.str());
    messages_.resize(kept);
  }

  std::vector<Message> take() const {
    std::vector<Message> messages;
    messages.reserve(messages_.size());
    for (const MessagePtr& message : messages_) messages.push_back(*message);
    return messages;
  }

 private:
  bool knows(const MessagePtr& message) const {
    if (ignored_.contains(message)) return true;
    const auto place = places_.find(message->id.str());
    return place != places_.end() && messages_[place->second] == message;
  }

  std::vector<MessagePtr> messages_;
  std::unordered_map<std::string, std::size_t> places_;  ///< by id, in `messages_`
  std::set<MessagePtr> ignored_;
};

}  // namespace

Result<Conversation> transcript(const std::vector<StoredRecord>& records) {
  State state;
  Collector collector;
  for (const StoredRecord& stored : records) {
    if (auto applied = apply_to(state, stored.record); !applied) return fail(std::move(applied.error()));
    const History& history = state.conversation.history();
    const auto* command = std::get_if<records::Intervened>(&stored.record.body);
    if (std::holds_alternative<records::Compacted>(stored.record.body)) {
      collector.ignore(history);
    } else if (command != nullptr && command->verb == CommandVerb::kRewind) {
      collector.take_back(history);
    } else {
      collector.add(history);
    }
  }
  return Conversation{state.id.str(), collector.take(), state.agent ? state.agent->metadata : Json(nullptr)};
}

}  // namespace praxis
