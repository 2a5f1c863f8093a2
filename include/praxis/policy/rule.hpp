// Rules about what the arguments of a call say: `[[policy.rules]]` of an agent file. Pure, like all of
// policy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/json.hpp"

namespace re2 {
class RE2;
}

#pragma GCC visibility push(default)
namespace praxis {

/// A pattern in the syntax of RE2 that must match a whole text, or a glob in which `*` stops at a `/` and
/// `**` does not. Compiled once; copies share it.
struct TextPattern {
  std::string text;  ///< as written; at most 1,000 bytes
  bool is_glob = false;
  std::shared_ptr<const re2::RE2> compiled = nullptr;
  bool operator==(const TextPattern& other) const { return text == other.text && is_glob == other.is_glob; }
};

/// What an argument may be tested for.
struct IsOneOf {
  std::vector<Json> values;  ///< the argument equals one of them
  bool operator==(const IsOneOf&) const = default;
};
struct BeginsWith {
  Json beginning;  ///< a text: that of the argument; or a list: its first items
  bool operator==(const BeginsWith&) const = default;
};
/// The list has one of these words. A long option (`--force`) is also found as `--force=VALUE`, a short one
/// (`-f`) also among others (`-rf`).
struct HasWord {
  std::vector<std::string> words;
  bool operator==(const HasWord&) const = default;
};
struct MatchesPattern {
  TextPattern pattern;
  bool operator==(const MatchesPattern&) const = default;
};
struct Within {
  double least, most;  ///< the argument is a number from `least` to `most`
  bool operator==(const Within&) const = default;
};
/// The path lies in this folder, or is it. Both are relative, or both absolute. Links are not followed: the
/// file tools refuse them.
struct BelowFolder {
  std::string folder;
  bool operator==(const BelowFolder&) const = default;
};
/// The host of the URL is one of these; `*.example.com` names all hosts below `example.com`.
struct AtHost {
  std::vector<std::string> hosts;
  bool operator==(const AtHost&) const = default;
};

struct ArgumentTest {
  std::string argument;  ///< its name, or a path such as `options.depth`
  std::variant<IsOneOf, BeginsWith, HasWord, MatchesPattern, Within, BelowFolder, AtHost> test;
  bool operator==(const ArgumentTest&) const = default;
};

enum class RuleKind : std::uint8_t { kAllow, kAsk, kDeny };

struct PolicyRule {
  std::string id;
  RuleKind kind = RuleKind::kDeny;
  std::vector<std::string> tools = {};      ///< names; `*` at the end stands for any ending
  std::vector<ArgumentTest> when = {};      ///< all must hold; none: every call
  std::string reason = {};                  ///< for who is asked, and for the model; may be empty
  Json during = nullptr;                    ///< `{from, to, days?, zone}`: applies at these times only
  std::optional<std::uint32_t> calls = {};  ///< a rule that allows denies further ones; others apply after
  Millis per{0};                            ///< before the call; 0: since the session began
  std::vector<std::pair<UnixMillis, std::uint32_t>> given = {};  ///< calls of agents above, by the runtime
  bool operator==(const PolicyRule&) const = default;
};

/// `{id, allow|ask|deny: [tool…], when?: {ARGUMENT: {TEST: value}}, during?: {from?, to?, days?, zone},
/// at_most|after?: {calls, per?}, reason?}` and back; tests are `is`, `one_of`, `begins`, `has`, `matches`,
/// `glob`, `at_least`, `at_most`, `below`, `host`. Error `kInput`: a key, pattern or time zone is not valid.
Json to_json(const PolicyRule& rule);
Result<PolicyRule> policy_rule_from_json(const Json& json);

/// Whether a rule concerns a call. `arguments` is the parsed object, or null if it could not be parsed. What
/// an argument that is missing would be is taken from the `default` in the tool's schema. If a test cannot be
/// answered (no such argument, another type, a path that leads out of its folder), an allow rule does not
/// concern the call, and a rule that asks or denies does. Does not look at `during` and `calls`.
bool concerns(const PolicyRule& rule, const ToolDefinition& tool, const Json& arguments);
/// Whether the rule names the tool; its conditions do not matter.
bool names_tool(const PolicyRule& rule, std::string_view tool);

}  // namespace praxis
#pragma GCC visibility pop
