#include "app/call_arguments.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "app/host_letters.hpp"
#include "app/plain_text.hpp"
#include "json/repeated_key.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kDigestBytes = 4;
constexpr std::size_t kLongestName = 40;

/// What decides about calls of the built-in tools.
const std::map<std::string_view, std::vector<std::string_view>>& deciding_by_tool() {
  static const std::map<std::string_view, std::vector<std::string_view>> kNames{
      {"shell", {"argv", "command"}}, {"python", {"code"}},    {"http", {"method", "url"}},
      {"file_read", {"path"}},        {"file_list", {"path"}}, {"file_search", {"path", "pattern"}},
      {"file_write", {"path"}},       {"edit", {"path"}},      {"kv", {"op", "key"}}};
  return kNames;
}

/// Names of arguments that decide in most tools. Each gets at least one row of an overview.
constexpr std::array<std::string_view, 15> kDeciding{"argv", "command", "program", "method", "url",
                                                     "host", "path",    "file",    "source", "destination",
                                                     "to",   "amount",  "op",      "key",    "code"};

/// The position of `key` among those that decide; the number of these for any other key.
std::size_t rank_of(std::string_view tool, std::string_view key) {
  const auto known = deciding_by_tool().find(tool);
  if (known != deciding_by_tool().end())
    return static_cast<std::size_t>(std::ranges::find(known->second, key) - known->second.begin());
  return static_cast<std::size_t>(std::ranges::find(kDeciding, key) - kDeciding.begin());
}

std::size_t ranks_of(std::string_view tool) {
  const auto known = deciding_by_tool().find(tool);
  return known == deciding_by_tool().end() ? kDeciding.size() : known->second.size();
}

bool is_name(std::string_view key) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const bool starts = !key.empty() && fits(key[0]) && key[0] != '-' && !(key[0] >= '0' && key[0] <= '9');
  return starts && key.size() <= kLongestName && std::ranges::all_of(key, fits);
}

std::string name_of(std::string_view key) {
  return is_name(key) ? std::string(key) : exact(to_json_text(Json(key)));
}

bool is_text_of_lines(const Json& value) {
  return value.is_string() && std::string_view(value.get_string()).contains('\n');
}

bool holds_text_of_lines(const Json& value) {
  if (const auto* list = value.if_array()) return std::ranges::any_of(*list, holds_text_of_lines);
  if (const auto* object = value.if_object())
    return std::ranges::any_of(*object, [](const auto& entry) { return holds_text_of_lines(entry.value()); });
  return is_text_of_lines(value);
}

/// Backslashes are doubled, so that the escapes of `exact` cannot be imitated.
std::string exact_line(std::string_view line) {
  std::string doubled;
  for (const char c : line) doubled.append(c == '\\' ? 2 : 1, c);
  return exact(doubled);
}

void add_text(const std::string& name, std::string_view text, std::vector<ShownLine>& lines) {
  const auto count = std::ranges::count(text, '\n') + 1;
  lines.push_back({false, name + ": text of " + std::to_string(count) + " lines, " +
                              std::to_string(text.size()) + " bytes"});
  for (;;) {
    const std::size_t end = text.find('\n');
    lines.push_back({true, exact_line(text.substr(0, end))});
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Lists and objects that hold a text of several lines are split into their members.
void add_value(const std::string& name, const Json& value, std::vector<ShownLine>& lines) {
  if (is_text_of_lines(value)) return add_text(name, value.get_string(), lines);
  if (!holds_text_of_lines(value)) return lines.push_back({false, name + ": " + exact(to_json_text(value))});
  if (const auto* object = value.if_object()) {
    for (const auto& [key, member] : *object) add_value(name + '.' + name_of(key), member, lines);
    return;
  }
  std::size_t index = 0;
  for (const Json& member : value.get_array())
    add_value(name + '[' + std::to_string(index++) + ']', member, lines);
}

ShownArgument argument(const std::string& name, const Json& value) {
  const std::string bytes = to_plain_text(value);
  ShownArgument shown{false, bytes.size(), digest_of(bytes).hex(kDigestBytes), {}};
  add_value(name, value, shown.lines);
  for (std::string& host : hosts_in_letters(bytes)) shown.lines.push_back({false, std::move(host), true});
  return shown;
}

/// Arguments that cannot be read as an object with one value for each key.
ShownArgument unreadable(std::string_view arguments, const std::string& why) {
  ShownArgument shown{true, arguments.size(), digest_of(arguments).hex(kDigestBytes), {}};
  shown.lines.push_back({false, "! the tool will refuse these arguments: " + exact(why)});
  add_text("! they are", arguments, shown.lines);
  return shown;
}

}  // namespace

std::vector<ShownArgument> shown_arguments(std::string_view tool, std::string_view arguments) {
  if (arguments.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  const auto json = parse_json(arguments);
  if (!json) return {unreadable(arguments, json.error().message)};
  if (const auto key = repeated_key(arguments, *json))
    return {unreadable(arguments, repeated_key_problem(*key))};
  if (json->is_null()) return {};
  if (!json->is_object()) return {unreadable(arguments, "they are not a JSON object")};
  std::vector<std::pair<std::size_t, ShownArgument>> ranked;
  for (const auto& [key, value] : json->get_object()) {
    ranked.emplace_back(rank_of(tool, key), argument(name_of(key), value));
    ranked.back().second.decides = ranked.back().first < ranks_of(tool);
  }
  std::ranges::sort(ranked, {}, [](const auto& entry) {
    return std::tuple(entry.first, entry.second.bytes, entry.second.lines.front().shown);
  });
  std::vector<ShownArgument> shown;
  shown.reserve(ranked.size());
  for (auto& entry : ranked) shown.push_back(std::move(entry.second));
  return shown;
}

}  // namespace praxis::app
