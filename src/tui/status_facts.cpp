#include "tui/status_facts.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/regular_file.hpp"

namespace praxis::tui {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostGitBytes = 4096;
constexpr std::size_t kShownCommit = 7;  ///< characters

/// The first line of a file, if it begins with `start`, without that; else empty.
std::string line_after(const fs::path& file, std::string_view start) {
  const auto text = read_regular_file(file.string(), kMostGitBytes);
  if (!text || !text->starts_with(start)) return "";
  return text->substr(start.size(), text->find('\n') - start.size());
}

/// The branch of the repository whose `.git` this is: a folder or, in a further work tree, a file.
std::string branch_of(const fs::path& git) {
  const std::string elsewhere = line_after(git, "gitdir: ");
  const fs::path head = (elsewhere.empty() ? git : git.parent_path() / elsewhere) / "HEAD";
  std::string branch = line_after(head, "ref: refs/heads/");
  if (!branch.empty()) return branch;
  const std::string commit = line_after(head, "");
  return commit.contains(' ') ? "" : commit.substr(0, kShownCommit);
}

std::string short_name(const std::string& model) {
  const auto colon = model.find(':');
  return colon == std::string::npos ? model : model.substr(colon + 1);
}

JsonObject window_json(const RunFigures& figures) {
  const bool is_known = figures.context_percent > 0;
  return {{"used_percentage", is_known ? Json(figures.context_percent) : Json(nullptr)},
          {"remaining_percentage", is_known ? Json(100 - figures.context_percent) : Json(nullptr)},
          {"total_input_tokens", figures.usage.input},
          {"total_output_tokens", figures.usage.output}};
}

}  // namespace

StatusPlace status_place(const std::string& folder) {
  std::error_code failed;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", failed)) return {folder, at.string(), branch_of(at / ".git")};
    if (at == at.parent_path()) break;
  }
  return {folder, folder, ""};
}

JsonObject status_json(const StatusFacts& facts, const StatusPlace& place, Millis open_for) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json turn(nullptr);
  if (facts.turn)
    turn = JsonObject{{"doing", facts.turn->doing}, {"elapsed_ms", Millis(facts.turn->elapsed).count()}};
  return {
      {"session_id", text_or_null(facts.run.str())},
      {"cwd", place.folder},
      {"model", JsonObject{{"id", facts.model}, {"display_name", short_name(facts.model)}}},
      {"workspace", JsonObject{{"current_dir", place.folder},
                               {"project_dir", place.project},
                               {"branch", text_or_null(place.branch)}}},
      {"context_window", window_json(facts.figures)},
      {"cost", JsonObject{{"total_cost_usd", facts.figures.usage.cost.usd()},
                          {"total_duration_ms", open_for.count()}}},
      {"turn", std::move(turn)},
      {"agents_at_work", facts.agents_at_work},
      {"waiting",
       JsonObject{{"decisions", facts.decisions}, {"steering", facts.steering}, {"queued", facts.queued}}},
      {"trouble", text_or_null(facts.trouble)},
      {"columns", facts.columns}};
}

}  // namespace praxis::tui
