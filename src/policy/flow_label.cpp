// The labels of tools and of the texts of a session.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "domain/agent_message.hpp"
#include "policy/flow.hpp"
#include "policy/flow_text.hpp"
#include "praxis/core/state.hpp"

namespace praxis::flow {
namespace {

// ---- tools

/// What is known of a tool of Praxis. Memory and databases hold what others wrote. What a file or a program
/// gives is as trusted as what was read before, unless the rules say more.
struct KnownTool {
  std::string_view name;
  std::string_view origin;  ///< empty: `tool:NAME`
  Trust trust;
  std::string_view destinations;  ///< separated by spaces; `-`: not a sink
};
constexpr std::array kKnownTools{
    KnownTool{"http", "web", Trust::kUntrusted, "url"},
    KnownTool{"shell", "", Trust::kPlain, "*"},
    KnownTool{"python", "", Trust::kPlain, "*"},
    KnownTool{"file_read", "file", Trust::kPlain, "-"},
    KnownTool{"glob", "file", Trust::kPlain, "-"},
    KnownTool{"grep", "file", Trust::kPlain, "-"},
    KnownTool{"edit", "file", Trust::kPlain, "path"},
    KnownTool{"file_write", "file", Trust::kPlain, "path"},
    KnownTool{"sql_query", "", Trust::kUntrusted, "-"},
    KnownTool{"sql_schema", "", Trust::kPlain, "-"},
    KnownTool{"sql_execute", "", Trust::kUntrusted, "*"},
    KnownTool{"remember", "memory", Trust::kPlain, "*"},
    KnownTool{"forget", "memory", Trust::kPlain, "*"},
    KnownTool{"recall", "memory", Trust::kUntrusted, "-"},
    KnownTool{"kv", "", Trust::kPlain, "-"},
    KnownTool{"text", "", Trust::kPlain, "-"},
    KnownTool{"skill", "developer", Trust::kPlain, "-"},
    KnownTool{"ask_user", "user", Trust::kTrusted, "-"},
    KnownTool{"fork", "", Trust::kUntrusted, "-"},  // the copy's own calls are judged
    KnownTool{"search_tools", "", Trust::kUntrusted, "-"},
};

constexpr std::string_view kServerSeparator =
    "__";  ///< between the name of an MCP server and that of its tool

bool any_tool(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return rule_names(pattern, name); });
}

const KnownTool* known_tool(std::string_view name) {
  const auto* const found = std::ranges::find(kKnownTools, name, &KnownTool::name);
  return found == kKnownTools.end() ? nullptr : found;
}

std::string origin_of_tool(std::string_view name) {
  const KnownTool* const known = known_tool(name);
  if (known != nullptr && !known->origin.empty()) return std::string(known->origin);
  const auto separator = name.find(kServerSeparator);
  if (separator != std::string_view::npos && separator > 0)
    return "mcp:" + std::string(name.substr(0, separator));
  return "tool:" + std::string(name);
}

Trust trust_of_tool(const FlowRules& rules, std::string_view name) {
  if (any_tool(rules.sources, name)) return Trust::kUntrusted;
  if (any_tool(rules.trusted, name)) return Trust::kTrusted;
  const KnownTool* const known = known_tool(name);
  return known != nullptr ? known->trust : Trust::kUntrusted;
}

/// The destinations that the rules name for a sink; null: they do not name the tool. An exact name is
/// stronger than a pattern.
const std::vector<std::string>* named_sink(const FlowRules& rules, const std::string& name) {
  if (const auto exact = rules.sinks.find(name); exact != rules.sinks.end()) return &exact->second;
  const auto found =
      std::ranges::find_if(rules.sinks, [&](const auto& sink) { return rule_names(sink.first, name); });
  return found == rules.sinks.end() ? nullptr : &found->second;
}

// ---- texts

constexpr std::string_view kRecalled = "<recalled>";                  // memory_recall.hpp
constexpr std::string_view kRuntimeNote = "Note from the runtime: ";  // core/decisions.hpp

