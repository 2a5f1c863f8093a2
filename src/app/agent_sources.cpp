#include "app/agent_sources.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "app/line_changes.hpp"
#include "app/plain_text.hpp"
#include "app/source_file.hpp"
#include "app/toml_document.hpp"
#include "app/trust.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

const std::string kModelPrefix = "model:";        ///< in names of scripts and cassettes
constexpr std::size_t kMaxKept = 256 * 1024;      ///< bytes of a text that is kept
constexpr std::size_t kMaxModelFile = 1UL << 30;  ///< bytes of a script or cassette

/// Notes each file that is read for an agent.
class Notes {
 public:
  Notes(const std::string& path, AgentSources& sources) : agent_(absolute_path(path)), sources_(sources) {}

  void add(const fs::path& path, std::string text) {
    const fs::path full = absolute_path(path);
    sources_.emplace(full == agent_ ? "." : full.lexically_relative(agent_.parent_path()).string(),
                     std::move(text));
  }

 private:
  const fs::path agent_;
  AgentSources& sources_;
};

/// Adds the scripts and cassettes that the noted agent files name. One that is missing is an error of the
/// run.
void add_models(const AgentFileOptions& options, ModelFileReader& models, AgentSources& sources) {
  const fs::path base = options.within.empty() ? fs::path(".") : fs::path(options.within);
  for (const auto& [path, text] : AgentSources(sources)) {
    if (path != "." && !path.ends_with(".toml")) continue;
    const auto document = TomlDocument::parse(text, path);
    if (!document) continue;
    for (const std::string& file : model_files(json_text(document->json(), "model"))) {
      if (auto read = models.read((base / file).string(), kMaxModelFile))
        sources.emplace(kModelPrefix + file, *std::move(read));
    }
  }
}

JsonObject digests_of(const AgentSources& sources) {
  JsonObject digests;
  for (const auto& [path, text] : sources) digests[path] = digest_of(text).hex();
  return digests;
}

fs::path kept_folder() {
  const std::string state = state_folder();
  return state.empty() ? fs::path() : fs::path(state) / "agent-files";
}

/// The text with this digest; empty if it was not kept.
std::string kept_text(const std::string& digest) {
  if (!Digest::from_hex(digest)) return {};
  const auto text = read_regular_file((kept_folder() / digest).string(), kMaxKept);
  return text && digest_of(*text).hex() == digest ? *text : std::string();
}

void keep(const fs::path& folder, const std::string& text) {
  const fs::path path = folder / digest_of(text).hex();
  std::error_code error;
  if (text.size() > kMaxKept || fs::exists(path, error)) return;
  if (make_private_folders(folder) != 0) return;
  // Without a name until it is whole, so that a process that is killed leaves nothing. Where the file system
  // has no such files, the text is not kept.
  const FileDescriptor file(open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return;
  keep_own_rights(file.get());
  if (write_all(file.get(), text) != 0) return;
  const std::string own = "/proc/self/fd/" + std::to_string(file.get());
  (void)linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);  // another process may win
}

/// The lines that say how one file changed; an empty digest stands for a file that was or is not there.
void add_change(const std::string& path, const std::string& before, const std::string* after,
                std::vector<std::string>& lines) {
  const std::string name = path == "." ? "the agent file" : exact(in_quotes(path));
  if (before.empty()) return lines.push_back(name + " is new");
  if (after == nullptr) return lines.push_back(name + " is gone");
  if (const std::string text = kept_text(before); !text.empty() && after->size() <= kMaxKept) {
    lines.push_back(name + " changed (+ is new, - is gone):");
    for (const std::string& line : changed_lines(text, *after)) lines.push_back("  " + line);
    return;
  }
  lines.push_back(name + " changed; it has now " + std::to_string(after->size()) +
                  " bytes, and what it was is not kept");
}

}  // namespace

Result<Agent> load_noted_agent(const std::string& path, AgentFileOptions options, ModelFileReader& models,
                               AgentSources& sources) {
  Notes notes(path, sources);
  options.read_file = [&notes, read = std::move(options.read_file)](const std::string& file,
                                                                    std::size_t max_bytes) {
    auto text = read ? read(file, max_bytes) : read_regular_file(file, max_bytes);
    if (text) notes.add(file, *text);
    return text;
  };
  auto agent = load_agent_file(path, options);
  if (!agent) return agent;
  add_models(options, models, sources);
  JsonObject metadata = agent->spec().metadata.get_object();  // names at least the file
  metadata[kAgentFiles] = digests_of(sources);
  agent->metadata(std::move(metadata));
  return agent;
}

void keep_sources(const AgentSources& sources) {
  const fs::path folder = kept_folder();
  if (folder.empty()) return;
  for (const auto& [path, text] : sources) keep(folder, text);
}

AgentChange changed_sources(const Json& recorded_metadata, const AgentSources& sources) {
  const auto* recorded = json_at(recorded_metadata, kAgentFiles).if_object();
  const JsonObject now = digests_of(sources);
  if (recorded == nullptr || to_canonical_json(*recorded) == to_canonical_json(now)) return {};
  AgentChange change{digest_of(to_canonical_json(now)).hex(), {}};
  for (const auto& [path, digest] : *recorded) {
    const auto found = sources.find(std::string(path));
    const std::string before = to_plain_text(digest);
    if (found == sources.end()) add_change(std::string(path), before, nullptr, change.lines);
    if (found != sources.end() && digest_of(found->second).hex() != before)
      add_change(std::string(path), before, &found->second, change.lines);
  }
  for (const auto& [path, text] : sources) {
    if (!recorded->contains(path)) add_change(path, {}, &text, change.lines);
  }
  return change;
}

}  // namespace praxis::app
