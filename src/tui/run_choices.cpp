#include "tui/run_choices.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "app/values.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostRunChoices = 10'000;

}  // namespace

std::vector<Choice> run_choices(const std::vector<SessionRow>& rows, UnixMillis now) {
  std::vector<Choice> choices;
  for (const SessionRow& row : rows) {
    if (!row.parent.empty() || row.entries == 0) continue;
    const std::string name = row.name.empty() ? row.title : '[' + row.name + "] " + row.title;
    std::string about = fmt::format("{}  {} ago  {}  {}", row.status, app::show_age(now - row.updated),
                                    row.agent, row.id.str());
    for (const std::string& tag : row.tags) about += " #" + tag;
    choices.push_back({row.id.str(), name.empty() ? row.id.str() : name, std::move(about)});
    if (choices.size() >= kMostRunChoices) break;
  }
  return choices;
}

}  // namespace praxis::tui