/// The part of a path of agent ids without the last one.
std::string_view agent_above(std::string_view path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

class Labeller {
 public:
  Labeller(const FlowRules& rules, const State& state, const CallId& within)
      : rules_(rules), state_(state), within_(within) {}

  Labels labels() {
    read_agent();
    read_values();
    read_descriptions();
    read_given();
    const auto& messages = state_.conversation.history().messages();
    const std::size_t begin = turn_begin();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      recent_ = i >= begin;
      at_ = i;
      read_message(*messages[i]);
    }
    recent_ = true;
    read_turn();
    for (const std::string& arguments : state_.approved) approve(arguments);
    return std::move(labels_);
  }

 private:
  void add(std::string origin, Trust trust, std::string_view text, std::string arguments = {}) {
    has_untrusted_ = has_untrusted_ || trust == Trust::kUntrusted;
    labels_.texts.push_back({std::move(origin), trust, plain_form(text), std::move(arguments), recent_});
  }

  void add_scalars(const std::string& origin, const Json& json) {
    if (json.is_string()) add(origin, Trust::kTrusted, json.get_string());
    if (const auto* const list = json.if_array()) {
      for (const Json& item : *list) add_scalars(origin, item);
    } else if (const auto* const table = json.if_object()) {
      for (const auto& [key, value] : *table) add_scalars(origin, value);
    }
  }

  /// An agent above may have made the description of a sub-agent, from what it had read.
  void read_agent() {
    if (is_child() && !is_clean_child()) return;
    add("system", Trust::kTrusted, state_.agent->preface);
    add("developer", Trust::kTrusted, state_.agent->instructions);
    add_scalars("developer", state_.agent->plan);
  }

  /// What MCP servers say about their tools is read before anything else. It taints no turn: the operator
  /// chose the server. But a value that is copied from it is the server's.
  void read_descriptions() {
    for (const ToolSpec& tool : state_.agent->tools) {
      const ToolDefinition& shown = tool.definition;
      const bool by_server = shown.name.find(kServerSeparator) != std::string::npos;
      if (!by_server || trust_of_tool(rules_, shown.name) == Trust::kTrusted) continue;
      labels_.texts.push_back({origin_of_tool(shown.name),
                               Trust::kUntrusted,
                               plain_form(shown.description + ' ' + to_json_text(shown.parameters)),
                               {},
                               false});
    }
  }

  void read_values() {
    for (const std::string& value : rules_.values) add("developer", Trust::kTrusted, value);
  }

  void read_given() {
    for (const std::string& words : rules_.given.words) add("user", Trust::kTrusted, words);
    for (const std::string& origin : rules_.given.read) add(origin, Trust::kUntrusted, "");
  }

  /// The index of the message that began the present turn. What came before it is not recent.
  std::size_t turn_begin() const {
    if (!state_.turn || state_.marks.empty() || is_child()) return 0;
    return state_.marks.back().messages;
  }

  bool is_child() const { return !state_.parent.empty(); }
  bool is_clean_child() const { return rules_.has_given && rules_.given.read.empty(); }

  void read_message(const Message& message) {
    for (const Part& part : message.parts) {
      std::visit([&](const auto& each) { read_part(message, each); }, part);
    }
  }

  /// Whose words a message of the role user is: a person's in a root; those of the agent above in a
  /// sub-agent. A plan also writes such messages: only the first of a turn is a person's.
  void read_words(std::string_view text) {
    if (text.starts_with(kRuntimeNote)) return add("system", Trust::kPlain, text);
    if (text.starts_with(kRecalled)) return add("memory", trust_of_tool(rules_, "recall"), text);
    // Another agent wrote it, and what that one has read is not known here.
    if (hop_of_message(text) > 0)
      return add("agent:" + std::string(sender_of_message(text)), Trust::kUntrusted, text);
    if (is_child()) {
      return add("agent:" + std::string(agent_above(state_.path)),
                 is_clean_child() ? Trust::kTrusted : Trust::kUntrusted, text);
    }
    const bool begins = std::ranges::count(state_.marks, at_, &TurnMark::messages) > 0;
    const bool by_person = begins || state_.agent->plan.is_null();
    add(by_person ? "user" : "developer", by_person ? Trust::kTrusted : Trust::kPlain, text);
  }

  void read_part(const Message& message, const TextPart& part) {
    if (message.role == Role::kUser) return read_words(part.text);
    if (message.role != Role::kAssistant) return add("developer", Trust::kTrusted, part.text);
    if (!part.citations.empty()) add("web", Trust::kUntrusted, part.text);
  }
  void read_part(const Message&, const ReasoningPart&) {}
  void read_part(const Message&, const RefusalPart&) {}
  void read_part(const Message&, const ToolCallPart& call) {
    arguments_.insert_or_assign(call.id, call.arguments);
  }
  void read_part(const Message&, const ToolResultPart& result) {
    const auto arguments = arguments_.find(result.id);
    read_result(result.name, result.text, arguments == arguments_.end() ? "" : arguments->second);
    seen_.insert(result.id);
  }
  void read_part(const Message& message, const ImagePart&) { read_attachment(message, ""); }
  void read_part(const Message& message, const FilePart& file) { read_attachment(message, file.name); }
  /// The vendor ran something, such as a search, and the model read the result.
  void read_part(const Message&, const OpaquePart&) { add("web", Trust::kUntrusted, ""); }
  /// What was summarised is gone: its label is that of the tools which the agent has.
  void read_part(const Message&, const CompactionPart& part) {
    const bool may_be_tainted =
        is_child() || std::ranges::any_of(state_.agent->tools, [&](const ToolSpec& tool) {
          return trust_of_tool(rules_, tool.definition.name) == Trust::kUntrusted;
        });
    add("summary", may_be_tainted ? Trust::kUntrusted : Trust::kPlain, part.summary);
  }

  void read_attachment(const Message& message, std::string_view name) {
    if (message.role == Role::kUser) add("file", Trust::kUntrusted, name);
  }

  /// A result that the rules say nothing about is as trusted as all that was read before it.
  void read_result(std::string_view tool, std::string_view text, std::string_view arguments) {
    Trust trust = trust_of_tool(rules_, tool);
    if (trust == Trust::kPlain && has_untrusted_) trust = Trust::kUntrusted;
    add(origin_of_tool(tool), trust, text,
        trust == Trust::kTrusted && tool != "ask_user" ? plain_form(arguments) : "");
  }

  /// The calls of the present turn that are not in the conversation: it was cut, or they were made by
  /// handlers. The model has not read the results of the present step, but a handler has read those of its
  /// own.
  void read_turn() {
    if (!state_.turn) return;
    for (const ActionResult& action : state_.turn->report.actions) {
      if (seen_.contains(action.call)) continue;
      if (within_.empty() && action.step == state_.turn->step) continue;
      read_result(action.tool, action.result, action.arguments);
    }
  }

  void approve(const std::string& arguments) {
    const auto json = parse_json(arguments);
    if (json) approve_scalars(*json);
  }
  void approve_scalars(const Json& json) {
    if (json.is_string()) labels_.approved.push_back(plain_form(json.get_string()));
    if (json.is_number()) labels_.approved.push_back(plain_form(to_json_text(json)));
    if (const auto* const list = json.if_array()) {
      for (const Json& item : *list) approve_scalars(item);
    } else if (const auto* const table = json.if_object()) {
      for (const auto& [key, value] : *table) approve_scalars(value);
    }
  }

  const FlowRules& rules_;
  const State& state_;
  const CallId& within_;
  Labels labels_;
  std::map<CallId, std::string> arguments_;  ///< of the calls in the conversation
  std::set<CallId> seen_;                    ///< calls whose results the conversation has
  std::size_t at_ = 0;
  bool recent_ = true;
  bool has_untrusted_ = false;
};

