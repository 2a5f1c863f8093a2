#include "app/named_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "app/command_files.hpp"
#include "app/secret_broker.hpp"
#include "app/secret_source.hpp"
#include "app/setting_key.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

/// The root folder if the current one was deleted: nothing can be named from there.
fs::path current_folder() {
  std::error_code failed;
  fs::path folder = fs::current_path(failed);
  return failed ? fs::path("/") : folder;
}

class Naming {
 public:
  explicit Naming(const Workspace& workspace) : workspace_(workspace), folder_(current_folder()) {}

  NamedFiles find() {
    const Config& config = workspace_.config;
    for (const CommandHook& hook : workspace_.hooks) add_command(hook.command);
    add_command(texts_of(parse_json(config.get("chat.status_command")).value_or(Json())));
    add_command({config.get("chat.notify_command")});
    const auto agents = config.settings.find("agents.folder");
    if (agents != config.settings.end() && !agents->second.project)
      named_.run.push_back(absolute(agents->second.value));
    if (workspace_.secrets) {
      for (const auto& each : workspace_.secrets->rules()) add_source(each.second.source);
    }
    if (const auto key = SecretSource::parse(config.get("encryption.journal_key"))) add_source(*key);
    add_key_files(json_at(config.corrections, "providers"));
    return std::move(named_);
  }

 private:
  std::string absolute(const std::string& path) const { return (folder_ / path).lexically_normal(); }

  void add_command(const std::vector<std::string>& words) {
    std::ranges::move(files_of_command(words, folder_), std::back_inserter(named_.run));
  }
  void add_source(const SecretSource& source) {
    if (source.kind == SecretSource::Kind::kFile) named_.secret.push_back(absolute(source.place));
    if (source.kind == SecretSource::Kind::kCommand) add_command({source.place});
  }
  void add_key_files(const Json& providers) {
    const JsonObject* const all = providers.if_object();
    if (all == nullptr) return;
    for (const auto& each : *all) {
      const std::string file = json_string(each.value(), "key_file");
      if (!file.empty()) named_.secret.push_back(absolute(file));
    }
  }

  const Workspace& workspace_;
  const fs::path folder_;
  NamedFiles named_;
};

}  // namespace

NamedFiles named_files(const Workspace& workspace) { return Naming(workspace).find(); }

}  // namespace praxis::app
