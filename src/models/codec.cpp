#include "models/codec.hpp"

namespace praxis {

Result<bool> tools_as_text(const CodecTarget& target) {
  const Json& flag = json_at(target.dialect, "tools");
  if (flag.is_null()) return !target.facts.tools;
  const std::string how = json_string(target.dialect, "tools");
  if (how == "native" || how == "text") return how == "text";
  return fail(ErrorCode::kInput, "\"dialect.tools\" must be \"native\" or \"text\"");
}

Result<CodecPtr> make_codec(std::string_view api, CodecTarget target) {
  if (const auto as_text = tools_as_text(target); !as_text) return fail(as_text.error());
  if (JsonObject* flags = target.dialect.if_object())
    flags->erase("tools");  // handled here; codecs do not know the flag
  if (api == "chat") return chat_codec(std::move(target));
  if (api == "responses") return responses_codec(std::move(target));
  if (api == "messages") return messages_codec(std::move(target));
  if (api == "gemini") return gemini_codec(std::move(target));
  if (api == "ollama") return ollama_codec(std::move(target));
  return fail(ErrorCode::kInput, "api \"" + std::string(api) +
                                     "\" is unknown; known are chat, responses, messages, gemini and ollama");
}

}  // namespace praxis
