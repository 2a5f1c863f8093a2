#include "praxis/app/config.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/model_files.hpp"
#include "app/owned_file.hpp"
#include "app/setting_key.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using Type = SettingKey::Type;

// Settings that a project must not change, because it may come from an untrusted source.
constexpr std::string_view kRedirect = "say where requests go, how, or with which key";
constexpr std::string_view kReprice = "say what a model costs";

// 0 would mean "no limit", which a configuration layer must not grant.
constexpr std::array kKeys{
    SettingKey{"model", Type::kText, "Model of agents without a model, as PROVIDER:NAME"},
    SettingKey{.path = "journal",
               .type = Type::kText,
               .description = "Journal file, or memory",
               .own = "say where runs are kept"},
    SettingKey{"suspend", Type::kFlag, "Whether a session leaves memory whenever it waits"},
    SettingKey{"agents.folder", Type::kText, "Where agents are looked up by name"},
    SettingKey{"limits.max_steps", Type::kWhole, "Passes of the loop in one turn", {}, 1, 4'294'967'295},
    SettingKey{"limits.max_usd", Type::kNumber, "Cost of one turn in US dollars", {}, 0.000'001, 1e6},
    SettingKey{"limits.timeout", Type::kDuration, "Active time of one turn"},
    SettingKey{"limits.max_wait", Type::kDuration, "How long a step waits for an approval"},
};

constexpr double kMostTokens = 1e12;

constexpr SettingKey own_key(std::string_view path, Type type, std::string_view description,
                             std::string_view own, std::string_view choices = {}) {
  return {.path = path, .type = type, .description = description, .choices = choices, .own = own};
}

/// Settings for the catalogue: facts about providers and models.
constexpr std::array kCatalogKeys{
    own_key("providers.*.name", Type::kText, "Name shown to users", kRedirect),
    own_key("providers.*.api", Type::kText, "Protocol", kRedirect, "chat|responses|messages|gemini|ollama"),
    own_key("providers.*.base_url", Type::kText, "Where it is", kRedirect),
    own_key("providers.*.base_url_env", Type::kText, "Variable with another base URL", kRedirect),
    own_key("providers.*.key_env", Type::kText, "Variable with its key", kRedirect),
    own_key("providers.*.key_file", Type::kText, "File with its key", kRedirect),
    own_key("providers.*.needs_key", Type::kFlag, "Whether it can do without a key", kRedirect),
    own_key("providers.*.auth", Type::kText, "Header that carries the key", kRedirect),
    own_key("providers.*.headers", Type::kAnyTable, "Sent with every request", kRedirect),
    own_key("providers.*.dialect", Type::kAnyTable, "How it differs from others of its protocol", kRedirect),
    own_key("providers.*.catalog", Type::kText, "Provider whose models it serves", kReprice),
    SettingKey{"providers.*.models", Type::kTexts, "Models to list"},
    SettingKey{"models.*.name", Type::kText, "Name shown to users"},
    SettingKey{"models.*.context_window", Type::kWhole, "Tokens", {}, 0, kMostTokens},
    SettingKey{"models.*.max_output", Type::kWhole, "Tokens", {}, 0, kMostTokens},
    own_key("models.*.prices", Type::kTables, "US dollars for a million tokens", kReprice),
    SettingKey{"models.*.tools", Type::kFlag, "Calls tools"},
    SettingKey{"models.*.images", Type::kFlag, "Accepts images"},
    SettingKey{"models.*.files", Type::kFlag, "Accepts PDF files"},
    SettingKey{"models.*.reasoning", Type::kFlag, "Thinks before it answers"},
    SettingKey{"models.*.temperature", Type::kFlag, "Accepts the parameter"},
    SettingKey{"models.*.structured_output", Type::kFlag, "Can be held to a schema"},
    SettingKey{"models.*.reasoning_levels", Type::kAnyTable, "Our levels and the provider's"},
    own_key("models.*.dialect", Type::kAnyTable, "How it differs from the provider's others", kRedirect),
};

std::span<const SettingKey> file_keys() {
  static const std::vector<SettingKey> keys = [] {
    std::vector<SettingKey> all(kKeys.begin(), kKeys.end());
    all.insert(all.end(), kCatalogKeys.begin(), kCatalogKeys.end());
    return all;
  }();
  return keys;
}

bool is_limit(const SettingKey& key) { return key.path.starts_with("limits."); }
bool is_path(const SettingKey& key) { return key.path == "journal" || key.path == "agents.folder"; }

enum class Trust : std::uint8_t { kSystem, kUser, kProject };

struct Layer {
  fs::path file;
  fs::path folder;  ///< base of relative paths in the file
  Trust trust;
  std::string text;  ///< of a project's file
};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<Layer> find_layers(const ConfigSources& sources) {
  const fs::path home = sources.env("HOME");
  fs::path own = sources.env("XDG_CONFIG_HOME");
  if (!own.is_absolute()) own = home.empty() ? fs::path() : home / ".config";
  own /= "praxis";
  const fs::path system = sources.system_file;
  std::vector<Layer> layers{{system, system.parent_path(), Trust::kSystem, {}},
                            {own / "config.toml", own, Trust::kUser, {}}};
  std::erase_if(layers,
                [](const Layer& layer) { return !layer.file.is_absolute() || !is_there(layer.file); });
  for (const ProjectSettings& project : sources.project)
    layers.push_back({project.file, project.folder, Trust::kProject, project.text});
  return layers;
}

Result<TomlDocument> read_layer(const Layer& layer) {
  if (layer.trust == Trust::kProject) return TomlDocument::parse(layer.text, layer.file.string());
  const auto text = app::read_owned_file(layer.file.string(), kMaxTomlBytes);
  if (!text) return fail(text.error());
  return TomlDocument::parse(*text, layer.file.string());
}

/// `PRAXIS_LIMITS_MAX_STEPS` for `limits.max_steps`.
std::string variable_of(const SettingKey& key) {
  std::string name = "PRAXIS_";
  for (const char c : key.path)
    name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

class Merge {
 public:
  Status add(const Layer& layer) {
    const auto document = read_layer(layer);
    if (!document) return fail(document.error());
    const FileOwner owner = layer.trust == Trust::kProject ? FileOwner::kProject : FileOwner::kUser;
    if (auto checked = check_keys(*document, file_keys(), owner); !checked) return checked;
    config_.files.push_back(layer.file.string());
    if (owner == FileOwner::kProject && !app::model_files(json_text(document->json(), "model")).empty()) {
      return document->mistake("model",
                               "a project must not name a script or cassette as the model of your agents; "
                               "its own agents may name it in their files");
    }
    for (const SettingKey& key : kKeys) {
      Json value = document->at(key.path);
      if (value.is_null()) continue;
      const std::string path(key.path);
      if (is_path(key) && value != "memory") {
        value = (layer.folder / std::string(value.get_string())).lexically_normal().string();
      }
      if (auto set = this->set(key, value, layer.file.string(), layer.trust); !set) {
        return document->mistake(path, set.error().message);
      }
    }
    return add_corrections(*document, layer);
  }

  /// Adds a value that does not come from a file.
  Status add(const SettingKey& key, const std::string& text, const std::string& origin) {
    Json value(text);
    if (key.type != Type::kText) value = parse_json(text).value_or(value);
    if (const std::string wrong = why_unfit(key, value); !wrong.empty()) {
      return fail(ErrorCode::kInput, origin + ": \"" + std::string(key.path) + "\" " + wrong);
    }
    if (auto set = this->set(key, value, origin, Trust::kUser); !set) {
      return fail(ErrorCode::kInput, origin + ": " + set.error().message);
    }
    return {};
  }

  Config result() && { return std::move(config_); }

 private:
  struct Limit {
    double value = 0;
    std::string origin;
  };

  /// Applies the layer's facts about providers and models field by field, overriding lower layers.
  Status add_corrections(const TomlDocument& document, const Layer& layer) {
    JsonObject all = config_.corrections.is_object() ? config_.corrections.get_object() : JsonObject{};
    for (const char* kind : {"providers", "models"}) {
      const JsonObject* entries = document.at(kind).if_object();
      if (!entries) continue;
      JsonObject& merged = all[kind].is_object() ? all[kind].get_object() : all[kind].emplace_object();
      for (const auto& [name, fields] : *entries) {
        Json& entry = merged[name];
        if (!entry.is_object()) entry = JsonObject{};
        for (const auto& [field, given] : fields.get_object()) {
          Json value = given;
          if (field == "key_file")
            value = (layer.folder / std::string(given.get_string())).lexically_normal().string();
          note(std::string(kind) + '.' + std::string(name) + '.' + std::string(field), value, layer);
          entry.get_object()[field] = std::move(value);
        }
      }
    }
    if (all.empty()) return {};
    config_.corrections = std::move(all);
    const auto catalog = catalog_with(config_.corrections);
    if (!catalog) return fail(ErrorCode::kInput, layer.file.string() + ": " + catalog.error().message);
    return {};
  }

  /// Records the origin of a value for display. Headers may be secret.
  void note(const std::string& path, const Json& value, const Layer& layer) {
    std::string shown = to_plain_text(value);
    if (path.ends_with(".headers")) shown = "(not shown)";
    config_.settings[path] = {std::move(shown), layer.file.string(), layer.trust == Trust::kProject};
  }

  Status set(const SettingKey& key, const Json& value, const std::string& origin, Trust trust) {
    const std::string path(key.path);
    const bool by_project = trust == Trust::kProject;
    if (!is_limit(key)) {
      // The user's own agents come first; the project's folder holds further ones.
      const bool yields = by_project && path == "agents.folder" && config_.settings.contains(path);
      if (!yields) config_.settings[path] = {to_plain_text(value), origin, by_project};
      return {};
    }
    const Json number = key.type == Type::kDuration ? Json(duration_of(value).count()) : value;
    const Limit limit{number.to_number<double>(), origin};
    if (limit.value <= 0) return fail(ErrorCode::kInput, "\"" + path + "\" must be more than 0");
    const auto is_wider = [&](const std::map<std::string, Limit>& than) {
      const auto found = than.find(path);
      return found != than.end() && limit.value > found->second.value;
    };
    if (trust == Trust::kSystem) bounds_[path] = limit;
    if (trust == Trust::kProject && is_wider(current_)) return {};
    const bool is_bounded = is_wider(bounds_);
    const Limit& kept = current_[path] = is_bounded ? bounds_[path] : limit;
    const Json shown =
        key.type == Type::kNumber ? Json(kept.value) : Json(static_cast<std::int64_t>(kept.value));
    config_.settings[path] = {to_json_text(shown), kept.origin, by_project && !is_bounded};
    return {};
  }

  Config config_;
  std::map<std::string, Limit> bounds_;  ///< limits of the system file
  std::map<std::string, Limit> current_;
};

}  // namespace

std::string Config::get(const std::string& key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second.value;
}

Result<Config> load_config(const ConfigSources& sources) {
  Merge merge;
  for (const Layer& layer : find_layers(sources)) {
    if (auto added = merge.add(layer); !added) return fail(std::move(added.error()));
  }
  for (const SettingKey& key : kKeys) {
    const std::string name = variable_of(key);
    const std::string text = sources.env(name);
    if (text.empty()) continue;
    if (auto added = merge.add(key, text, "environment " + name); !added)
      return fail(std::move(added.error()));
  }
  for (const auto& [name, text] : sources.flags) {
    const auto key = std::ranges::find(kKeys, name, &SettingKey::path);
    if (key == kKeys.end()) return fail(ErrorCode::kInput, "there is no setting \"" + name + '"');
    if (auto added = merge.add(*key, text, "flag"); !added) return fail(std::move(added.error()));
  }
  return std::move(merge).result();
}

}  // namespace praxis
