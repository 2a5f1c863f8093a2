#include "praxis/app/config.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/config_keys.hpp"
#include "app/model_files.hpp"
#include "app/owned_file.hpp"
#include "app/policy_table.hpp"
#include "app/redact_keys.hpp"
#include "memory/redis_address.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using Type = SettingKey::Type;

bool is_limit(const SettingKey& key) { return key.path.starts_with("limits."); }
bool is_path(const SettingKey& key) {
  return key.path == "journal" || key.path == "memory" || key.path == "prompts" ||
         key.path == "agents.folder";
}

/// Makes a relative path of a file whole: it starts at `folder`. The program of a command is one if it has a
/// slash, so that no folder in which the user happens to be can put another one in its place.
void start_at(const fs::path& folder, const SettingKey& key, Json& value) {
  const auto make_whole = [&](Json& path) {
    path = (folder / std::string(path.get_string())).lexically_normal().string();
  };
  JsonArray* const words = key.path == "chat.status_command" ? value.if_array() : nullptr;
  if (words != nullptr && !words->empty() && to_plain_text(words->front()).contains('/'))
    return make_whole(words->front());
  const bool is_address = value.is_string() && is_memory_address(std::string(value.get_string()));
  if (is_path(key) && value != "memory" && !is_address) make_whole(value);
}

enum class Trust : std::uint8_t { kSystem, kUser, kProject };

struct Layer {
  std::string name;  ///< as in `Setting::layer`
  fs::path file;
  fs::path folder;  ///< base of relative paths in the file
  Trust trust;
  std::string text = {};  ///< of a project's file

  std::string origin() const { return file.string(); }
};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path users_folder(const ConfigSources& sources) {
  const fs::path home = sources.env("HOME");
  fs::path own = sources.env("XDG_CONFIG_HOME");
  if (!own.is_absolute()) own = home.empty() ? fs::path() : home / ".config";
  return own / "praxis";
}

/// The files of the system and the user that exist.
std::vector<Layer> own_layers(const ConfigSources& sources) {
  const fs::path system = sources.system_file, own = users_folder(sources);
  std::vector<Layer> layers{{"system", system, system.parent_path(), Trust::kSystem},
                            {"user", own / "config.toml", own, Trust::kUser}};
  std::erase_if(layers,
                [](const Layer& layer) { return !layer.file.is_absolute() || !is_there(layer.file); });
  return layers;
}

/// Error `kInput`: there is no such profile; names those that exist.
Result<Layer> profile_layer(const std::string& name, const ConfigSources& sources) {
  const fs::path own = users_folder(sources), folder = own / "profiles";
  const fs::path file = folder / (name + ".toml");
  const bool is_name = name.find('/') == std::string::npos && !name.starts_with('.');
  if (is_name && is_there(file)) return Layer{"profile", file, own, Trust::kUser};
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "; there are: " : ", ") + each;
  return fail(make_error(ErrorCode::kInput, "there is no profile \"" + name + "\"" + known)
                  .set("hint", "a profile is a file " + (folder / "NAME.toml").string()));
}

Result<TomlDocument> read_layer(const Layer& layer) {
  if (layer.trust == Trust::kProject) return TomlDocument::parse(layer.text, layer.file.string());
  const auto text = app::read_owned_file(layer.file.string(), kMaxTomlBytes);
  if (!text) return fail(text.error());
  return TomlDocument::parse(*text, layer.file.string());
}

class Merge {
 public:
  Status add(const Layer& layer) {
    const auto document = read_layer(layer);
    if (!document) return fail(document.error());
    const FileOwner owner = layer.trust == Trust::kProject ? FileOwner::kProject : FileOwner::kUser;
    if (auto checked = check_keys(*document, app::config_keys(), owner); !checked) return checked;
    config_.files.push_back(layer.file.string());
    if (owner == FileOwner::kProject && !app::model_files(json_text(document->json(), "model")).empty()) {
      return document->mistake("model",
                               "a project must not name a script or cassette as the model of your agents; "
                               "its own agents may name it in their files");
    }
    if (layer.name == "profile" && !document->at("profile").is_null())
      return document->mistake("profile", "a profile does not choose another");
    for (const SettingKey& key : app::scalar_keys()) {
      Json value = document->at(key.path);
      if (value.is_null()) continue;
      const std::string path(key.path);
      start_at(layer.folder, key, value);
      if (auto set = this->set(key, value, layer.origin(), layer.name, layer.trust); !set) {
        return document->mistake(path, set.error().message);
      }
    }
    merge_tables(config_.hooks, "hooks", *document, layer);
    note_secrets(*document, layer);
    if (!document->at("policy").is_null()) {
      auto rules = app::policy_layer_of(*document);
      if (!rules) return fail(std::move(rules.error()));
      config_.policy.push_back(*std::move(rules));
    }
    for (const SettingKey& key : app::kRedactKeys) {
      if (const Json& value = document->at(key.path); !value.is_null())
        note(std::string(key.path), value, layer);
    }
    return add_corrections(*document, layer);
  }

