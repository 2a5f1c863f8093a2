#include "app/project.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "app/agent_team.hpp"
#include "app/model_files.hpp"
#include "app/owned_file.hpp"
#include "app/plain_text.hpp"
#include "app/setting_key.hpp"
#include "base/path_below.hpp"
#include "base/regular_file.hpp"
#include "praxis/json/json.hpp"
#include "praxis/tools/skill_tool.hpp"
#include "tools/file_roots.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNames = 200;     ///< columns of a list of names in a notice
constexpr std::size_t kMaxProblem = 5000;  ///< columns of a problem, which ends with what fixes it
const std::string kFolder = ".praxis";
const std::string kSkillFile = "SKILL.md";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() > fs::file_type::not_found;
}

/// Reads the files of a project into it.
class ProjectReader {
 public:
  explicit ProjectReader(Project& project) : project_(project) {}

  Status read() {
    root_ = FileDescriptor(open(project_.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root_.get() < 0) return unusable(".", errno);
    if (auto checked = check_folder(kFolder); !checked) return fail(checked.error());
    for (const char* name : {"config.toml", "config.local.toml"}) {
      if (auto read = read_settings(kFolder + '/' + name); !read) return read;
    }
    if (auto read = read_agents(kFolder + "/agents"); !read) return read;
    for (const std::string& folder : agent_folders_) {
      if (auto read = read_agents(folder); !read) return read;
    }
    return {};
  }

 private:
  std::unexpected<Error> unusable(const std::string& path, int error) const {
    const std::string why = error == ELOOP   ? "goes through a symbolic link, which is not followed"
                            : error == EXDEV ? "leads out of the project"
                                             : "cannot be read: " + std::generic_category().message(error);
    return fail(ErrorCode::kInput, in_quotes((fs::path(project_.root) / path).string()) + ' ' + why);
  }

  /// The path below the root; error if it leads out.
  Result<std::string> below(const fs::path& path) const {
    const std::string full = (fs::path(project_.root) / path).lexically_normal().string();
    const std::string_view inside = path_below(project_.root, full);
    if (!inside.empty() && inside != ".") return std::string(inside);
    return fail(ErrorCode::kInput, in_quotes(path.string()) + " is outside of the project");
  }

  /// An open folder that other users cannot write; `std::nullopt` if it does not exist.
  Result<std::optional<FileDescriptor>> check_folder(const std::string& path) const {
    auto folder = open_beneath(root_.get(), path, O_RDONLY | O_DIRECTORY);
    if (!folder && folder.error() == ENOENT) return std::nullopt;
    if (!folder) return unusable(path, folder.error());
    struct stat about = {};
    if (fstat(folder->get(), &about) != 0) return unusable(path, errno);
    if (std::string unsafe = why_unsafe(about, (fs::path(project_.root) / path).string()); !unsafe.empty())
      return fail(ErrorCode::kInput, std::move(unsafe));
    return std::move(*folder);
  }

  /// Adds a file; true if it exists.
  Result<bool> add(const std::string& path, std::size_t max_bytes) {
    if (project_.files.contains(path)) return true;
    auto opened = open_beneath(root_.get(), path, O_RDONLY);
    if (!opened && opened.error() == ENOENT) return false;
    if (!opened) return unusable(path, opened.error());
    const std::string name = (fs::path(project_.root) / path).string();
    auto file = regular_file_of(std::move(*opened), name);
    if (!file) return fail(file.error());
    if (std::string unsafe = why_unsafe(file->about, name); !unsafe.empty())
      return fail(ErrorCode::kInput, std::move(unsafe));
    auto text = read_whole(*file, name, max_bytes);
    if (!text) return fail(text.error());
    bytes_ += text->size();
    if (bytes_ > Project::kMaxBytes || project_.files.size() >= Project::kMaxFiles)
      return fail(ErrorCode::kInput, "the files of a project must be at most " +
                                         std::to_string(Project::kMaxFiles) + ", with at most " +
                                         std::to_string(Project::kMaxBytes) + " bytes together");
    project_.files.emplace(path, *std::move(text));
    return true;
  }

  Status read_settings(const std::string& path) {
    const auto found = add(path, kMaxTomlBytes);
    if (!found) return fail(found.error());
    if (!*found) return {};
    project_.settings.push_back(path);
    const auto document =
        TomlDocument::parse(project_.files.at(path), (fs::path(project_.root) / path).string());
    if (!document) return fail(document.error());
    const Json& folder = document->at("agents.folder");
    if (!folder.is_string()) return {};
    auto inside = below(std::string(folder.get_string()));
    if (!inside) return fail(inside.error());
    agent_folders_.push_back(*std::move(inside));
    return {};
  }

  Status read_agents(const std::string& path) {
    auto folder = check_folder(path);
    if (!folder) return fail(folder.error());
    if (!*folder) return {};
    for (const DirectoryEntry& entry : read_directory(std::move(**folder))) {
      if (!entry.name.ends_with(".toml")) continue;
      const std::string file = path + '/' + entry.name;
      project_.agents.emplace(fs::path(entry.name).stem().string(), file);
      if (auto read = read_agent(file); !read) return read;
    }
    return {};
  }

  /// Adds an agent file and all that it names. A file that is missing is an error of the run, not of the
  /// project.
  Status read_agent(const std::string& path) {
    if (project_.files.contains(path)) return {};
    const auto found = add(path, kMaxTomlBytes);
    if (!found) return fail(found.error());
    if (!*found) return {};
    const auto document =
        TomlDocument::parse(project_.files.at(path), (fs::path(project_.root) / path).string());
    if (!document) return fail(document.error());
    const fs::path folder = fs::path(path).parent_path();
    if (const Json& file = document->at("instructions_file"); file.is_string()) {
      if (auto added = add_named(folder / std::string(file.get_string())); !added) return added;
    }
    for (const std::string& file : model_files(json_text(document->json(), "model"))) {
      if (auto added = add_named(file); !added) return added;
    }
    for (const std::string& place : texts_of(document->at("tools.skills.folders"))) {
      if (auto read = read_skills(place); !read) return read;
    }
    const auto* servers = document->at("tools.mcp").if_object();
    for (const auto& [name, server] : servers != nullptr ? *servers : JsonObject{}) {
      const std::string file = json_string(server, "from");  // describes servers for other clients too
      if (auto added = file.empty() ? Status{} : add_named(folder / file); !added) return added;
    }
    std::vector<std::string> named = team_files(document->json());
    const auto* agents = document->at("agents").if_object();
    for (const auto& [name, agent] : agents != nullptr ? *agents : JsonObject{}) {
      if (std::string file = json_string(agent, "file"); !file.empty()) named.push_back(std::move(file));
    }
    for (const std::string& file : named) {
      auto inside = below(folder / file);
      if (!inside) return fail(inside.error());
      if (auto read = read_agent(*inside); !read) return read;
    }
    return {};
  }

  /// Adds the skills in a folder.
  Status read_skills(const std::string& path) {
    const auto place = below(path);
    if (!place) return fail(place.error());
    auto folder = check_folder(*place);
    if (!folder) return fail(folder.error());
    if (!*folder) return {};
    for (const DirectoryEntry& entry : read_directory(std::move(**folder))) {
      if (entry.kind != DirectoryEntry::Kind::kDirectory) continue;
      const auto added = add(*place + '/' + entry.name + '/' + kSkillFile, Skill::kMaxFileBytes);
      if (!added) return fail(added.error());
    }
    return {};
  }

  Status add_named(const fs::path& path) {
    const auto inside = below(path);
    if (!inside) return fail(inside.error());
    const auto added = add(*inside, Project::kMaxBytes);
    return added ? Status{} : fail(added.error());
  }

  Project& project_;
  FileDescriptor root_;
  std::vector<std::string> agent_folders_;  ///< in addition to `.praxis/agents`
  std::size_t bytes_ = 0;
};

}  // namespace

