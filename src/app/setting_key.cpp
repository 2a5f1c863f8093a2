#include "app/setting_key.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "app/plain_text.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/describe.hpp"

namespace praxis {
namespace {

using Type = SettingKey::Type;

constexpr double kMostCount = 4'294'967'295;
constexpr double kMostTurnTokens = 1e15;
constexpr double kMostUsd = 1e6;
constexpr Millis kMostTime = std::chrono::hours{365 * 24};
constexpr std::size_t kMaxShown = 60;

constexpr std::array kLimitKeys{
    SettingKey{
        "limits.max_steps", Type::kWhole, "Passes of the loop in one turn; 0: no bound", {}, 0, kMostCount},
    SettingKey{
        "limits.max_tool_calls", Type::kWhole, "Tool calls in one turn; 0: no bound", {}, 0, kMostCount},
    SettingKey{"limits.timeout", Type::kDuration,
               "Active time of one turn, such as \"5m\", or milliseconds; 0: no bound"},
    SettingKey{
        "limits.max_wait", Type::kDuration,
        "How long a step waits for an approval, such as \"2h\", before it counts as denied; 0: as long as it "
        "takes"},
    SettingKey{"limits.max_tokens",
               Type::kWhole,
               "Input and output tokens of one turn; 0: no bound",
               {},
               0,
               kMostTurnTokens},
    SettingKey{
        "limits.max_usd", Type::kNumber, "Cost of one turn in US dollars; 0: no bound", {}, 0, kMostUsd},
    SettingKey{"limits.max_context",
               Type::kWhole,
               "Estimated tokens of one request; 0: no bound",
               {},
               0,
               kMostTurnTokens},
    SettingKey{"limits.max_parallel_tools", Type::kWhole, "Tool calls running at once", {}, 1, 1024},
    SettingKey{"limits.max_model_attempts", Type::kWhole, "Attempts at one model call", {}, 1, 100},
    SettingKey{"limits.max_repeats",
               Type::kWhole,
               "Identical calls or errors in a row; 0: no bound",
               {},
               0,
               kMostCount},
    SettingKey{
        "limits.max_messages", Type::kWhole, "Messages sent to the model; 0: no bound", {}, 0, kMostCount},
    SettingKey{"limits.max_model_retries",
               Type::kWhole,
               "Retries of all model calls of one turn together; 0: no bound",
               {},
               0,
               kMostCount},
    SettingKey{"limits.compact_at",
               Type::kWhole,
               "Percent of the model's context window (or of max_context) at which older messages are "
               "summarised; 0: never",
               {},
               0,
               100},
};

constexpr std::array kFlowKeys{
    SettingKey{"policy.flow.mode", Type::kText,
               "What happens to a call with effects whose arguments may come from untrusted data",
               "off|ask|deny"},
    SettingKey{"policy.flow.sources", Type::kTexts,
               "Tools whose results are untrusted; `*` at the end stands for any ending"},
    SettingKey{"policy.flow.trusted", Type::kTexts,
               "Tools whose results are as good as the words of a person"},
    SettingKey{"policy.flow.reads", Type::kTexts, "Tools that only read: they have no effects"},
    SettingKey{"policy.flow.sinks", Type::kAnyTable,
               "Tools that have effects, each with the arguments that say where the effect goes"},
    SettingKey{"policy.flow.values", Type::kTexts, "Texts that arguments may have, such as addresses"},
};

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string bounds(const SettingKey& key) {
  return " from " + to_json_text(key.least) + " to " + to_json_text(key.most);
}

bool is_text(const Json& value) { return value.is_string() && !value.get_string().empty(); }

bool is_choice(std::string_view choices, std::string_view text) {
  const auto known = split(choices, '|');
  return std::ranges::find(known, text) != known.end();
}

bool is_duration(const Json& value) {
  const auto duration = from_json_as<Millis>(value);
  return duration && *duration <= kMostTime;
}

bool fits(const SettingKey& key, const Json& value) {
  const auto in_bounds = [&] {
    const double number = value.is_int64() ? static_cast<double>(value.get_int64()) : value.get_double();
    return number >= key.least && number <= key.most;
  };
  const auto all = [&](bool (*wanted)(const Json&)) {
    return value.is_array() && std::ranges::all_of(value.get_array(), wanted);
  };
  switch (key.type) {
    case Type::kText:
      return is_text(value) && (key.choices.empty() || is_choice(key.choices, value.get_string()));
    case Type::kTexts:
      return all(is_text);
    case Type::kWhole:
      return value.is_int64() && in_bounds();
    case Type::kNumber:
      return (value.is_int64() || value.is_double()) && in_bounds();
    case Type::kDuration:
      return is_duration(value);
    case Type::kFlag:
      return value.is_bool();
    case Type::kTables:
      return all([](const Json& item) { return item.is_object(); });
    default:
      return value.is_object();
  }
}

/// The keys allowed in the table at `path` (empty: the file).
std::vector<std::string> members_of(std::span<const SettingKey> keys, const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + '.';
  std::vector<std::string> members;
  for (const SettingKey& key : keys) {
    if (!key.path.starts_with(prefix)) continue;
    std::string member(key.path.substr(prefix.size()));
    member.resize(std::min(member.find('.'), member.size()));
    if (!member.empty() && std::ranges::find(members, member) == members.end()) members.push_back(member);
  }
  return members;
}

std::string joined_path(const std::string& table, std::string_view member) {
  return table.empty() ? std::string(member) : table + '.' + std::string(member);
}

/// Checks the tables of a document.
class KeyCheck {
 public:
  KeyCheck(const TomlDocument& document, std::span<const SettingKey> keys, FileOwner owner)
      : document_(document), keys_(keys), owner_(owner) {}

