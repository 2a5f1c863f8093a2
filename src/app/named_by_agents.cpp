#include "app/named_by_agents.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "app/agent_team.hpp"
#include "app/bounds.hpp"
#include "app/command_files.hpp"
#include "app/setting_key.hpp"
#include "app/source_file.hpp"
#include "app/toml_document.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDocuments = 64;  ///< as many as one agent may have below it

class Gathering {
 public:
  Gathering(const AgentFileOptions& options, const fs::path& start) : options_(options), start_(start) {}

  std::vector<std::string> gather(const Json& agent, const fs::path& home) {
    add_document(agent, home);
    for (std::size_t read = 0; read < agents_.size() && read < kMostDocuments; ++read) {
      const std::string path = agents_[read];
      if (!why_outside(options_.within, path).empty()) continue;
      const auto text = read_source(options_, path, kMaxTomlBytes);
      const auto document =
          text ? TomlDocument::parse(*text, path) : Result<TomlDocument>(fail(text.error()));
      if (document) add_document(document->json(), fs::path(path).parent_path());
    }
    return {named_.begin(), named_.end()};
  }

 private:
  void add_document(const Json& agent, const fs::path& home) {
    const auto path_of = [&](const std::string& file) { return absolute_path(home / file); };
    if (const std::string file = json_string(agent, "instructions_file"); !file.empty())
      named_.insert(path_of(file));
    for (const std::string& file : texts_in(json_at(json_at(agent, "tools"), "mcp"), "from"))
      named_.insert(path_of(file));
    for (const std::string& file : server_files(agent, options_, start_, home)) named_.insert(path_of(file));
    std::vector<std::string> agents = texts_in(json_at(agent, "agents"), "file");
    std::ranges::copy(team_files(agent), std::back_inserter(agents));
    for (const std::string& file : agents) {
      if (const auto [path, is_new] = named_.insert(path_of(file)); is_new) agents_.push_back(*path);
    }
  }
  /// The text of that name in each of the tables.
  static std::vector<std::string> texts_in(const Json& tables, std::string_view key) {
    std::vector<std::string> texts;
    const JsonObject* const all = tables.if_object();
    if (all == nullptr) return texts;
    for (const auto& each : *all) {
      if (std::string text = json_string(each.value(), key); !text.empty()) texts.push_back(std::move(text));
    }
    return texts;
  }

  const AgentFileOptions& options_;
  const fs::path& start_;
  std::set<std::string> named_;
  std::vector<std::string> agents_;  ///< the documents among them, in the order in which they are read
};

}  // namespace

std::vector<std::string> named_by_agents(const Json& agent, const AgentFileOptions& options,
                                         const fs::path& start, const fs::path& home) {
  return Gathering(options, start).gather(agent, home);
}

}  // namespace praxis::app
