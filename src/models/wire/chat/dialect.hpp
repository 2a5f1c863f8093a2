// Differences among Chat Completions servers, as data: another server is another table row.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/json/describe.hpp"

namespace praxis::wire::chat {

/// The request field for the reasoning effort.
enum class EffortField : std::uint8_t {
  kNone,             ///< `none`: not sent
  kReasoningEffort,  ///< `reasoning_effort`: as `"reasoning_effort": LEVEL`
  kReasoning,        ///< `reasoning`: as `"reasoning": {"effort": LEVEL}`
};
PRAXIS_ENUM(EffortField, kNone, kReasoningEffort, kReasoning)

/// The request field that turns thinking on and off, if that is not an effort level.
enum class ThinkingSwitch : std::uint8_t {
  kNone,                ///< `none`: not sent
  kThinking,            ///< `thinking`: as `"thinking": {"type": "enabled"}`
  kEnableThinking,      ///< `enable_thinking`: as `"enable_thinking": true`
  kReasoning,           ///< `reasoning`: as `"reasoning": {"enabled": true}`
  kChatTemplateKwargs,  ///< `chat_template_kwargs`: as `{"enable_thinking": true}` inside it
};
PRAXIS_ENUM(ThinkingSwitch, kNone, kThinking, kEnableThinking, kReasoning, kChatTemplateKwargs)

/// Which part of its earlier reasoning a model receives in later requests.
enum class ReasoningEcho : std::uint8_t {
  kNever,      ///< `never`
  kToolTurns,  ///< `tool_turns`: the reasoning of messages with tool calls
  kAlways,     ///< `always`: all reasoning
  kRequired,   ///< `required`: as `always`; every assistant message has the field, possibly empty
  kDetails,    ///< `details`: the list `reasoning_details`, unchanged; without a list as `always`
};
PRAXIS_ENUM(ReasoningEcho, kNever, kToolTurns, kAlways, kRequired, kDetails)

/// How a server enforces a JSON Schema for an answer.
enum class SchemaFormat : std::uint8_t {
  kJsonSchema,  ///< `json_schema`: it follows the schema
  kJsonObject,  ///< `json_object`: it answers in JSON; the schema goes into the instructions
  kNone,        ///< `none`: not at all; the schema goes into the instructions
};
PRAXIS_ENUM(SchemaFormat, kJsonSchema, kJsonObject, kNone)

/// Restrictions on tool call ids.
enum class CallIds : std::uint8_t {
  kShort,     ///< `short`: at most 40 characters
  kMistral9,  ///< `mistral9`: exactly nine letters and digits
};
PRAXIS_ENUM(CallIds, kShort, kMistral9)

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  /// Appended to the base URL; `{model}` is replaced by the model's name.
  std::string path = "/chat/completions";
  std::string instruction_role = "system";      ///< or `developer`
  std::string max_tokens_field = "max_tokens";  ///< or `max_completion_tokens`
  bool stream_usage = true;                     ///< accepts `stream_options`
  bool stop = true;                             ///< accepts `stop`
  bool prompt_cache_key = false;  ///< accepts this field, which helps to find the conversation's cache
  bool strict_tools = false;      ///< accepts `strict` on tools whose schemas qualify
  std::string required_choice = "required";  ///< the value for "call some tool", or `any`
  bool forced_choice_thinking = true;        ///< false: rejects a forced tool choice while the model thinks
  SchemaFormat schema_format = SchemaFormat::kJsonSchema;

  EffortField effort_field = EffortField::kReasoningEffort;
  ThinkingSwitch thinking_switch = ThinkingSwitch::kNone;
  ReasoningEcho reasoning_echo = ReasoningEcho::kNever;
  /// Message field in which reasoning is sent back; empty: the field in which it arrived.
  std::string reasoning_field = {};
  bool think_tags = false;  ///< reasoning is at the start of the text, in `<think>...</think>`

  CallIds call_ids = CallIds::kShort;
  bool result_names = false;          ///< tool results must name their tool
  bool assistant_after_tool = false;  ///< rejects a user message directly after tool results
  bool document_url = false;          ///< accepts files as `document_url` parts, also by URL
  bool content_null = true;  ///< accepts `"content": null` with tool calls; false: send an empty string
  bool cache_marks = false;  ///< caches up to `cache_control` marks, as for Anthropic's models

  Json request = JsonObject{};  ///< additional fields of every request
};
PRAXIS_FIELDS(Dialect, path, instruction_role, max_tokens_field, stream_usage, stop, prompt_cache_key,
              strict_tools, required_choice, forced_choice_thinking, schema_format, effort_field,
              thinking_switch, reasoning_echo, reasoning_field, think_tags, call_ids, result_names,
              assistant_after_tool, document_url, content_null, cache_marks, request)

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::wire::chat
