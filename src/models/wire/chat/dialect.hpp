// How servers of the Chat Completions family differ: data, so that another server is another row.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::chat {

/// Where a request says how hard to think.
enum class EffortField : std::uint8_t {
  kNone,             ///< `none`: nowhere
  kReasoningEffort,  ///< `reasoning_effort`: as `"reasoning_effort": LEVEL`
  kReasoning,        ///< `reasoning`: as `"reasoning": {"effort": LEVEL}`
};

/// Where a request turns thinking on and off, when that is not another level of effort.
enum class ThinkingSwitch : std::uint8_t {
  kNone,                ///< `none`: nowhere
  kThinking,            ///< `thinking`: as `"thinking": {"type": "enabled"}`
  kEnableThinking,      ///< `enable_thinking`: as `"enable_thinking": true`
  kReasoning,           ///< `reasoning`: as `"reasoning": {"enabled": true}`
  kChatTemplateKwargs,  ///< `chat_template_kwargs`: as `{"enable_thinking": true}` in there
};

/// Which of its own reasoning a model gets back in later requests.
enum class ReasoningEcho : std::uint8_t {
  kNever,      ///< `never`
  kToolTurns,  ///< `tool_turns`: that of messages with tool calls
  kAlways,     ///< `always`: all there is
  kRequired,   ///< `required`: every assistant message has the field, if only empty
  kDetails,    ///< `details`: the list `reasoning_details` as it came; without one as `always`
};

/// What a server does to hold an answer to a JSON Schema.
enum class SchemaFormat : std::uint8_t {
  kJsonSchema,  ///< `json_schema`: follows it
  kJsonObject,  ///< `json_object`: answers in JSON; the schema goes into the instructions
  kNone,        ///< `none`: nothing; the schema goes into the instructions
};

/// How tool call ids must look.
enum class CallIds : std::uint8_t {
  kShort,     ///< `short`: at most 40 characters
  kMistral9,  ///< `mistral9`: exactly nine letters and digits
};

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  /// Behind the base URL; `{model}` stands for the model's name.
  std::string path = "/chat/completions";
  std::string instruction_role = "system";      ///< or `developer`
  std::string max_tokens_field = "max_tokens";  ///< or `max_completion_tokens`
  bool stream_usage = true;                     ///< takes `stream_options`
  bool stop = true;                             ///< takes `stop`
  bool prompt_cache_key = false;                ///< takes one, to find the conversation's cache again
  bool strict_tools = false;                    ///< takes `strict` on tools whose schemas are fit for it
  std::string required_choice = "required";     ///< its word for "call some tool", or `any`
  bool forced_choice_thinking = true;  ///< false: refuses a forced tool choice while the model thinks
  SchemaFormat schema_format = SchemaFormat::kJsonSchema;

  EffortField effort_field = EffortField::kReasoningEffort;
  ThinkingSwitch thinking_switch = ThinkingSwitch::kNone;
  ReasoningEcho reasoning_echo = ReasoningEcho::kNever;
  /// In which field of a message reasoning goes back; empty: in the one it came in.
  std::string reasoning_field = {};
  bool think_tags = false;  ///< reasoning comes at the start of the text, between `<think>` and `</think>`

  CallIds call_ids = CallIds::kShort;
  bool result_names = false;          ///< tool results must name their tool
  bool assistant_after_tool = false;  ///< refuses a user message straight behind tool results
  bool document_url = false;          ///< takes files as `document_url` parts, and by URL too
  bool content_null = true;  ///< takes `"content": null` beside tool calls; else it is the empty text
  bool cache_marks = false;  ///< caches up to `cache_control` marks, as Anthropic's models do

  Json request = JsonObject{};  ///< further fields of every request
};

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::chat