  /// Adds a value that does not come from a file.
  Status add(const SettingKey& key, const std::string& text, const std::string& origin,
             const std::string& layer) {
    Json value(text);
    if (key.type != Type::kText) value = parse_json(text).value_or(value);
    if (const std::string wrong = why_unfit(key, value); !wrong.empty()) {
      return fail(ErrorCode::kInput, origin + ": \"" + std::string(key.path) + "\" " + wrong);
    }
    if (auto set = this->set(key, value, origin, layer, Trust::kUser); !set) {
      return fail(ErrorCode::kInput, origin + ": " + set.error().message);
    }
    return {};
  }

  /// Notes what is probably a mistake.
  void warn(std::string text) { config_.warnings.push_back(std::move(text)); }

  const Config& config() const { return config_; }
  Config result() && { return std::move(config_); }

 private:
  struct Limit {
    double value = 0;
    std::string origin;
    std::string layer;
  };

  /// Applies the layer's facts about providers and models.
  Status add_corrections(const TomlDocument& document, const Layer& layer) {
    for (const char* kind : {"providers", "models"}) {
      if (document.at(kind).is_null()) continue;
      if (config_.corrections.is_null()) config_.corrections = JsonObject{};
      merge_tables(config_.corrections.get_object()[kind], kind, document, layer);
    }
    if (config_.corrections.is_null()) return {};
    const auto catalog = catalog_with(config_.corrections);
    if (!catalog) return fail(ErrorCode::kInput, layer.file.string() + ": " + catalog.error().message);
    return {};
  }

  /// Adds the tables of a kind to `all` by name and field, overriding lower layers.
  void merge_tables(Json& all, const std::string& kind, const TomlDocument& document, const Layer& layer) {
    const JsonObject* entries = document.at(kind).if_object();
    if (!entries) return;
    JsonObject& merged = all.is_object() ? all.get_object() : all.emplace_object();
    for (const auto& [name, fields] : *entries) {
      Json& entry = merged[name];
      if (!entry.is_object()) entry = JsonObject{};
      for (const auto& [field, given] : fields.get_object()) {
        Json value = given;
        if (field == "key_file")
          value = (layer.folder / std::string(given.get_string())).lexically_normal().string();
        note(kind + '.' + std::string(name) + '.' + std::string(field), value, layer);
        entry.get_object()[field] = std::move(value);
      }
    }
  }

  /// Keeps `[secrets.NAME]` as settings, with absolute paths.
  void note_secrets(const TomlDocument& document, const Layer& layer) {
    constexpr std::string_view kFile = "file:";
    const JsonObject* const secrets = document.at("secrets").if_object();
    if (secrets == nullptr) return;
    const auto absolute = [&](std::string_view path) {
      return (layer.folder / path).lexically_normal().string();
    };
    for (const auto& [name, fields] : *secrets) {
      for (const auto& [field, given] : fields.get_object()) {
        Json value = given;
        if (field == "agents") {
          for (Json& path : value.get_array()) path = absolute(path.get_string());
        } else if (const std::string from = to_plain_text(given);
                   field == "from" && from.starts_with(kFile)) {
          value = std::string(kFile) + absolute(std::string_view(from).substr(kFile.size()));
        }
        note("secrets." + std::string(name) + '.' + std::string(field), value, layer);
      }
    }
  }

  /// Records the origin of a value for display. Headers may be secret.
  void note(const std::string& path, const Json& value, const Layer& layer) {
    std::string shown = to_plain_text(value);
    if (path.ends_with(".headers")) shown = "(not shown)";
    keep(path, {std::move(shown), layer.origin(), layer.trust == Trust::kProject, layer.name});
  }

  /// The setting wins over those of the layers below.
  void keep(const std::string& path, const Setting& setting) {
    config_.given[path].push_back(setting);
    config_.settings[path] = setting;
  }

