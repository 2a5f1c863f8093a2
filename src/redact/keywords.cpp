#include "redact/keywords.hpp"

#include <map>
#include <queue>

#include "base/ascii.hpp"

namespace praxis::redact {
namespace {

/// The letter of the alphabet that a byte counts as.
char folded(char c) { return c >= '0' && c <= '9' ? '0' : lower_case(c); }

/// A trie under construction.
struct TrieNode {
  std::map<std::uint8_t, std::uint32_t> children;
  std::vector<std::uint32_t> words;  ///< that end here
  std::uint32_t fail = 0;
  std::uint32_t depth = 0;
};

}  // namespace

Keywords::Keywords(const std::vector<std::string_view>& words) {
  std::array<std::uint8_t, 256> letters{};
  std::uint8_t count = 1;  // 0: all bytes that no word has
  for (const std::string_view word : words) {
    for (const char c : word) {
      std::uint8_t& letter = letters[static_cast<unsigned char>(folded(c))];
      if (letter == 0) letter = count++;
    }
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    classes_[byte] = letters[static_cast<unsigned char>(folded(static_cast<char>(byte)))];
  stride_ = count;

  std::vector<TrieNode> trie(1);
  for (std::uint32_t w = 0; w < words.size(); ++w) {
    std::uint32_t at = 0;
    for (const char c : words[w]) {
      const std::uint8_t letter = classes_[static_cast<unsigned char>(c)];
      const auto [child, is_new] = trie[at].children.try_emplace(letter, trie.size());
      const std::uint32_t depth = trie[at].depth + 1;
      at = child->second;
      if (is_new) trie.emplace_back().depth = depth;
    }
    trie[at].words.push_back(w);
  }

  steps_.assign(trie.size() * stride_, 0);
  std::vector<std::uint32_t> order;
  std::queue<std::uint32_t> open;
  open.push(0);
  while (!open.empty()) {
    const std::uint32_t at = open.front();
    open.pop();
    order.push_back(at);
    for (std::uint32_t letter = 0; letter < stride_; ++letter) {
      const std::uint32_t inherited = at == 0 ? 0 : steps_[trie[at].fail * stride_ + letter];
      const auto child = trie[at].children.find(static_cast<std::uint8_t>(letter));
      if (child == trie[at].children.end()) {
        steps_[at * stride_ + letter] = inherited;
        continue;
      }
      trie[child->second].fail = inherited;
      steps_[at * stride_ + letter] = child->second;
      open.push(child->second);
    }
  }
  for (const std::uint32_t at : order) {
    const auto& more = trie[trie[at].fail].words;  // complete: it is nearer to the root
    if (at != 0) trie[at].words.insert(trie[at].words.end(), more.begin(), more.end());
  }
  for (const TrieNode& node : trie) {
    first_.push_back(static_cast<std::uint32_t>(outputs_.size()));
    depth_.push_back(node.depth);
    for (const std::uint32_t word : node.words)
      outputs_.push_back({word, static_cast<std::uint32_t>(words[word].size())});
  }
  first_.push_back(static_cast<std::uint32_t>(outputs_.size()));
  for (std::uint32_t& step : steps_) step = step * stride_ | (trie[step].words.empty() ? 0 : kHit);
}

std::size_t Keywords::unfinished(std::string_view text) const {
  std::uint32_t state = 0;
  for (const char c : text) state = next(state, c) & ~kHit;
  return depth_[state / stride_];
}

}  // namespace praxis::redact
