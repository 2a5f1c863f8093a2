#include "app/context_report.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/folder_instructions.hpp"
#include "core/context.hpp"
#include "core/request_track.hpp"

namespace praxis::app {
namespace {

constexpr std::array<std::string_view, 10> kNames{"instructions", "folder_file", "tools",   "skills",
                                                  "notes",        "system",      "summary", "user",
                                                  "assistant",    "tool_results"};
constexpr std::string_view kNotesBegin = "<recalled>\n", kNotesEnd = "</recalled>";

/// Adds up tokens by kind, by the estimator.
class Parts {
 public:
  void add(ContextKind kind, std::int64_t tokens, std::size_t count) {
    ContextPart& part = of(kind);
    part.tokens += tokens;
    part.count += count;
  }
  void add_file(std::string name, std::int64_t tokens) {
    insert({ContextKind::kFolderFile, std::move(name), 0, tokens});
  }
  std::vector<ContextPart> take() {
    std::erase_if(parts_, [](const ContextPart& part) { return part.tokens <= 0; });
    return std::move(parts_);
  }

 private:
  ContextPart& of(ContextKind kind) {
    const auto found = std::ranges::find(parts_, kind, &ContextPart::kind);
    return found != parts_.end() ? *found : insert({kind, "", 0, 0});
  }
  /// Behind those of its kind and of kinds before.
  ContextPart& insert(ContextPart part) {
    const auto at = std::ranges::upper_bound(parts_, part.kind, {}, &ContextPart::kind);
    return *parts_.insert(at, std::move(part));
  }
  std::vector<ContextPart> parts_;
};

std::int64_t tokens_of_part(const Part& part) {
  Message one;
  one.parts.push_back(part);
  return estimate_tokens(one) - estimate_tokens(Message{});
}

bool is_recalled(const Part& part) {
  const auto* text = std::get_if<TextPart>(&part);
  if (text == nullptr) return false;
  std::string_view body = text->text;
  while (body.starts_with('\n')) body.remove_prefix(1);
  return body.starts_with(kNotesBegin) && body.ends_with(kNotesEnd);
}

ContextKind kind_of(const Message& message) {
  switch (message.role) {
    case Role::kSystem:
    case Role::kDeveloper:
      return ContextKind::kSystem;
    case Role::kAssistant:
      return ContextKind::kAssistant;
    case Role::kTool:
      return ContextKind::kResults;
    case Role::kUser:
      break;
  }
  return ContextKind::kUser;
}

void add_message(Parts& parts, const Message& message) {
  const bool is_summary = std::ranges::any_of(
      message.parts, [](const Part& part) { return std::holds_alternative<CompactionPart>(part); });
  const ContextKind whole =
      is_summary && message.role == Role::kUser ? ContextKind::kSummary : kind_of(message);
  parts.add(whole, estimate_tokens(Message{}), 1);
  for (const Part& part : message.parts) {
    const bool recalled = whole == ContextKind::kUser && is_recalled(part);
    const bool summary = std::holds_alternative<CompactionPart>(part);
    const ContextKind kind = recalled ? ContextKind::kNotes : summary ? ContextKind::kSummary : whole;
    parts.add(kind, tokens_of_part(part), recalled || (summary && kind != whole) ? 1 : 0);
  }
}

void add_description(Parts& parts, const AgentSpec& agent) {
  const SplitInstructions split = split_instructions(agent);
  parts.add(ContextKind::kInstructions, estimate_tokens(agent.with_preface(split.own)), 0);
  for (const InstructionShare& file : split.files) parts.add_file(file.name, estimate_tokens(file.text));
  AgentSpec without_tools = agent;
  without_tools.tools.clear();
  AgentSpec with_tools = without_tools;
  std::ranges::copy_if(agent.tools, std::back_inserter(with_tools.tools),
                       [](const ToolSpec& tool) { return tool.definition.name != "skill"; });
  const std::int64_t texts = overhead_of(without_tools), tools = overhead_of(with_tools);
  parts.add(ContextKind::kTools, tools - texts, with_tools.tools.size());
  if (with_tools.tools.size() < agent.tools.size())
    parts.add(ContextKind::kSkills, overhead_of(agent) - tools, 0);
}

/// Scales estimates so that they add up to `whole`; what rounding leaves goes to the parts one after the
/// other.
void scale(std::vector<ContextPart>& parts, std::int64_t whole) {
  std::int64_t estimated = 0, before = 0, given = 0;
  for (const ContextPart& part : parts) estimated += part.tokens;
  for (ContextPart& part : parts) {
    before += part.tokens;
    const std::int64_t until = estimated == 0 ? 0 : before * whole / estimated;
    part.tokens = until - std::exchange(given, until);
  }
}

}  // namespace

std::string_view to_string(ContextKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

ContextReport context_report(const State& state) {
  ContextReport report{.model = state.agent->model,
                       .used = state.used_tokens(),
                       .window = state.context_window(),
                       .is_counted = state.context_tokens != 0,
                       .compacts_above = compaction_mark(state),
                       .compacts_itself = state.agent->profile.compacts,
                       .parts = {}};
  Parts parts;
  add_description(parts, *state.agent);
  for (const MessagePtr& message : state.conversation.history().messages()) add_message(parts, *message);
  report.parts = parts.take();
  scale(report.parts, report.used);
  return report;
}

JsonObject context_json(const ContextReport& report) {
  JsonArray parts;
  for (const ContextPart& part : report.parts) {
    JsonObject entry{{"part", to_string(part.kind)}, {"tokens", part.tokens}};
    if (!part.name.empty()) entry["name"] = part.name;
    if (part.count != 0) entry["count"] = part.count;
    parts.push_back(std::move(entry));
  }
  JsonObject json{{"model", report.model},
                  {"used", report.used},
                  {"counted", report.is_counted},
                  {"parts", std::move(parts)}};
  if (report.window != 0) json["window"] = report.window;
  if (report.compacts_above) json["compacts_above"] = *report.compacts_above;
  if (report.compacts_itself) json["compacts_itself"] = true;
  return json;
}

ContextReport context_from(const Json& json) {
  ContextReport report{.model = json_string(json, "model"),
                       .used = json_int(json, "used"),
                       .window = json_int(json, "window"),
                       .is_counted = json_bool(json, "counted"),
                       .compacts_above = std::nullopt,
                       .compacts_itself = json_bool(json, "compacts_itself"),
                       .parts = {}};
  if (json_at(json, "compacts_above").is_number()) report.compacts_above = json_int(json, "compacts_above");
  const JsonArray* parts = json_at(json, "parts").if_array();
  for (const Json& part : parts == nullptr ? JsonArray() : *parts) {
    const auto* const kind = std::ranges::find(kNames, json_text(part, "part"));
    if (kind == kNames.end()) continue;
    report.parts.push_back({.kind = static_cast<ContextKind>(kind - kNames.begin()),
                            .name = json_string(part, "name"),
                            .count = static_cast<std::size_t>(json_int(part, "count")),
                            .tokens = json_int(part, "tokens")});
  }
  return report;
}

}  // namespace praxis::app
