#include "models/wire/chat/dialect.hpp"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "models/field_reader.hpp"

namespace praxis::chat {
namespace {

template <class Enum>
using Words = std::span<const std::pair<std::string_view, Enum>>;

constexpr std::array<std::pair<std::string_view, EffortField>, 3> kEffortFields{
    {{"none", EffortField::kNone},
     {"reasoning_effort", EffortField::kReasoningEffort},
     {"reasoning", EffortField::kReasoning}}};
constexpr std::array<std::pair<std::string_view, ThinkingSwitch>, 5> kThinkingSwitches{
    {{"none", ThinkingSwitch::kNone},
     {"thinking", ThinkingSwitch::kThinking},
     {"enable_thinking", ThinkingSwitch::kEnableThinking},
     {"reasoning", ThinkingSwitch::kReasoning},
     {"chat_template_kwargs", ThinkingSwitch::kChatTemplateKwargs}}};
constexpr std::array<std::pair<std::string_view, ReasoningEcho>, 5> kReasoningEchoes{
    {{"never", ReasoningEcho::kNever},
     {"tool_turns", ReasoningEcho::kToolTurns},
     {"always", ReasoningEcho::kAlways},
     {"required", ReasoningEcho::kRequired},
     {"details", ReasoningEcho::kDetails}}};
constexpr std::array<std::pair<std::string_view, SchemaFormat>, 3> kSchemaFormats{
    {{"json_schema", SchemaFormat::kJsonSchema},
     {"json_object", SchemaFormat::kJsonObject},
     {"none", SchemaFormat::kNone}}};
constexpr std::array<std::pair<std::string_view, CallIds>, 2> kCallIds{
    {{"short", CallIds::kShort}, {"mistral9", CallIds::kMistral9}}};

/// Reads a flag whose value is one of a few words.
template <class Enum>
void word(FieldReader& fields, std::string_view name, Enum& value, Words<Enum> words) {
  std::string found, known;
  fields.text(name, found);
  if (found.empty()) return;
  for (const auto& [spelled, meaning] : words) {
    if (spelled == found) {
      value = meaning;
      return;
    }
    known.append(known.empty() ? "" : ", ").append(spelled);
  }
  fields.refuse(name, "one of " + known);
}

}  // namespace

Result<Dialect> read_dialect(const Json& flags) {
  const Json table = flags.is_null() ? Json(JsonObject{}) : flags;
  FieldReader in(table, "dialect");
  Dialect out;
  in.text("path", out.path);
  in.text("instruction_role", out.instruction_role);
  in.text("max_tokens_field", out.max_tokens_field);
  in.flag("stream_usage", out.stream_usage);
  in.flag("stop", out.stop);
  in.flag("prompt_cache_key", out.prompt_cache_key);
  in.flag("strict_tools", out.strict_tools);
  in.text("required_choice", out.required_choice);
  in.flag("forced_choice_thinking", out.forced_choice_thinking);
  word<SchemaFormat>(in, "schema_format", out.schema_format, kSchemaFormats);
  word<EffortField>(in, "effort_field", out.effort_field, kEffortFields);
  word<ThinkingSwitch>(in, "thinking_switch", out.thinking_switch, kThinkingSwitches);
  word<ReasoningEcho>(in, "reasoning_echo", out.reasoning_echo, kReasoningEchoes);
  in.text("reasoning_field", out.reasoning_field);
  in.flag("think_tags", out.think_tags);
  word<CallIds>(in, "call_ids", out.call_ids, kCallIds);
  in.flag("result_names", out.result_names);
  in.flag("assistant_after_tool", out.assistant_after_tool);
  in.flag("document_url", out.document_url);
  in.flag("content_null", out.content_null);
  in.flag("cache_marks", out.cache_marks);
  in.object("request", out.request);
  if (const Status read = in.finish(); !read) return fail(read.error());
  return out;
}

}  // namespace praxis::chat
