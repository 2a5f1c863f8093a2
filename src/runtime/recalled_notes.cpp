#include "runtime/recalled_notes.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace praxis {

std::string recalled_line(const Note& note) {
  constexpr std::size_t kDateLength = 10;
  std::string text = json_string(note.value, "text");
  if (text.empty()) text = to_plain_text(note.value);
  return '[' + note.key + ", " + to_iso8601(note.written).substr(0, kDateLength) + "] " + text + '\n';
}

Result<std::vector<Hit>> search_collections(DatabaseClient& memory, std::string_view text,
                                            const std::vector<std::string>& collections,
                                            const SearchOptions& options) {
  std::vector<Hit> all;
  for (const std::string& collection : collections) {
    SearchOptions search = options;
    search.collection = collection;
    auto hits = memory.search(text, search);
    if (!hits) return hits;
    // Scores are sums over ranks: the lists interleave.
    std::vector<Hit> merged;
    std::ranges::merge(all, *hits, std::back_inserter(merged), std::greater<>(), &Hit::score, &Hit::score);
    all = std::move(merged);
  }
  if (all.size() > options.top_k) all.resize(options.top_k);
  return all;
}

}  // namespace praxis