  /// `listed`: the path of `table` in the list of keys, where `*` can stand for a name.
  Status check_table(const std::string& table, const std::string& listed, const Json& json) const {
    const std::vector<std::string> known = members_of(keys_, listed);
    const bool any_name = known == std::vector<std::string>{"*"};
    for (const auto& [member, value] : json.get_object()) {
      if (!any_name && std::ranges::find(known, std::string_view(member)) == known.end()) {
        return unknown_key(table, member, known);
      }
      const auto checked = check_value(joined_path(table, member),
                                       joined_path(listed, any_name ? "*" : std::string_view(member)), value);
      if (!checked) return checked;
    }
    return {};
  }

 private:
  Status check_value(const std::string& path, const std::string& listed, const Json& value) const {
    const auto found = std::ranges::find(keys_, listed, &SettingKey::path);
    const SettingKey key = found == keys_.end() ? SettingKey{listed, Type::kTable, {}} : *found;
    if (owner_ == FileOwner::kProject && !key.own.empty()) {
      return document_.mistake(path, "a project must not " + std::string(key.own) + "; set " +
                                         in_quotes(path) + " in your own configuration");
    }
    if (const std::string wrong = why_unfit(key, value); !wrong.empty()) {
      return document_.mistake(path, in_quotes(path) + ' ' + wrong);
    }
    return key.type == Type::kTable ? check_table(path, listed, value) : Status{};
  }

  std::unexpected<Error> unknown_key(const std::string& table, std::string_view member,
                                     const std::vector<std::string>& known) const {
    const std::string path = joined_path(table, member);
    const auto meant = closest(member, known);
    std::string help = table.empty() ? "there can be " : '[' + table + "] can have ";
    help = known.empty() ? '[' + table + "] has no keys" : help + app::joined(known, " and ");
    if (meant) help = "did you mean " + in_quotes(*meant) + '?';
    return document_.mistake(path, "unknown key " + in_quotes(path) + "; " + help);
  }