// ---- sub-agents

constexpr std::size_t kMaxGivenBytes = std::size_t{32} * 1024;

bool is_on(const Json& policy) {
  const Json& flow = json_at(policy, "flow");
  return !flow.is_null() && json_string(flow, "mode") != "off";
}

/// The trusted words, the newest first while they fit, and the origins of untrusted texts.
GivenFlow given_by(const Labels& labels) {
  GivenFlow given;
  std::size_t bytes = 0;
  for (auto text = labels.texts.rbegin(); text != labels.texts.rend(); ++text) {
    if (text->trust == Trust::kUntrusted && std::ranges::count(given.read, text->origin) == 0)
      given.read.push_back(text->origin);
    const bool fits = bytes + text->text.size() <= kMaxGivenBytes;
    if (text->origin != "user" || text->trust != Trust::kTrusted || text->text.empty() || !fits) continue;
    bytes += text->text.size();
    given.words.push_back(text->text);
  }
  for (const std::string& value : labels.approved) {
    if (!value.empty() && (bytes += value.size()) <= kMaxGivenBytes) given.words.push_back(value);
  }
  return given;
}

}  // namespace

ToolLabel label_of(const FlowRules& rules, const ToolDefinition& tool) {
  ToolLabel label{.origin = origin_of_tool(tool.name), .trust = trust_of_tool(rules, tool.name)};
  if (const auto* const named = named_sink(rules, tool.name)) {
    label.destinations = *named;
    return label;
  }
  const KnownTool* const known = known_tool(tool.name);
  const bool only_reads = known != nullptr ? known->destinations == "-" : tool.safe_by_default;
  label.is_sink = !only_reads && !any_tool(rules.reads, tool.name);
  if (known != nullptr) label.destinations = {std::string(known->destinations)};
  return label;
}

Labels label(const FlowRules& rules, const State& state, const CallId& within) {
  return Labeller(rules, state, within).labels();
}

const GivenFlow* given_to(const std::vector<PolicyRules>& rules) {
  const auto nearest = std::ranges::find_if(rules.rbegin(), rules.rend(),
                                            [](const PolicyRules& each) { return each.flow.has_given; });
  return nearest == rules.rend() ? nullptr : &nearest->flow.given;
}

Json bounds_below(const State& state) {
  const Json& policy = state.agent->policy;
  const auto* const above = state.agent->bounds.if_array();
  if (!is_on(policy) && (above == nullptr || std::ranges::none_of(*above, is_on))) return policy;
  std::vector<PolicyRules> layers;
  for (std::size_t i = 0; above != nullptr && i < above->size(); ++i)
    layers.push_back(policy_rules_from_json((*above)[i]));
  layers.push_back(policy_rules_from_json(policy));
  FlowRules rules = layers.back().flow;
  const GivenFlow* const inherited = given_to(layers);
  GivenFlow given;
  for (const PolicyRules& layer : layers) {
    FlowRules each = layer.flow;
    if (each.mode == FlowMode::kOff) continue;
    if (inherited != nullptr) each.given = *inherited;
    each.has_given = inherited != nullptr;
    GivenFlow of_layer = given_by(label(each, state));
    given.words = std::move(of_layer.words);
    for (std::string& origin : of_layer.read) {
      if (std::ranges::count(given.read, origin) == 0) given.read.push_back(std::move(origin));
    }
  }
  rules.given = std::move(given);
  rules.has_given = true;
  Json below = policy.is_object() ? policy : Json(JsonObject{});
  below.get_object()["flow"] = to_json(rules);
  return below;
}

}  // namespace praxis::flow
