#include "runtime/tool_search.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "memory/ranking.hpp"
#include "memory/words.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/json/json.hpp"
#include "praxis/tools/typed_tool.hpp"

namespace praxis {
namespace {

constexpr std::string_view kServerEnd = "__";
constexpr std::string_view kListed = "- ";  ///< how the line of a tool in a result begins
constexpr std::size_t kMaxFound = 20, kFoundByDefault = 8;
constexpr std::size_t kMaxServers = 32;  ///< that the description names
constexpr std::size_t kMaxLine = 200;    ///< bytes of a description in a result
constexpr double kNameWeight = 3;        ///< how many words of a description one of the name counts
constexpr std::string_view kAbout =
    "Finds further tools by what they do. Those that it lists can be called from your next message on.";

struct SearchRequest {
  arg<std::string, "Words for what the tool should do, such as \"create issue\""> query;
  arg<std::optional<std::size_t>, "At most this many tools, up to 20; 8 if absent"> limit;
};
PRAXIS_FIELDS(SearchRequest, query, limit)

/// The stems of a text, how often each occurs.
using Stems = std::map<std::string, double>;

/// The name with its words apart: `getFileInfo` has three.
std::string apart(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (i > 0 && is_upper(name[i]) && !is_upper(name[i - 1])) text += ' ';
    text += name[i];
  }
  return text;
}

void count_stems(std::string_view text, double weight, Stems& stems) {
  for (const std::string& word : words_of(folded(text))) stems[stem_of(word)] += weight;
}

Stems stems_of_tool(const ToolDefinition& tool) {
  Stems stems;
  count_stems(apart(tool.name), kNameWeight, stems);
  count_stems(tool.description, 1, stems);
  return stems;
}

/// The description on one line.
std::string line_of(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (is_space && (line.empty() || line.back() == ' ')) continue;
    line += is_space ? ' ' : c;
  }
  return line.size() <= kMaxLine ? line : std::string(utf8_head(line, kMaxLine)) + "...";
}

std::string servers_in(const std::vector<Tool>& all) {
  std::set<std::string> servers;
  for (const Tool& tool : all) {
    const std::size_t end = tool.definition.name.find(kServerEnd);
    if (end != std::string::npos) servers.insert(tool.definition.name.substr(0, end));
  }
  std::string names;
  std::size_t named = 0;
  for (const std::string& server : servers) {
    if (++named > kMaxServers) return names + ", ...";
    names += (names.empty() ? "" : ", ") + server;
  }
  return names;
}

}  // namespace

bool exceeds(const std::vector<Tool>& tools, const ToolSearch& bounds) {
  if (tools.size() > bounds.tools) return true;
  std::size_t bytes = 0;
  for (const Tool& tool : tools) bytes += to_json_text(to_json(tool.definition)).size();
  return bytes > bounds.bytes;
}

std::vector<const Tool*> find_tools(const std::vector<Tool>& all, std::string_view query, std::size_t limit) {
  std::vector<Stems> texts;
  double length = 0;
  const auto length_of = [](const Stems& stems) {
    double words = 0;
    for (const auto& [stem, count] : stems) words += count;
    return words;
  };
  for (const Tool& tool : all) {
    texts.push_back(stems_of_tool(tool.definition));
    length += length_of(texts.back());
  }
  const double count = static_cast<double>(all.size());
  std::map<std::string, double> rarities;  // of the stems
  for (const std::string& word : query_words(apart(query))) {
    const std::string stem = stem_of(word);
    const auto with = std::ranges::count_if(texts, [&](const Stems& each) { return each.contains(stem); });
    rarities[stem] = rarity(count, static_cast<double>(with));
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<TermCount> terms;
    for (const auto& [stem, weight] : rarities) {
      if (const auto found = texts[i].find(stem); found != texts[i].end())
        terms.push_back({found->second, weight});
    }
    if (!terms.empty()) order.emplace_back(bm25(terms, length_of(texts[i]), length / count), i);
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<const Tool*> best;
  for (const auto& [score, index] : order) {
    if (best.size() < limit) best.push_back(&all[index]);
  }
  return best;
}

Tool search_tools_tool(std::shared_ptr<const std::vector<Tool>> all) {
  const std::string servers = servers_in(*all);
  const std::string where = servers.empty() ? std::string() : " There are tools of: " + servers + '.';
  Tool tool =
      make_tool(kSearchTools, std::string(kAbout) + where,
                [all = std::move(all), where](const SearchRequest& request) -> Result<ToolOutput> {
                  const std::size_t limit = std::min(request.limit.value_or(kFoundByDefault), kMaxFound);
                  ToolOutput output;
                  for (const Tool* found : find_tools(*all, request.query, std::max<std::size_t>(limit, 1))) {
                    output.text += std::string(kListed) + found->definition.name + ": " +
                                   line_of(found->definition.description) + '\n';
                  }
                  if (output.text.empty())
                    output.text = "No tool fits these words." + where + " Try other words.";
                  return output;
                });
  tool.definition.idempotent = true;
  return tool;
}

std::vector<std::string> found_tools(const History& conversation) {
  std::vector<std::string> names;
  for (const MessagePtr& message : conversation.messages()) {
    for (const Part& part : message->parts) {
      const auto* result = std::get_if<ToolResultPart>(&part);
      if (result == nullptr || result->name != kSearchTools || result->status != ToolStatus::kOk) continue;
      std::string_view rest = result->text;
      while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t end = line.find(": ");
        if (line.starts_with(kListed) && end != std::string_view::npos)
          names.emplace_back(line.substr(kListed.size(), end - kListed.size()));
      }
    }
  }
  return names;
}

}  // namespace praxis
