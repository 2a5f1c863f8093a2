#include "praxis/core/session_memory.hpp"

#include <utility>

#include "praxis/json/json.hpp"

namespace praxis {

void SessionMemory::set(const std::string& name, const std::string& key, Arguments arguments) {
  MemoryStore& store = stores_[name];
  const auto old = store.entries.find(key);
  if (old != store.entries.end()) store.bytes -= key.size() + old->second->size();
  if (arguments) {
    store.bytes += key.size() + arguments->size();
    store.entries.insert_or_assign(key, std::move(arguments));
  } else if (old != store.entries.end()) {
    store.entries.erase(old);
  }
}

void SessionMemory::apply(const Json& changes, std::string_view arguments, std::size_t turn) {
  if (!changes.is_array()) return;
  if (std::exchange(turn_, turn) != turn) changed_.clear();
  const auto shared = std::make_shared<const std::string>(arguments);
  for (const Json& change : changes.get_array()) {
    const std::string_view operation = json_text(change, "operation");
    if (operation != "put" && operation != "delete") continue;
    std::string name = json_string(change, "store"), key = json_string(change, "key");
    const auto& entries = store(name).entries;
    const auto old = entries.find(key);
    Arguments before = old == entries.end() ? nullptr : old->second;
    set(name, key, operation == "put" ? shared : nullptr);
    if (changed_.emplace(name, key).second)
      undo_.push_back({turn, std::move(name), std::move(key), std::move(before)});
  }
}

void SessionMemory::keep_turns(std::size_t turns) {
  changed_.clear();
  for (; !undo_.empty() && undo_.back().turn > turns; undo_.pop_back())
    set(undo_.back().store, undo_.back().key, undo_.back().before);
}

const MemoryStore& SessionMemory::store(std::string_view name) const {
  static const MemoryStore kEmpty;
  const auto found = stores_.find(name);
  return found == stores_.end() ? kEmpty : found->second;
}

}  // namespace praxis