  const TomlDocument& document_;
  const std::span<const SettingKey> keys_;
  const FileOwner owner_;
};

JsonObject schema_of_value(const SettingKey& key) {
  const auto number = [&](std::string_view type) {
    return JsonObject{{"type", type}, {"minimum", key.least}, {"maximum", key.most}};
  };
  const JsonObject text{{"type", "string"}, {"minLength", 1}};
  switch (key.type) {
    case Type::kText: {
      const auto choices = split(key.choices, '|');
      return choices.empty() ? text : JsonObject{{"enum", JsonArray(choices.begin(), choices.end())}};
    }
    case Type::kTexts:
      return {{"type", "array"}, {"items", text}};
    case Type::kWhole:
      return number("integer");
    case Type::kNumber:
      return number("number");
    case Type::kDuration: {
      JsonObject schema = schema_of<Millis>().get_object();
      schema["maximum"] = kMostTime.count();
      return schema;
    }
    case Type::kFlag:
      return {{"type", "boolean"}};
    case Type::kTables:
      return {{"type", "array"}, {"items", {{"type", "object"}}}};
    default:
      return {{"type", "object"}};
  }
}

JsonObject schema_of_table(std::span<const SettingKey> keys, const std::string& table) {
  JsonObject properties;
  Json others = false;
  for (const std::string& member : members_of(keys, table)) {
    const std::string path = table.empty() ? member : table + '.' + member;
    const auto key = std::ranges::find(keys, path, &SettingKey::path);
    const bool is_table = key == keys.end() || key->type == Type::kTable;
    JsonObject schema = is_table ? schema_of_table(keys, path) : schema_of_value(*key);
    if (key != keys.end()) schema["description"] = key->description;
    (member == "*" ? others : properties[member]) = std::move(schema);
  }
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", std::move(others)}};
}

}  // namespace

std::span<const SettingKey> limit_keys() { return kLimitKeys; }
std::span<const SettingKey> flow_keys() { return kFlowKeys; }

Limits limits_from_table(const Json& table) {
  Limits limits;
  // The caller has checked each key, so this does not fail.
  return read_limits(table, limits) ? limits : Limits{};
}

std::string what_fits(const SettingKey& key) {
  switch (key.type) {
    case Type::kText: {
      std::vector<std::string> choices = split(key.choices, '|');
      if (choices.empty()) return "a non-empty string";
      std::ranges::transform(choices, choices.begin(), in_quotes);
      return (choices.size() == 1 ? "" : "one of ") + app::joined(choices);
    }
    case Type::kTexts:
      return "an array of non-empty strings";
    case Type::kWhole:
      return "an integer" + bounds(key);
    case Type::kNumber:
      return "a number" + bounds(key);
    case Type::kDuration:
      return std::string(kMustBeDuration.substr(kMustBeDuration.find("a duration")));
    case Type::kFlag:
      return "true or false";
    case Type::kTables:
      return "an array of tables";
    default:
      return "a table";
  }
}

std::string why_unfit(const SettingKey& key, const Json& value) {
  if (fits(key, value)) return {};
  std::string shown = to_json_text(value);
  if (shown.size() > kMaxShown) shown = repair_utf8(shown.substr(0, kMaxShown)) + "...";
  return "must be " + what_fits(key) + ", not " + shown;
}

Status check_keys(const TomlDocument& document, std::span<const SettingKey> keys, FileOwner owner) {
  return KeyCheck(document, keys, owner).check_table("", "", document.json());
}

Json schema_of_keys(std::span<const SettingKey> keys, std::string_view id, std::string_view title) {
  JsonObject schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", id}, {"title", title}};
  for (auto& [key, value] : schema_of_table(keys, "")) schema[key] = value;
  return schema;
}

Millis duration_of(const Json& value) { return from_json_as<Millis>(value).value_or(Millis{0}); }

std::vector<std::string> texts_of(const Json& value) {
  std::vector<std::string> texts;
  if (!value.is_array()) return texts;
  for (const Json& item : value.get_array()) texts.emplace_back(item.get_string());
  return texts;
}

std::vector<std::string> paths_of(const Json& value, const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const std::string& path : texts_of(value)) paths.push_back((folder / path).lexically_normal());
  return paths;
}

}  // namespace praxis
