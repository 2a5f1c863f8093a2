#include "models/wire/anthropic/request.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "models/request_layout.hpp"
#include "models/wire/anthropic/content.hpp"
#include "models/wire/anthropic/tools.hpp"

namespace praxis::wire::messages {
namespace {

/// A level of effort and, for models with a thinking budget, its number of tokens.
struct Level {
  std::string_view name;
  std::int64_t budget;
};
constexpr std::array<Level, 6> kLevels{{{"minimal", 1024},
                                        {"low", 4096},
                                        {"medium", 10'240},
                                        {"high", 20'480},
                                        {"xhigh", 32'768},
                                        {"max", 65'536}}};
constexpr std::int64_t kLeastBudget = 1024;

struct Thinking {
  enum class Kind : std::uint8_t { kUnsaid, kOff, kOn };
  Kind kind = Kind::kUnsaid;
  std::string effort = {};  ///< our level; empty: the model's default
};

bool always_thinks(const ModelFacts& facts) {
  const auto off = facts.reasoning_levels.find("off");
  return off != facts.reasoning_levels.end() && off->second.empty();
}

bool forces_tool(const ModelRequest& request) {
  const std::string& choice = request.options.tool_choice;
  return request.tools && !request.tools->empty() && !choice.empty() && choice != "auto" && choice != "none";
}

Thinking wanted_thinking(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  using Kind = Thinking::Kind;
  const ModelFacts& facts = target.facts;
  const std::string& effort = request.options.reasoning_effort;
  if (always_thinks(facts)) {
    if (effort == "off") return {Kind::kOn, "minimal"};
    return effort.empty() && !dialect.adaptive_thinking ? Thinking{} : Thinking{Kind::kOn, effort};
  }
  // Models with adaptive thinking may think without a request.
  if (forces_tool(request))
    return {facts.reasoning && dialect.adaptive_thinking ? Kind::kOff : Kind::kUnsaid};
  if (effort == "off") return {facts.reasoning ? Kind::kOff : Kind::kUnsaid};
  return effort.empty() ? Thinking{} : Thinking{Kind::kOn, effort};
}

/// The server's word for a level: that of the level, or of the nearest offered one.
std::string wire_effort(const ModelFacts& facts, std::string_view level) {
  const auto word = [&](std::string_view name) {
    const auto known = facts.reasoning_levels.find(std::string(name));
    if (known != facts.reasoning_levels.end()) return known->second;
    return name == "minimal" ? std::string() : std::string(name);  // the protocol has no such word
  };
  const auto at = std::ranges::find(kLevels, level, &Level::name);
  if (at == kLevels.end()) return std::string(level);
  for (auto lower = at + 1; lower != kLevels.begin();) {
    if (std::string found = word((--lower)->name); !found.empty()) return found;
  }
  for (auto higher = at; higher != kLevels.end(); ++higher) {
    if (std::string found = word(higher->name); !found.empty()) return found;
  }
  return {};
}

/// Tokens for thinking, which count towards `max_tokens`; `std::nullopt` if `max_tokens` is too small for
/// both.
std::optional<std::int64_t> budget_for(std::string_view level, std::int64_t max_tokens) {
  const auto known = std::ranges::find(kLevels, level, &Level::name);
  const std::int64_t wanted = known == kLevels.end() ? kLeastBudget : known->budget;
  const std::int64_t budget = std::min(wanted, max_tokens - kLeastBudget);
  return budget < kLeastBudget ? std::nullopt : std::optional(budget);
}

/// Adds the fields that request thinking; returns whether the model will think.
bool add_thinking(JsonObject& fields, JsonObject& output, const Thinking& thinking, const CodecTarget& target,
                  const Dialect& dialect) {
  if (thinking.kind == Thinking::Kind::kOff) fields["thinking"] = JsonObject{{"type", "disabled"}};
  if (thinking.kind != Thinking::Kind::kOn) return false;
  if (!dialect.adaptive_thinking) {
    const auto budget = budget_for(thinking.effort, fields.at("max_tokens").as_int64());
    if (!budget) return false;
    fields["thinking"] = JsonObject{{"type", "enabled"}, {"budget_tokens", *budget}};
    return true;
  }
  JsonObject adaptive{{"type", "adaptive"}};
  if (!dialect.thinking_display.empty()) adaptive["display"] = dialect.thinking_display;
  fields["thinking"] = std::move(adaptive);
  if (!thinking.effort.empty()) {
    if (std::string effort = wire_effort(target.facts, thinking.effort); !effort.empty())
      output["effort"] = effort;
  }
  return true;
}

Json tool_choice(const std::string& choice, bool thinks) {
  if (choice == "none") return JsonObject{{"type", "none"}};
  if (choice == "auto" || thinks) return JsonObject{{"type", "auto"}};
  if (choice == "required") return JsonObject{{"type", "any"}};
  return JsonObject{{"type", "tool"}, {"name", choice}};
}

void add_system(JsonArray& blocks, std::string_view text) {
  if (!is_blank(text)) blocks.push_back(JsonObject{{"type", "text"}, {"text", text}});
}

/// The agent's instructions, then those at the start of the history.
JsonArray system_blocks(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  JsonArray blocks;
  add_system(blocks, request.instructions);
  for (const MessagePtr& message : request.history.messages()) {
    if (message->role != Role::kSystem && message->role != Role::kDeveloper) break;
    add_system(blocks, message->text());
  }
  if (const Json& schema = request.options.output_schema;
      !schema.is_null() && !target.facts.structured_output) {
    add_system(blocks,
               "Answer with one JSON value that meets the following JSON Schema, and with nothing else: no "
               "explanation, no code fence.\n" +
                   to_json_text(schema));
  }
  if (!blocks.empty() && dialect.cache_marks != CacheMarks::kNone) {
    blocks.back().get_object()["cache_control"] = JsonObject{{"type", "ephemeral"}};
  }
  return blocks;
}

std::int64_t max_tokens(const CodecTarget& target, const Dialect& dialect, const ModelOptions& options) {
  if (options.max_output_tokens) return *options.max_output_tokens;
  return target.facts.max_output > 0 ? target.facts.max_output : dialect.max_tokens;
}

/// Sets an explicit trigger: the server's default may compact far below a large window.
JsonObject compaction_edit(const CodecTarget& target, const Dialect& dialect) {
  constexpr std::int64_t kLeastTrigger = 50'000;  // minimum that the server accepts
  JsonObject edit{{"type", dialect.compaction_edit}};
  if (const std::int64_t window = target.facts.context_window; window > 0) {
    edit["trigger"] =
        JsonObject{{"type", "input_tokens"}, {"value", std::max(window / 5 * 4, kLeastTrigger)}};
  }
  return edit;
}

void add_settings(JsonObject& fields, const CodecTarget& target, const Dialect& dialect,
                  const ModelRequest& request) {
  const ModelOptions& options = request.options;
  fields["max_tokens"] = max_tokens(target, dialect, options);
  if (request.stream) fields["stream"] = true;
  JsonObject output;
  const bool thinks =
      add_thinking(fields, output, wanted_thinking(target, dialect, request), target, dialect);
  if (!options.output_schema.is_null() && target.facts.structured_output) {
    output["format"] = JsonObject{{"type", "json_schema"}, {"schema", options.output_schema}};
  }
  if (!output.empty()) fields["output_config"] = std::move(output);
  if (options.temperature && target.facts.temperature && !thinks)
    fields["temperature"] = *options.temperature;
  if (!options.stop.empty()) fields["stop_sequences"] = JsonArray(options.stop.begin(), options.stop.end());
  if (dialect.cache_marks == CacheMarks::kAutomatic)
    fields["cache_control"] = JsonObject{{"type", "ephemeral"}};
  if (!dialect.compaction_edit.empty()) {
    fields["context_management"] = JsonObject{{"edits", JsonArray{compaction_edit(target, dialect)}}};
  }
  if (request.tools && !request.tools->empty()) {
    fields["tools"] = tool_declarations(*request.tools, dialect, dialect.strict_tools && !request.non_strict);
    if (!options.tool_choice.empty()) fields["tool_choice"] = tool_choice(options.tool_choice, thinks);
  }
}

}  // namespace

std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  JsonObject fields;
  if (!dialect.body_version.empty()) fields["anthropic_version"] = dialect.body_version;
  if (!dialect.path.contains("{model}")) fields["model"] = target.model;
  add_settings(fields, target, dialect, request);
  if (JsonArray system = system_blocks(target, dialect, request); !system.empty()) {
    fields["system"] = std::move(system);
  }
  return open_list(std::move(fields), request.options.extra, "messages");
}

}  // namespace praxis::wire::messages
