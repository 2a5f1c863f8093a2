#include "praxis/policy/rule.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/conditions.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxPattern = 1'000;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// The answer of a test; `kUnclear` if the argument is not of the kind that can be tested.
enum class Holds : std::uint8_t { kNo, kYes, kUnclear };

Holds answer(bool holds) { return holds ? Holds::kYes : Holds::kNo; }

// ---- reading

std::unexpected<Error> refused(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

Result<std::vector<std::string>> words_of(std::string_view key, const Json& value) {
  std::vector<std::string> words;
  if (value.is_string() && !value.get_string().empty()) return std::vector{std::string(value.get_string())};
  const JsonArray* const list = value.if_array();
  const auto is_word = [](const Json& item) { return item.is_string() && !item.get_string().empty(); };
  if (list == nullptr || list->empty() || !std::ranges::all_of(*list, is_word))
    return refused('"' + std::string(key) + "\" must be a text or a list of texts, not " +
                   to_json_text(value));
  for (const Json& item : *list) words.emplace_back(item.get_string());
  return words;
}

/// A glob in the syntax of RE2.
std::string expression_of(std::string_view glob) {
  std::string out;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob.substr(i).starts_with("**")) {
      out += "(?s:.*)";
      ++i;
    } else if (glob[i] == '*') {
      out += "[^/]*";
    } else if (glob[i] == '?') {
      out += "[^/]";
    } else {
      out += re2::RE2::QuoteMeta(std::string(1, glob[i]));
    }
  }
  return out;
}

Result<TextPattern> pattern_of(std::string_view key, const Json& value) {
  const std::string text(value.is_string() ? std::string_view(value.get_string()) : "");
  if (text.empty()) return refused('"' + std::string(key) + "\" must be a text, not " + to_json_text(value));
  if (text.size() > kMaxPattern)
    return refused('"' + std::string(key) + "\" has more than " + std::to_string(kMaxPattern) + " bytes");
  re2::RE2::Options options;
  options.set_log_errors(false);
  // A glob is quoted byte by byte, which is right for any text in this encoding only.
  if (key == "glob") options.set_encoding(re2::RE2::Options::EncodingLatin1);
  auto compiled = std::make_shared<const re2::RE2>(key == "glob" ? expression_of(text) : text, options);
  if (!compiled->ok())
    return refused("the pattern \"" + text + "\" cannot be used: " + compiled->error() +
                   " (patterns are RE2's: no look-around, no back-references)");
  return TextPattern{text, key == "glob", std::move(compiled)};
}

using Test = decltype(ArgumentTest::test);

Result<Test> read_words(std::string_view key, const Json& value,
                        const std::function<Test(std::vector<std::string>)>& made) {
  auto words = words_of(key, value);
  if (!words) return fail(std::move(words.error()));
  return made(*std::move(words));
}

Result<Test> read_bound(std::string_view key, const Json& value) {
  if (!value.is_number()) return refused('"' + std::string(key) + "\" must be a number");
  const auto bound = value.to_number<double>();
  return key == "at_least" ? Within{bound, kUnbounded} : Within{-kUnbounded, bound};
}

Result<Test> read_beginning(const Json& value) {
  const bool is_text = value.is_string() && !value.get_string().empty();
  const bool is_list = value.is_array() && !value.get_array().empty();
  if (!is_text && !is_list) return refused("\"begins\" must be a text or a list");
  return BeginsWith{value};
}

Result<Test> read_test(const std::string& key, const Json& value) {
  if (key == "is") return IsOneOf{{value}};
  if (key == "one_of") {
    const JsonArray* const values = value.if_array();
    if (values == nullptr || values->empty()) return refused("\"one_of\" must be a list of values");
    return IsOneOf{{values->begin(), values->end()}};
  }
  if (key == "begins") return read_beginning(value);
  if (key == "at_least" || key == "at_most") return read_bound(key, value);
  if (key == "has") return read_words(key, value, [](auto words) { return HasWord{std::move(words)}; });
  if (key == "host") return read_words(key, value, [](auto words) { return AtHost{std::move(words)}; });
  if (key == "below" && value.is_string() && !value.get_string().empty())
    return BelowFolder{std::string(value.get_string())};
  if (key == "below") return refused("\"below\" must be a folder");
  if (key != "matches" && key != "glob")
    return refused("there is no test \"" + key +
                   "\"; there are is, one_of, begins, has, matches, glob, at_least, at_most, below and host");
  auto pattern = pattern_of(key, value);
  if (!pattern) return fail(std::move(pattern.error()));
  return MatchesPattern{*std::move(pattern)};
}

Status read_tests(const Json& when, std::vector<ArgumentTest>& tests) {
  if (when.is_null()) return {};
  if (!when.is_object()) return refused("\"when\" must be a table of arguments");
  for (const auto& [argument, wanted] : when.get_object()) {
    if (!wanted.is_object() || wanted.get_object().empty())
      return refused("\"when." + std::string(argument) +
                     "\" must be a table with a test, such as { is = \"value\" }");
    for (const auto& [key, value] : wanted.get_object()) {
      auto test = read_test(std::string(key), value);
      if (!test) return refused("\"when." + std::string(argument) + "\": " + test.error().message);
      tests.push_back({std::string(argument), *std::move(test)});
    }
  }
  return {};
}

