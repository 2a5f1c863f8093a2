// `config`: shows each setting with the layer that gives it, explains one, changes one, opens the editor.
#include <fmt/format.h>

#include <filesystem>

#include "app/config_edit.hpp"
#include "app/config_keys.hpp"
#include "app/config_text.hpp"
#include "app/hints.hpp"
#include "app/owned_file.hpp"
#include "app/plain_text.hpp"
#include "cli/commands.hpp"
#include "cli/editor.hpp"
#include "cli/place.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;
using Verb = ConfigOptions::Verb;

/// A setting that no layer gives.
const Setting kUnset{"", "", false, "built-in"};

/// It, with the built-in value of `key`.
Setting unset(std::string_view key) {
  Setting setting = kUnset;
  setting.value = app::built_in_value(key);
  return setting;
}

JsonObject setting_json(std::string_view key, const Setting& setting) {
  const bool is_unset = setting.layer == kUnset.layer;
  return {{"key", key},
          {"value", setting.value.empty() ? Json(nullptr) : Json(app::shown_value(key, setting))},
          {"layer", setting.layer},
          {"origin", is_unset ? Json(nullptr) : Json(setting.origin)}};
}

std::string setting_line(std::string_view key, const Setting& setting) {
  const bool is_unset = setting.layer == kUnset.layer;
  const std::string value =
      is_unset && setting.value.empty() ? "-" : app::one_line(app::shown_value(key, setting), 200);
  if (is_unset) return fmt::format("{:24} {:30} {}", key, value, setting.layer);
  return visible_text(fmt::format("{:24} {:30} {:13} {}", key, value, setting.layer, setting.origin));
}

Result<ExitStatus> show_settings(const Config& config, bool json, Console& console) {
  std::map<std::string, Setting> settings = config.settings;
  for (const SettingKey& key : app::scalar_keys()) settings.emplace(key.path, unset(key.path));
  if (!json && console.terminal.out)
    console.out.line(fmt::format("{:24} {:30} {:13} {}", "KEY", "VALUE", "LAYER", "WHERE"));
  for (const auto& [key, setting] : settings) {
    if (json) {
      console.item("setting", setting_json(key, setting));
    } else {
      console.out.line(setting_line(key, setting));
    }
  }
  return ExitStatus::kFinished;
}

/// Which settings a project may give.
std::string what_projects_may(const SettingKey& key) {
  if (!key.own.empty()) return fmt::format("cannot set it: a project must not {}", key.own);
  return key.path.starts_with("limits.") ? "can only tighten it" : "can set it";
}

Result<ExitStatus> explain(const ConfigOptions& options, const Config& config, Console& console) {
  if (!options.key)
    return fail(app::usage_error("explain what? Name a setting", "praxis config show lists them"));
  const auto key = app::find_key(*options.key);
  if (!key) return fail(key.error());
  const auto found = config.settings.find(*options.key);
  const Setting setting = found == config.settings.end() ? unset(*options.key) : found->second;
  const auto given = config.given.find(*options.key);
  JsonArray layers;
  for (const Setting& each : given == config.given.end() ? std::vector<Setting>{} : given->second)
    layers.push_back(setting_json(*options.key, each));
  const bool is_scalar = key->path.find('*') == std::string_view::npos;
  JsonObject fields = setting_json(*options.key, setting);
  fields["description"] = key->description;
  fields["takes"] = what_fits(*key);
  fields["variable"] = is_scalar ? Json(app::variable_of(*key)) : Json(nullptr);
  fields["layers"] = layers;
  console.result(std::move(fields));
  if (options.json) return ExitStatus::kFinished;
  const auto line = [&](std::string_view name, std::string_view text) {
    console.out.line(visible_text(fmt::format("  {:9} {}", name, text)));
  };
  console.out.line(visible_text(fmt::format("{}: {}", *options.key, key->description)));
  line("takes", what_fits(*key));
  line("value", setting.value.empty() ? "not set" : app::shown_value(*options.key, setting));
  for (const Json& each : layers) {
    line("layer", fmt::format("{}: {} ({})", json_string(each, "layer"), json_string(each, "value"),
                              json_string(each, "origin")));
  }
  if (is_scalar) line("variable", app::variable_of(*key));
  line("a project", what_projects_may(*key));
  return ExitStatus::kFinished;
}

