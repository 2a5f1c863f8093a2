// Reads `[[policy.filters]]`.
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "policy/filters.hpp"

namespace praxis::filters {
namespace {

constexpr std::size_t kLongestFilterPattern = 1'000, kLongestFilterId = 64;
constexpr std::array kPoints{Point::kToolInput, Point::kToolOutput, Point::kMemory, Point::kModel,
                             Point::kPrompt,    Point::kShown,      Point::kExport};
constexpr std::array kActions{Action::kAllow, Action::kRedact, Action::kAsk, Action::kDeny};
constexpr std::array<std::string_view, 6> kTests{"matches",     "script",     "finds",
                                                 "longer_than", "media_type", "asks"};

std::unexpected<Error> no_filter(const std::string& why) {
  return fail(ErrorCode::kInput, "a filter " + why);
}

Result<std::vector<std::string>> filter_words(const std::string& key, const Json& value) {
  const auto is_word = [](const Json& item) { return item.is_string() && !item.get_string().empty(); };
  if (is_word(value)) return std::vector{std::string(value.get_string())};
  const JsonArray* const list = value.if_array();
  if (list == nullptr || list->empty() || !std::ranges::all_of(*list, is_word))
    return no_filter("needs a text or a list of texts in \"" + key + "\", not " + to_json_text(value));
  std::vector<std::string> words;
  for (const Json& item : *list) words.emplace_back(item.get_string());
  return words;
}

Status check_filter_keys(const JsonObject& table) {
  constexpr std::array<std::string_view, 12> kKeys{"id",     "at",    "tools",       "matches",
                                                   "script", "finds", "longer_than", "media_type",
                                                   "asks",   "model", "action",      "reason"};
  for (const auto& [key, value] : table) {
    if (std::ranges::find(kKeys, std::string_view(key)) == kKeys.end())
      return no_filter(
          "has id, at, tools, matches, script, finds, longer_than, media_type, asks, model, action and "
          "reason, not \"" +
          std::string(key) + '"');
  }
  return {};
}

Status read_filter_id(const Json& json, Filter& filter) {
  filter.id = json_string(json, "id");
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (filter.id.empty() || filter.id.size() > kLongestFilterId || !std::ranges::all_of(filter.id, fits))
    return no_filter("needs an \"id\" of at most 64 letters, digits, \"-\", \"_\" and \".\"");
  const Json& reason = json_at(json, "reason");
  if (!reason.is_null() && !reason.is_string()) return no_filter("needs a text in \"reason\"");
  filter.reason = json_string(json, "reason");
  return {};
}

Result<Point> point_named(const std::string& name) {
  const auto point = std::ranges::find(kPoints, name, [](Point each) { return to_string(each); });
  if (point != kPoints.end()) return *point;
  return no_filter(
      "can stand at tool_input, tool_output, memory, model, prompt, shown and export, not at \"" + name +
      '"');
}

Status read_points(const Json& json, Filter& filter) {
  const auto names = filter_words("at", json_at(json, "at"));
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const auto point = point_named(name);
    if (!point) return fail(point.error());
    filter.at.push_back(*point);
  }
  return {};
}

Status read_filter_action(const Json& json, Filter& filter) {
  const std::string name = json_string(json, "action");
  const auto action = std::ranges::find(kActions, name, [](Action each) { return to_string(each); });
  if (action == kActions.end()) return no_filter("needs an \"action\": redact, ask, deny or allow");
  filter.action = *action;
  return {};
}

/// The letters of a script, with what stands between them on a line.
std::string script_pattern(const std::string& name) {
  const std::string letters = "\\p{" + name + "}+";
  return letters + "(?:[^\\p{L}\\n]+" + letters + ")*";
}

/// Names of general categories, such as `Lu`, are no scripts.
bool is_script_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return (name.size() > 2 || name == "Yi") && name != "Any" && std::ranges::all_of(name, fits);
}

Result<Test> read_pattern(bool is_script, const Json& value) {
  const std::string key = is_script ? "script" : "matches";
  if (!value.is_string() || value.get_string().empty())
    return no_filter("needs a text in \"" + key + "\", not " + to_json_text(value));
  HasMatch test{std::string(value.get_string()), is_script, nullptr};
  if (test.text.size() > kLongestFilterPattern)
    return no_filter("has a pattern of more than 1000 bytes in \"" + key + '"');
  const std::string no_script = "knows no script \"" + test.text +
                                "\"; scripts are named as in Unicode, such as Cyrillic, Arabic or Han";
  if (is_script && !is_script_name(test.text)) return no_filter(no_script);
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled =
      std::make_shared<const re2::RE2>(is_script ? script_pattern(test.text) : test.text, options);
  if (!compiled->ok() && is_script) return no_filter(no_script);
  if (!compiled->ok())
    return no_filter("has a pattern that cannot be used, \"" + test.text + "\": " + compiled->error() +
                     " (patterns are RE2's: no look-around, no back-references)");
  if (re2::RE2::PartialMatch("", *compiled))
    return no_filter("has the pattern \"" + test.text + "\", which matches every text, also the empty one");
  test.compiled = std::move(compiled);
  return test;
}

Result<Test> read_finds(const Json& value) {
  const std::string kind = to_plain_text(value);
  if (kind != "secrets" && kind != "personal")
    return no_filter("needs \"secrets\" or \"personal\" in \"finds\", not " + to_json_text(value));
  const redact::Scope scope{.secrets = kind == "secrets", .personal = kind == "personal"};
  return HasSecret{redact::Redaction(scope, nullptr, "")};
}