constexpr std::array<std::pair<std::string_view, RuleKind>, 3> kKinds = {
    {{"allow", RuleKind::kAllow}, {"ask", RuleKind::kAsk}, {"deny", RuleKind::kDeny}}};

Status read_tools(const Json& json, PolicyRule& rule) {
  const auto given =
      std::ranges::count_if(kKinds, [&](const auto& kind) { return json.get_object().contains(kind.first); });
  if (given != 1)
    return refused("a rule needs one of \"allow\", \"ask\" and \"deny\", with the names of tools");
  for (const auto& [key, kind] : kKinds) {
    const Json* const tools = json.get_object().if_contains(key);
    if (tools == nullptr) continue;
    auto names = words_of(key, *tools);
    if (!names) return fail(std::move(names.error()));
    rule.kind = kind;
    rule.tools = *std::move(names);
  }
  return {};
}

// ---- writing

struct TestJson {
  JsonObject& out;
  void operator()(const IsOneOf& test) const {
    if (test.values.size() == 1) {
      out["is"] = test.values[0];
    } else {
      out["one_of"] = JsonArray(test.values.begin(), test.values.end());
    }
  }
  void operator()(const BeginsWith& test) const { out["begins"] = test.beginning; }
  void operator()(const HasWord& test) const { out["has"] = JsonArray(test.words.begin(), test.words.end()); }
  void operator()(const MatchesPattern& test) const {
    out[test.pattern.is_glob ? "glob" : "matches"] = test.pattern.text;
  }
  void operator()(const Within& test) const {
    if (test.least > -kUnbounded) out["at_least"] = test.least;
    if (test.most < kUnbounded) out["at_most"] = test.most;
  }
  void operator()(const BelowFolder& test) const { out["below"] = test.folder; }
  void operator()(const AtHost& test) const { out["host"] = JsonArray(test.hosts.begin(), test.hosts.end()); }
};

// ---- testing

std::optional<std::string_view> text_of(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  return std::string_view(value.get_string());
}

bool has_option(std::string_view word, std::string_view option) {
  if (word == option) return true;
  if (option.starts_with("--"))
    return word.starts_with(option) && word.substr(option.size()).starts_with('=');
  const bool is_short = option.size() == 2 && option[0] == '-';
  return is_short && word.size() > 2 && word[0] == '-' && word[1] != '-' && word.contains(option[1]);
}

/// Whether a word could be a long option in short: programs with `getopt_long`, and git, take each beginning
/// of its name that no other option has, and only they know the others.
bool may_shorten(std::string_view word, std::string_view option) {
  constexpr std::size_t kShortest = 3;  // `--` and a letter
  const std::string_view name = word.substr(0, word.find('='));
  return option.starts_with("--") && name.size() >= kShortest && option.starts_with(name);
}

/// The names on a path, without `.`, and `..` taken back. Nothing: it leads out of where it begins.
std::optional<std::vector<std::string_view>> names_on(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(name);
    } else if (names.empty()) {
      return std::nullopt;
    } else {
      names.pop_back();
    }
  }
  return names;
}

Holds is_below(std::string_view path, std::string_view folder) {
  if (path.contains('\0') || path.starts_with('/') != folder.starts_with('/')) return Holds::kUnclear;
  const auto inner = names_on(path), outer = names_on(folder);
  if (!inner || !outer) return Holds::kUnclear;
  return answer(inner->size() >= outer->size() && std::equal(outer->begin(), outer->end(), inner->begin()));
}

Holds is_at(std::string_view text, const std::vector<std::string>& hosts) {
  const auto url = parse_url(text);
  if (!url) return Holds::kUnclear;
  return answer(std::ranges::any_of(hosts, [&](std::string_view allowed) {
    return allowed.starts_with("*.") ? url->host.ends_with(allowed.substr(1)) : url->host == allowed;
  }));
}

struct Tested {
  const Json& argument;