/// The file that `set` and `edit` change: the user's, or that of a profile.
Result<std::string> file_to_change(const ConfigOptions& options) {
  const fs::path own = app::own_folder("XDG_CONFIG_HOME", ".config");
  if (own.empty())
    return fail(app::usage_error("there is no place for it: neither HOME nor XDG_CONFIG_HOME is set"));
  const std::string& profile = options.place.profile;
  if (profile.empty()) return (own / "config.toml").string();
  if (profile.find('/') != std::string::npos || profile.starts_with('.'))
    return fail(app::usage_error(app::in_quotes(profile) + " is not the name of a profile"));
  return (own / "profiles" / (profile + ".toml")).string();
}

/// The text of a file of the user's; empty if it does not exist yet.
Result<std::string> text_of(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::string();
  return app::read_owned_file(file, kMaxTomlBytes);
}

/// Error at the first key or value that is not valid.
Status check_text(const std::string& text, const std::string& file) {
  const auto document = TomlDocument::parse(text, file);
  return document ? check_keys(*document, app::config_keys()) : Status(fail(document.error()));
}

Result<ExitStatus> set_value(const ConfigOptions& options, Console& console) {
  if (!options.key || !options.value)
    return fail(app::usage_error("set what? Give a setting and its value",
                                 "praxis config set model openai:gpt-5-mini"));
  const auto key = app::find_key(*options.key);
  if (!key) return fail(key.error());
  const auto value = app::value_for(*key, *options.value);
  if (!value) return fail(value.error());
  const auto file = file_to_change(options);
  if (!file) return fail(file.error());
  const auto text = text_of(*file);
  if (!text) return fail(text.error());
  const auto changed = app::with_setting(*text, *file, *options.key, *value);
  if (!changed) return fail(changed.error());
  if (auto checked = check_text(*changed, *file); !checked) return fail(checked.error());
  if (auto written = app::replace_file(*file, *changed); !written) return fail(written.error());
  const Json shown = value->is_string() ? Json(app::without_keys(std::string(value->get_string()))) : *value;
  console.result({{"key", *options.key}, {"value", shown}, {"file", *file}});
  console.err.line(visible_text(fmt::format("{} = {} in {}", *options.key, to_json_text(shown), *file)));
  return ExitStatus::kFinished;
}

Result<ExitStatus> edit_file(const ConfigOptions& options, Console& console) {
  const auto file = file_to_change(options);
  if (!file) return fail(file.error());
  const auto text = text_of(*file);
  if (!text) return fail(text.error());
  const auto changed = edit_text(*text, ".toml");
  if (!changed) return fail(changed.error());
  const std::string draft = *file + ".edited.toml";
  if (auto checked = check_text(*changed, draft); !checked) {
    if (auto kept = app::replace_file(draft, *changed); !kept) return fail(kept.error());
    return fail(app::with_hint(checked.error(), "the file is as before; your text is in " + draft));
  }
  if (auto written = app::replace_file(*file, *changed); !written) return fail(written.error());
  console.result({{"file", *file}});
  console.err.line(visible_text(*changed == *text ? *file + " is unchanged" : "saved " + *file));
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const ConfigOptions& options, Console& console) {
  const bool takes_key = options.verb == Verb::kExplain || options.verb == Verb::kSet;
  if (options.key && !takes_key)
    return fail(app::usage_error(fmt::format("unexpected argument \"{}\"", *options.key),
                                 "praxis config explain KEY is about one setting"));
  // A file that is not valid must not keep its owner from editing it.
  if (options.verb == Verb::kSet) return set_value(options, console);
  if (options.verb == Verb::kEdit) return edit_file(options, console);
  const auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  if (options.verb == Verb::kExplain) return explain(options, workspace->config, console);
  return show_settings(workspace->config, options.json, console);
}

}  // namespace praxis::cli
