// The notes of one session: a projection of its log. A call that reports a change of a store (`MemoryChange`)
// has the value among its arguments, so this keeps the arguments of the call that last changed each key, and
// the tool finds the value in them. Nothing here knows the arguments of a tool.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The current entries of one store of a session.
struct MemoryStore {
  /// By key: the arguments (JSON text) of the call that put it last.
  std::map<std::string, std::shared_ptr<const std::string>, std::less<>> entries;
  /// Of keys and arguments together: an upper bound of the size of keys and values.
  std::size_t bytes = 0;
};

/// All stores of one session. A value; not thread-safe. A rewind undoes the changes of the removed turns.
class SessionMemory {
 public:
  /// Applies the changes of a settled call in turn number `turn`, counted from 1 over the turns that are
  /// left. `changes` is an array of `{store, key, operation}`; operations other than `put` and `delete` are
  /// ignored.
  void apply(const Json& changes, std::string_view arguments, std::size_t turn);
  /// Undoes the changes of all turns after the first `turns`.
  void keep_turns(std::size_t turns);
  /// The store of this name; an empty one if no call has changed it.
  const MemoryStore& store(std::string_view name) const;

 private:
  using Arguments = std::shared_ptr<const std::string>;
  /// What a key had before the first change in a turn.
  struct Undo {
    std::size_t turn = 0;
    std::string store;
    std::string key;
    Arguments before;  ///< null: the key did not exist
  };

  void set(const std::string& store, const std::string& key, Arguments arguments);

  std::map<std::string, MemoryStore, std::less<>> stores_;
  std::vector<Undo> undo_;
  std::size_t turn_ = 0;  ///< the turn of the last change
  /// Store and key of what has an entry in `undo_` for that turn, so that it gets no second one.
  std::set<std::pair<std::string, std::string>> changed_;
};

}  // namespace praxis
#pragma GCC visibility pop