  Holds operator()(const IsOneOf& test) const {
    const std::string text = to_canonical_json(argument);
    return answer(std::ranges::any_of(test.values,
                                      [&](const Json& value) { return to_canonical_json(value) == text; }));
  }
  Holds operator()(const BeginsWith& test) const {
    if (const auto beginning = text_of(test.beginning)) {
      const auto text = text_of(argument);
      return text ? answer(text->starts_with(*beginning)) : Holds::kUnclear;
    }
    const JsonArray *const first = test.beginning.if_array(), *const list = argument.if_array();
    if (first == nullptr || list == nullptr) return Holds::kUnclear;
    return answer(list->size() >= first->size() && std::equal(first->begin(), first->end(), list->begin()));
  }
  Holds operator()(const HasWord& test) const {
    const JsonArray* const list = argument.if_array();
    if (list == nullptr) return Holds::kUnclear;
    bool is_clear = true;
    for (const Json& item : *list) {
      const auto word = text_of(item);
      if (word &&
          std::ranges::any_of(test.words, [&](const auto& wanted) { return has_option(*word, wanted); }))
        return Holds::kYes;
      is_clear = is_clear && word && std::ranges::none_of(test.words, [&](const auto& wanted) {
                   return may_shorten(*word, wanted);
                 });
    }
    return is_clear ? Holds::kNo : Holds::kUnclear;
  }
  Holds operator()(const MatchesPattern& test) const {
    const auto text = text_of(argument);
    if (!text) return Holds::kUnclear;
    return answer(re2::RE2::FullMatch(re2::StringPiece(text->data(), text->size()), *test.pattern.compiled));
  }
  Holds operator()(const Within& test) const {
    if (!argument.is_number()) return Holds::kUnclear;
    const auto number = argument.to_number<double>();
    return answer(number >= test.least && number <= test.most);
  }
  Holds operator()(const BelowFolder& test) const {
    const auto path = text_of(argument);
    return path ? is_below(*path, test.folder) : Holds::kUnclear;
  }
  Holds operator()(const AtHost& test) const {
    const auto text = text_of(argument);
    return text ? is_at(*text, test.hosts) : Holds::kUnclear;
  }
};

/// What stands at `path` (`name`, `name.name`) in the arguments, or else what the schema says is there.
const Json* argument_at(const Json& arguments, const Json& schema, std::string_view path) {
  const Json* value = &arguments;
  const Json* described = &schema;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    described = &json_at(json_at(*described, "properties"), name);
    const JsonObject* const object = value != nullptr ? value->if_object() : nullptr;
    const Json* const next = object != nullptr ? object->if_contains(name) : nullptr;
    const JsonObject* const known = described->if_object();
    value = next != nullptr || known == nullptr ? next : known->if_contains("default");
  }
  return value;
}

}  // namespace

Json to_json(const PolicyRule& rule) {
  JsonObject out{{"id", rule.id}};
  for (const auto& [key, kind] : kKinds) {
    if (kind == rule.kind) out[key] = JsonArray(rule.tools.begin(), rule.tools.end());
  }
  JsonObject when;
  for (const ArgumentTest& test : rule.when) {
    Json& of_argument = when[test.argument];
    if (!of_argument.is_object()) of_argument = JsonObject{};
    std::visit(TestJson{of_argument.get_object()}, test.test);
  }
  if (!when.empty()) out["when"] = std::move(when);
  write_conditions(out, rule);
  if (!rule.reason.empty()) out["reason"] = rule.reason;
  return out;
}

Result<PolicyRule> policy_rule_from_json(const Json& json) {
  if (!json.is_object()) return refused("a rule must be a table");
  constexpr std::array<std::string_view, 10> kKeys = {"id",     "allow",   "ask",   "deny",   "when",
                                                      "during", "at_most", "after", "reason", "given"};
  for (const auto& [key, value] : json.get_object()) {
    if (std::ranges::find(kKeys, std::string_view(key)) == kKeys.end())
      return refused("a rule has id, allow, ask or deny, when, during, at_most or after, and reason, not \"" +
                     std::string(key) + '"');
  }
  for (const char* key : {"id", "reason"}) {
    if (const Json& text = json_at(json, key); !text.is_null() && !text.is_string())
      return refused(std::string("the \"") + key + "\" of a rule must be a text");
  }
  PolicyRule rule{.id = json_string(json, "id"), .reason = json_string(json, "reason")};
  if (rule.id.empty()) return refused("a rule needs an \"id\", which reports name");
  if (auto read = read_tools(json, rule); !read) return fail(std::move(read.error()));
  if (auto read = read_tests(json_at(json, "when"), rule.when); !read) return fail(std::move(read.error()));
  if (auto read = read_conditions(json, rule); !read) return fail(std::move(read.error()));
  return rule;
}

bool names_tool(const PolicyRule& rule, std::string_view tool) {
  return std::ranges::any_of(rule.tools,
                             [&](const std::string& pattern) { return rule_names(pattern, tool); });
}

bool tests_hold(const PolicyRule& rule, const ToolDefinition& tool, const Json& arguments, bool surely) {
  if (!arguments.is_object() && !rule.when.empty()) return !surely;
  return std::ranges::all_of(rule.when, [&](const ArgumentTest& test) {
    const Json* const argument = argument_at(arguments, tool.parameters, test.argument);
    const Holds holds = argument != nullptr ? std::visit(Tested{*argument}, test.test) : Holds::kUnclear;
    return holds == Holds::kYes || (holds == Holds::kUnclear && !surely);
  });
}

bool concerns(const PolicyRule& rule, const ToolDefinition& tool, const Json& arguments) {
  return names_tool(rule, tool.name) && tests_hold(rule, tool, arguments, rule.kind == RuleKind::kAllow);
}

}  // namespace praxis
