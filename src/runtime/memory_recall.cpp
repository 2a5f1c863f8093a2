#include "praxis/runtime/memory_recall.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "memory/function_words.hpp"
#include "runtime/recalled_notes.hpp"

namespace praxis {
namespace {

constexpr std::string_view kOpening = "\n\n<recalled>\n", kClosing = "</recalled>";

/// Whether a note shares more with the message than words such as "the".
bool is_relevant(const Hit& hit) {
  constexpr std::size_t kLeastBytes = 3;
  return std::ranges::any_of(hit.terms, [](const std::string& term) {
    return term.size() >= kLeastBytes && !is_function_word(term);
  });
}

/// A note cannot end the block that it is in.
std::string without_marks(std::string line) {
  for (const std::string_view mark : {"<recalled>", "</recalled>"}) {
    for (std::size_t at = line.find(mark); at != std::string::npos; at = line.find(mark, at))
      line.replace(at, 1, "&lt;");
  }
  return line;
}

/// The block for a message; empty if no note is relevant. Throws if the memory fails.
std::string recalled_block(DatabaseClient& memory, const MemoryRecallOptions& options,
                           const std::string& text) {
  SearchOptions search;
  search.top_k = options.max_notes;
  const auto hits = search_collections(memory, text, options.collections, search);
  if (!hits) throw std::runtime_error("memory: " + hits.error().message);
  const std::size_t frame = kOpening.size() + kRecalledMark.size() + kClosing.size();
  std::string lines;
  std::set<std::string> shown;
  for (const Hit& hit : *hits) {
    const std::string line = without_marks(recalled_line(hit.note));
    const bool fits = frame + lines.size() + line.size() <= options.max_bytes;
    if (is_relevant(hit) && fits && shown.insert(line).second) lines += line;
  }
  if (lines.empty()) return {};
  return std::string(kOpening).append(kRecalledMark).append(lines).append(kClosing);
}

}  // namespace

std::function<void(const HookContext&, Message&)> memory_recall_hook(std::shared_ptr<DatabaseClient> memory,
                                                                     MemoryRecallOptions options) {
  return [memory = std::move(memory), options = std::move(options)](const HookContext&, Message& message) {
    const std::string block = recalled_block(*memory, options, message.text());
    if (!block.empty()) message.parts.emplace_back(TextPart{block, nullptr});
  };
}

}  // namespace praxis
