#include "app/change_text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "app/line_changes.hpp"
#include "app/plain_text.hpp"
#include "logs/read_state.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"
#include "tools/file_changes.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostChangeLines = 5000;
constexpr std::string_view kChange = "  # ", kChangeContinued = "  # \\ ";

AgentSpecPtr agent_of(Journal& journal, const SessionId& session) {
  const auto state = read_state(journal, session);
  return state ? state->agent : nullptr;
}

std::vector<std::string> described_change(const FileChange& change) {
  if (change.before == change.after) return {"would not change " + in_quotes(change.file)};
  UnifiedDiff diff = unified_diff(change.before.value_or(""), change.after);
  const std::string counts =
      " (+" + std::to_string(diff.added) + (change.before ? " -" + std::to_string(diff.removed) : "") + ')';
  std::vector<std::string> lines{(change.before ? "would change " : "would create ") +
                                 in_quotes(change.file) + counts};
  const std::size_t shown = std::min(diff.lines.size(), kMostChangeLines);
  std::move(diff.lines.begin(), diff.lines.begin() + static_cast<std::ptrdiff_t>(shown),
            std::back_inserter(lines));
  if (shown < diff.lines.size())
    lines.push_back("... " + std::to_string(diff.lines.size() - shown) + " more lines of the change");
  return lines;
}

}  // namespace

std::vector<std::string> ChangePreview::lines(const SessionId& session, const ParkedStep& step) {
  if (journal_ == nullptr || step.kind == ParkKind::kQuestion || step.tool.empty()) return {};
  const auto arguments = parse_json(step.arguments);
  if (!arguments) return {};
  auto known = agents_.find(session);
  if (known == agents_.end()) known = agents_.emplace(session, agent_of(*journal_, session)).first;
  const ToolSpec* const tool = known->second ? known->second->find_tool(step.tool) : nullptr;
  const auto change = tool != nullptr ? file_change(tool->definition, *arguments) : std::nullopt;
  if (!change) return {};
  if (*change) return described_change(**change);
  const std::string& why = change->error().message;
  return {"would fail now: " + exact(why.substr(0, why.find('\n')))};
}

CallView change_view(const std::vector<std::string>& lines, std::size_t columns, std::size_t rows) {
  std::vector<std::string> broken;
  for (const std::string& line : lines) break_text(line, kChange, kChangeContinued, columns, broken);
  CallView view;
  view.cut = rows != 0 && broken.size() > rows;
  const std::size_t shown = view.cut ? rows - 1 : broken.size();
  for (std::size_t i = 0; i < shown; ++i) view.text += broken[i] + '\n';
  if (view.cut)
    view.text.append(kChange).append("... " + std::to_string(broken.size() - shown) +
                                     " more lines of the change\n");
  return view;
}

}  // namespace praxis::app
