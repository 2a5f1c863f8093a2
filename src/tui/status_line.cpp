#include "tui/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"

namespace praxis::tui {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kMostName = 40;  ///< columns of a name

/// Parts with a higher rank are left out first.
enum class Rank : unsigned char {
  kTrouble,
  kDecisions,
  kDoing,
  kWaiting,
  kContext,
  kModel,
  kUsage,
  kAgents,
  kPlace
};

struct StatusPart {
  Rank rank;
  std::string text;
};

/// In the order in which they are shown.
class StatusParts {
 public:
  void add(Rank rank, std::string text) {
    if (!text.empty()) parts_.push_back({rank, std::move(text)});
  }
  void add_count(Rank rank, std::size_t count, std::string_view what) {
    if (count > 0) add(rank, fmt::format("{} {}", count, what));
  }
  std::string fitting(std::size_t columns) {
    while (parts_.size() > 1 && width() > columns) {
      // Of parts with one rank the last.
      const auto least = std::ranges::max_element(parts_.rbegin(), parts_.rend(), {}, &StatusPart::rank);
      parts_.erase(std::next(least).base());
    }
    std::string line;
    for (const StatusPart& part : parts_) line.append(line.empty() ? "" : kGap).append(part.text);
    return std::string(cut_to(line, columns));
  }

 private:
  std::size_t width() const {
    std::size_t sum = (parts_.size() - 1) * kGap.size();
    for (const StatusPart& part : parts_) sum += columns_of(part.text);
    return sum;
  }

  std::vector<StatusPart> parts_;
};

std::string doing(const StatusFacts& facts) {
  if (!facts.turn) return "";
  const std::string_view what = facts.decisions > 0 ? "waits for you" : std::string_view(facts.turn->doing);
  return fmt::format("{} {}", what, app::show_age(facts.turn->elapsed));
}

std::string context(const RunFigures& figures) {
  if (figures.context_percent <= 0) return "";
  const std::string mark = figures.compacts_percent > 0 ? fmt::format(" |{}", figures.compacts_percent) : "";
  return fmt::format("context {} %{}", figures.context_percent, mark);
}

/// The folder below the one that holds the repository, and the branch.
std::string where(const StatusPlace& place) {
  if (place.folder.empty()) return "";
  namespace fs = std::filesystem;
  const fs::path folder = place.folder;
  const fs::path shown = place.project.empty()
                             ? folder.filename()
                             : folder.lexically_relative(fs::path(place.project).parent_path());
  std::string text = shown == "." ? "/" : app::one_line(shown.string(), kMostName);
  if (!place.branch.empty()) text += " (" + app::one_line(place.branch, kMostName) + ')';
  return text;
}

}  // namespace

std::string status_line(const StatusFacts& facts, const StatusPlace& place) {
  StatusParts parts;
  parts.add(Rank::kTrouble, facts.trouble);
  parts.add(Rank::kDoing, doing(facts));
  parts.add(Rank::kModel, app::one_line(facts.model, kMostName));
  parts.add(Rank::kContext, context(facts.figures));
  parts.add(Rank::kUsage, app::show_usage(facts.figures.usage));
  parts.add_count(Rank::kDecisions, facts.decisions, "to decide");
  parts.add_count(Rank::kWaiting, facts.queued, "queued");
  parts.add_count(Rank::kWaiting, facts.steering, "at the next step");
  if (facts.agents_at_work > 1) parts.add_count(Rank::kAgents, facts.agents_at_work, "agents at work");
  parts.add(Rank::kPlace, where(place));
  return parts.fitting(facts.columns);
}

}  // namespace praxis::tui
