// Tokens for things that the session actor keeps for its turn driver, which knows the tokens only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace praxis {

/// A short list of things by token. Tokens are never used twice. Not thread-safe.
template <class T>
class Tokens {
 public:
  using Token = std::uint64_t;

  Token add(T thing) {
    things_.emplace_back(next_, std::move(thing));
    return next_++;
  }
  void put(Token token, T thing) { things_.emplace_back(token, std::move(thing)); }
  /// Null when no thing has this token (any more).
  T* find(Token token) {
    const auto found = std::ranges::find(things_, token, &Entry::first);
    return found == things_.end() ? nullptr : &found->second;
  }
  std::optional<T> take(Token token) {
    const auto found = std::ranges::find(things_, token, &Entry::first);
    if (found == things_.end()) return std::nullopt;
    std::optional<T> thing(std::move(found->second));
    things_.erase(found);
    return thing;
  }
  std::vector<std::pair<Token, T>>& all() { return things_; }
  void clear() { things_.clear(); }

 private:
  using Entry = std::pair<Token, T>;
  std::vector<Entry> things_;
  Token next_ = 1;
};

}  // namespace praxis
