#include "app/trust.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/own_folder.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "trusted.jsonl";
constexpr std::size_t kMaxBytes = 4 * 1024 * 1024;

Json json_of(const TrustedProject& project) {
  return JsonObject{{"project", project.root},
                    {"digest", project.digest},
                    {"shown", JsonArray(project.shown.begin(), project.shown.end())}};
}

TrustedProject project_in(const Json& json) {
  TrustedProject project{json_string(json, "project"), json_string(json, "digest"), {}};
  const auto* shown = json_at(json, "shown").if_array();
  for (const Json& text : shown != nullptr ? *shown : JsonArray{}) {
    project.shown.push_back(to_plain_text(text));
  }
  return project;
}

bool is_of(const Json& json, const std::string& root) { return json_string(json, "project") == root; }

}  // namespace

TrustedProjects::TrustedProjects(std::string folder) : lines_(std::move(folder), kName, kMaxBytes) {}

Result<std::vector<TrustedProject>> TrustedProjects::all() const {
  const auto lines = lines_.all();
  if (!lines) return fail(lines.error());
  std::vector<TrustedProject> projects;
  for (std::size_t i = 0; i < lines->size(); ++i) {
    TrustedProject project = project_in((*lines)[i]);
    if (project.root.empty() || project.digest.empty())
      return fail(ErrorCode::kInput, lines_.path() + ':' + std::to_string(i + 1) +
                                         ": an entry needs \"project\" and \"digest\"");
    projects.push_back(std::move(project));
  }
  return projects;
}

Status TrustedProjects::add(const TrustedProject& project) const {
  const auto changed = lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    std::erase_if(lines, [&](const Json& line) { return is_of(line, project.root); });
    lines.push_back(json_of(project));
    return true;
  });
  return changed ? Status{} : fail(changed.error());
}

Result<bool> TrustedProjects::remove(const std::string& root) const {
  return lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    return std::erase_if(lines, [&](const Json& line) { return is_of(line, root); }) > 0;
  });
}

Result<TrustedProject> trust_in(const Project& project) {
  const std::string folder = state_folder();
  if (folder.empty()) return TrustedProject{};
  auto all = TrustedProjects(folder).all();
  if (!all) return fail(all.error());
  const auto found = std::ranges::find(*all, project.root, &TrustedProject::root);
  return found == all->end() ? TrustedProject{} : std::move(*found);
}

std::shared_ptr<const Project> project_at(const std::string& root) {
  Project project = read_project(root);
  if (project.problem.empty() && project.has_content()) {
    const auto trust = trust_in(project);
    if (!trust) project.problem = trust.error().message;
    if (trust) project.trusted = trust->digest == project.digest().hex();
    if (trust) project.changed = !trust->digest.empty() && !project.trusted;
  }
  return std::make_shared<const Project>(std::move(project));
}

std::shared_ptr<const Project> current_project() {
  std::error_code ignored;
  const std::string root =
      find_project_root(fs::current_path(ignored).string(), environment_variable("HOME"));
  return root.empty() ? nullptr : project_at(root);
}

}  // namespace praxis::app