Digest Project::digest() const {
  JsonArray all;
  all.emplace_back(root);
  for (const auto& [path, text] : files) all.push_back(JsonArray{path, digest_of(text).hex()});
  return digest_of(to_canonical_json(all));
}

std::string find_project_root(const std::string& start, const std::string& home) {
  std::error_code ignored;
  const auto canonical = [&](const std::string& path) { return fs::weakly_canonical(path, ignored); };
  const fs::path first = canonical(start), last = home.empty() ? fs::path() : canonical(home);
  std::string nearest;
  for (fs::path folder = first; folder != last; folder = folder.parent_path()) {
    if (nearest.empty() && is_there(folder / kFolder)) nearest = folder.string();
    if (is_there(folder / ".git")) return nearest;
    // Outside of both, a parent folder such as /tmp may belong to any user.
    if (folder == folder.root_path()) return is_there(first / kFolder) ? first.string() : std::string();
  }
  return nearest;
}

Project read_project(const std::string& root) {
  Project project;
  project.root = root;
  if (auto read = ProjectReader(project).read(); !read) project.problem = read.error().message;
  return project;
}

std::vector<ProjectSettings> settings_of(const Project& project) {
  std::vector<ProjectSettings> settings;
  if (!project.trusted) return settings;
  for (const std::string& file : project.settings) {
    settings.push_back({(fs::path(project.root) / file).string(), project.root, project.files.at(file)});
  }
  return settings;
}

void bind_to_project(AgentFileOptions& options, std::shared_ptr<const Project> project) {
  options.within = project->root;
  options.list_folders = [project](const std::string& folder) {
    std::vector<std::string> names;
    const fs::path below = fs::path(folder).lexically_relative(project->root);
    for (const auto& [path, text] : project->files) {
      const fs::path skill = fs::path(path).parent_path();
      if (fs::path(path).filename() == kSkillFile && skill.parent_path() == below)
        names.push_back(skill.filename().string());
    }
    return names;
  };
  options.read_file = [project = std::move(project)](const std::string& path,
                                                     std::size_t) -> Result<std::string> {
    const auto file = project->files.find(fs::path(path).lexically_relative(project->root).string());
    if (file != project->files.end()) return file->second;
    return fail(ErrorCode::kInput, in_quotes(path) + " is not among the files of the project " +
                                       in_quotes(project->root) + " that you trust");
  };
}

std::string project_notice(const Project& project) {
  if (project.trusted || !project.has_content()) return {};
  const std::string name = "the project " + exact(in_quotes(project.root));
  if (!project.problem.empty()) return name + " is ignored: " + one_line(exact(project.problem), kMaxProblem);
  std::string ignored;
  for (const std::string& file : project.settings) ignored += (ignored.empty() ? "" : ", ") + file;
  for (const auto& [agent, file] : project.agents)
    ignored += (ignored.empty() ? "" : ", ") + ("agent " + agent);
  return name + (project.changed ? " has changed since you trusted it" : " is not trusted") +
         "; ignored: " + one_line(exact(ignored), kMaxNames) + "; `praxis trust` shows what it would do";
}

}  // namespace praxis::app
