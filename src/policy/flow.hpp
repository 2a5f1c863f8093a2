// Where the arguments of a call come from: labels the texts of a session with origin and trust, and judges a
// call of a sink by them. Pure functions of the state, which is a fold of the log: a resumed or replayed run
// gives the same labels. Nothing is computed unless `FlowRules::mode` asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/policy/policy.hpp"

namespace praxis {

struct State;  // praxis/core/state.hpp

namespace flow {

enum class Trust : std::uint8_t {
  kTrusted,    ///< a person or a developer wrote it: what it names may be used
  kPlain,      ///< says nothing for or against a value, such as the words of the model
  kUntrusted,  ///< may carry instructions of a stranger
};

/// A text that the model has read, and where it comes from.
struct LabelledText {
  /// `system`, `developer`, `user`, `web`, `file`, `memory`, `tool:NAME`, `mcp:SERVER`, `agent:ID`,
  /// `summary`.
  std::string origin;
  Trust trust = Trust::kPlain;
  std::string text;            ///< in plain form (`plain_form`)
  std::string arguments = {};  ///< of a trusted tool's call, in plain form: they are not words of the tool
  bool recent = true;          ///< read since the last message of a person
};

struct Labels {
  std::vector<LabelledText> texts;
  std::vector<std::string> approved;  ///< values that a person saw in a call and allowed, in plain form
};

/// What a tool is for the rules: how far its results are trusted, and whether it is a sink.
struct ToolLabel {
  std::string origin;
  Trust trust = Trust::kUntrusted;
  bool is_sink = true;
  /// Arguments that say where the effect of a sink goes; `*`: all.
  std::vector<std::string> destinations = {"*"};
};
ToolLabel label_of(const FlowRules& rules, const ToolDefinition& tool);

/// One argument that is not proven to be the wish of a person.
struct Finding {
  std::string argument;  ///< its name, or a path such as `to[0]`; empty: the call as a whole
  std::string value;     ///< as the model wrote it; of a content argument: the address in it
  std::string origin;    ///< of the text that it was copied from; empty: of no text that was read
  bool in_content = false;
};

/// `to = "a@b.example": copied from web`.
std::string to_text(const Finding& finding);

struct Verdict {
  Permission permission = allow();
  std::string layer = {};              ///< `PolicyRules::source` of the strictest rules
  std::vector<Finding> findings = {};  ///< of the strictest rules
  std::vector<std::string> read = {};  ///< origins of the untrusted texts that the model has read
};

/// The labels of all that the model of a session, or the handler of the running call `within`, has read.
Labels label(const FlowRules& rules, const State& state, const CallId& within = {});
/// Judges a call of `tool` by one set of rules.
Verdict judge(const FlowRules& rules, const Labels& labels, const ToolDefinition& tool,
              const ToolCallPart& call);
/// Judges a call that the session's model made, or the handler of the running call `within`, by several sets
/// of rules, those above first. The strictest decides. A call that `PolicyRules::calls` allows exactly passes
/// the set that allows it.
Verdict judge(const std::vector<PolicyRules>& rules, const State& state, const ToolDefinition& tool,
              const ToolCallPart& call, const CallId& within = {});
/// `permission`, narrowed by the verdict: the reasons of two questions are joined.
Permission narrowed(Permission permission, const Verdict& verdict);

/// What the nearest agent above had read; null: no agent above says so.
const GivenFlow* given_to(const std::vector<PolicyRules>& rules);
/// The rules of the session's agent as bounds for a sub-agent, with what has been read so far. The same as
/// the agent's policy if no rules above or of the agent look at where values come from.
Json bounds_below(const State& state);

}  // namespace flow
}  // namespace praxis