  Status set(const SettingKey& key, const Json& value, const std::string& origin, const std::string& layer,
             Trust trust) {
    const std::string path(key.path);
    const bool by_project = trust == Trust::kProject;
    if (!is_limit(key)) {
      const bool is_time = key.type == Type::kDuration && path != "network.patience";
      if (is_time && duration_of(value).count() == 0)
        return fail(ErrorCode::kInput, "\"" + path + "\" must be more than 0");
      if (path == "agents.folder" && !is_there(to_plain_text(value)))
        warn("agents.folder (" + origin + "): the folder \"" + to_plain_text(value) + "\" does not exist");
      // The user's own agents come first; the project's folder holds further ones.
      const bool yields = by_project && path == "agents.folder" && config_.settings.contains(path);
      const Setting setting{to_plain_text(value), origin, by_project, layer};
      if (yields) {
        config_.given[path].push_back(setting);
      } else {
        keep(path, setting);
      }
      return {};
    }
    const Json number = key.type == Type::kDuration ? Json(duration_of(value).count()) : value;
    const Limit limit{number.to_number<double>(), origin, layer};
    if (limit.value <= 0) return fail(ErrorCode::kInput, "\"" + path + "\" must be more than 0");
    const auto is_wider = [&](const std::map<std::string, Limit>& than) {
      const auto found = than.find(path);
      return found != than.end() && limit.value > found->second.value;
    };
    const auto shown = [&](double amount) {
      return to_json_text(key.type == Type::kNumber ? Json(amount) : Json(static_cast<std::int64_t>(amount)));
    };
    config_.given[path].push_back({shown(limit.value), origin, by_project, layer});
    if (trust == Trust::kSystem) bounds_[path] = limit;
    if (trust == Trust::kProject && is_wider(current_)) return {};
    const bool is_bounded = is_wider(bounds_);
    const Limit& kept = current_[path] = is_bounded ? bounds_[path] : limit;
    config_.settings[path] = {shown(kept.value), kept.origin, by_project && !is_bounded, kept.layer};
    return {};
  }

  Config config_;
  std::map<std::string, Limit> bounds_;  ///< limits of the system file
  std::map<std::string, Limit> current_;
};

/// Adds the files of the system, the user, the chosen profile and the project.
Status add_files(Merge& merge, const ConfigSources& sources) {
  for (const Layer& layer : own_layers(sources)) {
    if (auto added = merge.add(layer); !added) return added;
  }
  const auto flag = sources.flags.find("profile");
  std::string profile = flag == sources.flags.end() ? sources.env("PRAXIS_PROFILE") : flag->second;
  if (profile.empty()) profile = merge.config().get("profile");
  if (!profile.empty()) {
    const auto layer = profile_layer(profile, sources);
    if (!layer) return fail(layer.error());
    if (auto added = merge.add(*layer); !added) return added;
  }
  for (const ProjectSettings& project : sources.project) {
    const bool is_local = fs::path(project.file).filename() == "config.local.toml";
    const Layer layer{is_local ? "project.local" : "project", project.file, project.folder, Trust::kProject,
                      project.text};
    if (auto added = merge.add(layer); !added) return added;
  }
  return {};
}

/// Reports variables that look like mistyped settings.
void check_variables(Merge& merge, const std::vector<std::string>& names) {
  std::vector<std::string> known{"PRAXIS_TOKEN", "PRAXIS_JOURNAL_PASSPHRASE"};  // secrets are no settings
  for (const SettingKey& key : app::scalar_keys()) known.push_back(app::variable_of(key));
  for (const std::string& name : names) {
    if (!name.starts_with("PRAXIS_") || std::ranges::find(known, name) != known.end()) continue;
    // Either mistyped, or without the name of the table, as PRAXIS_MAX_USD.
    auto meant = closest(name, known);
    const std::string end = name.substr(std::string_view("PRAXIS").size());
    for (const std::string& each : known) {
      if (!meant && each.ends_with(end)) meant = each;
    }
    if (meant) merge.warn("the variable " + name + " is not a setting; did you mean " + *meant + '?');
  }
}

}  // namespace

std::string Config::get(const std::string& key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second.value;
}

Result<Config> load_config(const ConfigSources& sources) {
  Merge merge;
  if (auto added = add_files(merge, sources); !added) return fail(std::move(added.error()));
  for (const SettingKey& key : app::scalar_keys()) {
    const std::string name = app::variable_of(key);
    const std::string text = sources.env(name);
    if (text.empty()) continue;
    if (auto added = merge.add(key, text, "environment " + name, "environment"); !added)
      return fail(std::move(added.error()));
  }
  check_variables(merge, sources.variables);
  for (const auto& [name, text] : sources.flags) {
    const auto key = std::ranges::find(app::scalar_keys(), name, &SettingKey::path);
    if (key == app::scalar_keys().end())
      return fail(ErrorCode::kInput, "there is no setting \"" + name + '"');
    if (auto added = merge.add(*key, text, "flag", "flag"); !added) return fail(std::move(added.error()));
  }
  return std::move(merge).result();
}

}  // namespace praxis
