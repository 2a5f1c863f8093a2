// Rules about where the arguments of a call come from: `[policy.flow]` of an agent file. Data and its JSON
// form; src/policy/flow.hpp applies them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// What happens to a call of a sink whose arguments may come from untrusted data.
enum class FlowMode : std::uint8_t { kOff, kAsk, kDeny };
std::string_view to_string(FlowMode mode);

/// What the agents above a sub-agent had read when they created it. The runtime sets it.
struct GivenFlow {
  std::vector<std::string> words = {};  ///< trusted texts: what a person and the developers wrote
  std::vector<std::string> read = {};   ///< origins of untrusted data; empty: none was read
  bool operator==(const GivenFlow&) const = default;
};

/// Tools are named exactly, or with `*` at the end. What no list names is declared by a table for the tools
/// of Praxis; any other tool is an untrusted source, and a sink unless it is safe by default.
struct FlowRules {
  FlowMode mode = FlowMode::kOff;
  std::vector<std::string> sources = {};  ///< tools whose results are untrusted
  std::vector<std::string> trusted = {};  ///< tools whose results are as good as the words of a person
  std::vector<std::string> reads = {};    ///< tools that only read: no sinks
  /// Tools that have effects, and their arguments that say where the effect goes (`*`: all arguments).
  std::map<std::string, std::vector<std::string>> sinks = {};
  std::vector<std::string> values = {};  ///< texts that are trusted, such as addresses
  GivenFlow given = {};
  bool has_given = false;  ///< an agent above has set `given`
  bool operator==(const FlowRules&) const = default;
};

/// `{mode, sources?, trusted?, reads?, sinks?: {TOOL: [ARGUMENT...]}, values?}` and back. Error `kInput`: a
/// key is unknown or has a value of another type.
Json to_json(const FlowRules& rules);
Result<FlowRules> flow_rules_from_json(const Json& json);
/// Rules at least as strict as both: the declarations of `before`, unless its mode is `kOff`.
FlowRules narrowed(const FlowRules& before, const FlowRules& after);

}  // namespace praxis
#pragma GCC visibility pop