Result<Test> read_question(const Json& json) {
  AsksModel test{json_string(json, "asks"), json_string(json, "model")};
  if (test.question.empty() || test.question.size() > kLongestFilterPattern)
    return no_filter("needs a question of at most 1000 bytes in \"asks\", such as \"Does it give orders?\"");
  return test;
}

Result<Test> read_filter_test(const Json& json) {
  const JsonObject& table = json.get_object();
  if (std::ranges::count_if(kTests, [&](std::string_view key) { return table.contains(key); }) != 1)
    return no_filter(
        "needs one of \"matches\", \"script\", \"finds\", \"longer_than\", \"media_type\" and \"asks\"");
  if (const Json* const value = table.if_contains("matches")) return read_pattern(false, *value);
  if (const Json* const value = table.if_contains("script")) return read_pattern(true, *value);
  if (const Json* const value = table.if_contains("finds")) return read_finds(*value);
  if (table.contains("asks")) return read_question(json);
  if (const Json* const value = table.if_contains("longer_than")) {
    if (!value->is_int64() || value->get_int64() < 1)
      return no_filter("needs a number of bytes in \"longer_than\", not " + to_json_text(*value));
    return LongerThan{static_cast<std::size_t>(value->get_int64())};
  }
  std::string type = lower_case(json_string(json, "media_type"));
  if (!type.contains('/')) return no_filter("needs a MIME type in \"media_type\", such as \"image/*\"");
  return HasMedia{std::move(type)};
}

/// What a point cannot do is refused, so that no filter is there in name only.
Status check_filter(const Filter& filter) {
  const bool is_media = std::holds_alternative<HasMedia>(filter.test);
  const bool asks = std::holds_alternative<AsksModel>(filter.test);
  if (asks && filter.action == Action::kAllow)
    return no_filter("that asks a model cannot allow: choose deny, ask or redact");
  for (const Point point : filter.at) {
    const bool is_input = point == Point::kToolInput || point == Point::kMemory;
    const std::string at = "at \"" + std::string(to_string(point)) + "\" ";
    if (asks && point != Point::kToolInput && point != Point::kToolOutput)
      return no_filter(at + "cannot ask a model: only at tool_input and tool_output");
    if (is_input && is_media)
      return no_filter(at + "cannot test a media type: arguments hold no images or files");
    if (!is_input && filter.action == Action::kAsk)
      return no_filter(at + "cannot ask: choose redact or deny");
    if (point == Point::kToolInput && filter.action == Action::kRedact)
      return no_filter(at + "cannot redact, which would make it another call: choose ask or deny");
    const bool is_tools = is_input || point == Point::kToolOutput;
    if (!is_tools && !filter.tools.empty())
      return no_filter(at + "is about the whole conversation and cannot have \"tools\"");
    if ((point == Point::kShown || point == Point::kExport) && is_media)
      return no_filter(at + "cannot test a media type: texts are filtered there");
  }
  return {};
}

}  // namespace

std::string_view to_string(Point point) {
  switch (point) {
    case Point::kToolInput:
      return "tool_input";
    case Point::kToolOutput:
      return "tool_output";
    case Point::kMemory:
      return "memory";
    case Point::kModel:
      return "model";
    case Point::kPrompt:
      return "prompt";
    case Point::kShown:
      return "shown";
    case Point::kExport:
      return "export";
  }
  std::unreachable();
}

std::string_view to_string(Action action) {
  switch (action) {
    case Action::kAllow:
      return "allow";
    case Action::kRedact:
      return "redact";
    case Action::kAsk:
      return "ask";
    case Action::kDeny:
      return "deny";
  }
  std::unreachable();
}

Result<Filter> filter_from_json(const Json& json) {
  if (!json.is_object()) return no_filter("must be a table");
  Filter filter;
  auto read = check_filter_keys(json.get_object());
  if (read) read = read_filter_id(json, filter);
  if (read) read = read_points(json, filter);
  if (read) read = read_filter_action(json, filter);
  if (!read) return fail(std::move(read.error()));
  if (const Json& tools = json_at(json, "tools"); !tools.is_null()) {
    auto names = filter_words("tools", tools);
    if (!names) return fail(std::move(names.error()));
    filter.tools = *std::move(names);
  }
  auto test = read_filter_test(json);
  if (!test) return fail(std::move(test.error()));
  filter.test = *std::move(test);
  if (json.get_object().contains("model") && !std::holds_alternative<AsksModel>(filter.test))
    return no_filter("has \"model\" only together with \"asks\"");
  if (auto checked = check_filter(filter); !checked) return fail(std::move(checked.error()));
  return filter;
}

Result<std::vector<Filter>> filters_from_json(const Json& json) {
  std::vector<Filter> read;
  if (json.is_null()) return read;
  if (!json.is_array()) return fail(ErrorCode::kInput, "filters must be a list of tables");
  const auto wrong = [&](Error error) {
    return fail(error.set("index", static_cast<std::int64_t>(read.size())));
  };
  for (const Json& item : json.get_array()) {
    auto filter = filter_from_json(item);
    if (!filter) return wrong(std::move(filter.error()));
    if (std::ranges::count(read, filter->id, &Filter::id) != 0)
      return wrong(no_filter("with the id \"" + filter->id + "\" is there already").error());
    if (read.size() == kMostFilters) return wrong(no_filter("is one too many: a file can have 100").error());
    read.push_back(*std::move(filter));
  }
  return read;
}

}  // namespace praxis::filters
