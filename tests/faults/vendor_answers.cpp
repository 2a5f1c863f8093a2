#include "vendor_answers.hpp"

#include <utility>

#include "praxis/json/json.hpp"

namespace praxis::faults::endpoint {
namespace {

using Pieces = std::vector<std::string>;

/// Splits the text into pieces, cut between characters.
Pieces pieces_of(const std::string& text, Random& random, std::size_t most = 4) {
  Pieces pieces(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && pieces.size() < most && random.once_in(12)) pieces.emplace_back();
    pieces.back() += text[i];
  }
  return pieces;
}

std::string named_event(const Json& data) {
  return "event: " + json_string(data, "type") + "\ndata: " + to_json_text(data) + "\n\n";
}
std::string bare_event(const Json& data) { return "data: " + to_json_text(data) + "\n\n"; }
std::string line_event(const Json& data) { return to_json_text(data) + "\n"; }

WireAnswer whole(const Json& data) { return {{to_json_text(data)}, 0, "application/json"}; }

Json parsed(const std::string& text) { return parse_json(text).value(); }

// ---- Chat Completions

Json chat_choice(const char* field, Json message, const Json& finish) {
  return JsonArray{JsonObject{{"index", 0}, {field, std::move(message)}, {"finish_reason", finish}}};
}

Json chat_chunk(Json choices) {
  return JsonObject{
      {"id", "c1"}, {"object", "chat.completion.chunk"}, {"model", "m"}, {"choices", std::move(choices)}};
}

Json chat_usage() { return JsonObject{{"prompt_tokens", 7}, {"completion_tokens", 2}}; }

Json chat_call(const std::string& name, const std::string& arguments) {
  return JsonObject{{"index", 0},
                    {"id", "call_1"},
                    {"type", "function"},
                    {"function", JsonObject{{"name", name}, {"arguments", arguments}}}};
}

WireAnswer chat_whole(const Words& words) {
  JsonObject message{{"role", "assistant"}, {"content", words.text}};
  if (!words.tool.empty()) message["tool_calls"] = JsonArray{chat_call(words.tool, words.arguments)};
  return whole(JsonObject{
      {"id", "c1"},
      {"model", "m"},
      {"choices", chat_choice("message", std::move(message), words.tool.empty() ? "stop" : "tool_calls")},
      {"usage", chat_usage()}});
}

WireAnswer chat_stream(const Words& words, Random& random) {
  WireAnswer out{{}, 0, "text/event-stream"};
  const auto delta = [&](JsonObject what) {
    out.events.push_back(bare_event(chat_chunk(chat_choice("delta", std::move(what), nullptr))));
  };
  for (const std::string& piece : pieces_of(words.text, random, words.most_pieces))
    delta({{"content", piece}});
  if (!words.tool.empty()) {
    delta({{"tool_calls", JsonArray{chat_call(words.tool, "")}}});
    for (const std::string& piece : pieces_of(words.arguments, random)) {
      delta({{"tool_calls",
              JsonArray{JsonObject{{"index", 0}, {"function", JsonObject{{"arguments", piece}}}}}}});
    }
  }
  out.last = out.events.size();
  out.events.push_back(
      bare_event(chat_chunk(chat_choice("delta", JsonObject{}, words.tool.empty() ? "stop" : "tool_calls"))));
  out.events.push_back(bare_event(JsonObject{{"choices", JsonArray{}}, {"usage", chat_usage()}}));
  out.events.emplace_back("data: [DONE]\n\n");
  return out;
}

// ---- Responses

Json response_message(const std::string& text) {
  return JsonObject{{"id", "msg_1"},
                    {"type", "message"},
                    {"role", "assistant"},
                    {"status", "completed"},
                    {"content", JsonArray{JsonObject{
                                    {"type", "output_text"}, {"text", text}, {"annotations", JsonArray{}}}}}};
}

Json response_call(const Words& words, const char* status) {
  return JsonObject{{"id", "fc_1"},        {"type", "function_call"},
                    {"call_id", "call_1"}, {"name", words.tool},
                    {"status", status},    {"arguments", *status == 'c' ? words.arguments : ""}};
}

Json response_object(const Words& words) {
  JsonArray output{response_message(words.text)};
  if (!words.tool.empty()) output.push_back(response_call(words, "completed"));
  return JsonObject{{"id", "resp_1"},
                    {"object", "response"},
                    {"model", "m"},
                    {"status", "completed"},
                    {"output", std::move(output)},
                    {"usage", JsonObject{{"input_tokens", 7}, {"output_tokens", 2}, {"total_tokens", 9}}}};
}

WireAnswer responses_stream(const Words& words, Random& random) {
  WireAnswer out{{}, 0, "text/event-stream"};
  const auto say = [&](JsonObject data) {
    data["sequence_number"] = out.events.size();
    out.events.push_back(named_event(std::move(data)));
  };
  say({{"type", "response.created"},
       {"response", JsonObject{{"id", "resp_1"}, {"model", "m"}, {"status", "in_progress"}}}});
  say({{"type", "response.output_item.added"},
       {"output_index", 0},
       {"item",
        JsonObject{{"id", "msg_1"}, {"type", "message"}, {"role", "assistant"}, {"content", JsonArray{}}}}});
  for (const std::string& piece : pieces_of(words.text, random, words.most_pieces)) {
    say({{"type", "response.output_text.delta"},
         {"item_id", "msg_1"},
         {"output_index", 0},
         {"content_index", 0},
         {"delta", piece}});
  }
  say({{"type", "response.output_item.done"}, {"output_index", 0}, {"item", response_message(words.text)}});
  if (!words.tool.empty()) {
    say({{"type", "response.output_item.added"},
         {"output_index", 1},
         {"item", response_call(words, "in_progress")}});
    for (const std::string& piece : pieces_of(words.arguments, random)) {
      say({{"type", "response.function_call_arguments.delta"},
           {"item_id", "fc_1"},
           {"output_index", 1},
           {"delta", piece}});
    }
    say({{"type", "response.output_item.done"},
         {"output_index", 1},
         {"item", response_call(words, "completed")}});
  }
  out.last = out.events.size();
  say({{"type", "response.completed"}, {"response", response_object(words)}});
  return out;
}

// ---- Messages

Json messages_call(const Words& words, bool with_input) {
  return JsonObject{{"type", "tool_use"},
                    {"id", "toolu_1"},
                    {"name", words.tool},
                    {"input", with_input ? parsed(words.arguments) : Json(JsonObject{})}};
}

WireAnswer messages_whole(const Words& words) {
  JsonArray content{JsonObject{{"type", "text"}, {"text", words.text}}};
  if (!words.tool.empty()) content.push_back(messages_call(words, true));
  return whole(JsonObject{{"id", "msg_1"},
                          {"type", "message"},
                          {"role", "assistant"},
                          {"model", "m"},
                          {"content", std::move(content)},
                          {"stop_reason", words.tool.empty() ? "end_turn" : "tool_use"},
                          {"usage", JsonObject{{"input_tokens", 7}, {"output_tokens", 2}}}});
}

WireAnswer messages_stream(const Words& words, Random& random) {
  WireAnswer out{{}, 0, "text/event-stream"};
  const auto say = [&](Json data) { out.events.push_back(named_event(data)); };
  const auto block = [&](int index, Json begin, const char* kind, const char* field, const Pieces& pieces) {
    say(JsonObject{{"type", "content_block_start"}, {"index", index}, {"content_block", std::move(begin)}});
    for (const std::string& piece : pieces) {
      say(JsonObject{{"type", "content_block_delta"},
                     {"index", index},
                     {"delta", JsonObject{{"type", kind}, {field, piece}}}});
    }
    say(JsonObject{{"type", "content_block_stop"}, {"index", index}});
  };
  say(JsonObject{{"type", "message_start"},
                 {"message", JsonObject{{"id", "msg_1"},
                                        {"type", "message"},
                                        {"role", "assistant"},
                                        {"model", "m"},
                                        {"content", JsonArray{}},
                                        {"usage", JsonObject{{"input_tokens", 7}, {"output_tokens", 1}}}}}});
  block(0, JsonObject{{"type", "text"}, {"text", ""}}, "text_delta", "text",
        pieces_of(words.text, random, words.most_pieces));
  if (!words.tool.empty()) {
    block(1, messages_call(words, false), "input_json_delta", "partial_json",
          pieces_of(words.arguments, random));
  }
  out.last = out.events.size();
  say(JsonObject{{"type", "message_delta"},
                 {"delta", JsonObject{{"stop_reason", words.tool.empty() ? "end_turn" : "tool_use"}}},
                 {"usage", JsonObject{{"output_tokens", 2}}}});
  say(JsonObject{{"type", "message_stop"}});
  return out;
}

// ---- Gemini

Json gemini_object(JsonArray parts, bool last) {
  JsonObject candidate{{"index", 0}, {"content", JsonObject{{"role", "model"}, {"parts", std::move(parts)}}}};
  if (last) candidate["finishReason"] = "STOP";
  return JsonObject{{"responseId", "r1"},
                    {"modelVersion", "m"},
                    {"candidates", JsonArray{std::move(candidate)}},
                    {"usageMetadata", JsonObject{{"promptTokenCount", 7}, {"candidatesTokenCount", 2}}}};
}

Json gemini_text(const std::string& text) { return JsonObject{{"text", text}}; }

Json gemini_call(const Words& words) {
  return JsonObject{{"functionCall", JsonObject{{"name", words.tool}, {"args", parsed(words.arguments)}}}};
}

WireAnswer gemini_whole(const Words& words) {
  JsonArray parts{gemini_text(words.text)};
  if (!words.tool.empty()) parts.push_back(gemini_call(words));
  return whole(gemini_object(std::move(parts), true));
}

WireAnswer gemini_stream(const Words& words, Random& random) {
  WireAnswer out{{}, 0, "text/event-stream"};
  for (const std::string& piece : pieces_of(words.text, random, words.most_pieces)) {
    out.events.push_back(bare_event(gemini_object({gemini_text(piece)}, false)));
  }
  if (!words.tool.empty()) out.events.push_back(bare_event(gemini_object({gemini_call(words)}, false)));
  out.last = out.events.size();
  out.events.push_back(bare_event(gemini_object({gemini_text("")}, true)));
  return out;
}

// ---- Ollama

Json ollama_object(JsonObject message, bool done) {
  message["role"] = "assistant";
  JsonObject out{{"model", "m"}, {"message", std::move(message)}, {"done", done}};
  if (done) {
    out["done_reason"] = "stop";
    out["prompt_eval_count"] = 7;
    out["eval_count"] = 2;
  }
  return out;
}

Json ollama_calls(const Words& words) {
  return JsonArray{
      JsonObject{{"function", JsonObject{{"name", words.tool}, {"arguments", parsed(words.arguments)}}}}};
}

WireAnswer ollama_whole(const Words& words) {
  JsonObject message{{"content", words.text}};
  if (!words.tool.empty()) message["tool_calls"] = ollama_calls(words);
  return whole(ollama_object(std::move(message), true));
}

WireAnswer ollama_stream(const Words& words, Random& random) {
  WireAnswer out{{}, 0, "application/x-ndjson"};
  for (const std::string& piece : pieces_of(words.text, random, words.most_pieces)) {
    out.events.push_back(line_event(ollama_object({{"content", piece}}, false)));
  }
  if (!words.tool.empty()) {
    out.events.push_back(
        line_event(ollama_object({{"content", ""}, {"tool_calls", ollama_calls(words)}}, false)));
  }
  out.last = out.events.size();
  out.events.push_back(line_event(ollama_object({{"content", ""}}, true)));
  return out;
}

}  // namespace

std::string WireAnswer::body() const {
  std::string body;
  for (const std::string& event : events) body += event;
  return body;
}

std::size_t WireAnswer::complete_at() const {
  std::size_t size = 0;
  for (std::size_t i = 0; i <= last; ++i) size += events[i].size();
  // The line end after the last event may be missing.
  return size - (events[last].size() - events[last].find_last_not_of("\r\n") - 1);
}

WireAnswer wire_answer(std::string_view protocol, bool stream, const Words& words, Random& random) {
  if (protocol == "chat") return stream ? chat_stream(words, random) : chat_whole(words);
  if (protocol == "responses")
    return stream ? responses_stream(words, random) : whole(response_object(words));
  if (protocol == "messages") return stream ? messages_stream(words, random) : messages_whole(words);
  if (protocol == "gemini") return stream ? gemini_stream(words, random) : gemini_whole(words);
  return stream ? ollama_stream(words, random) : ollama_whole(words);
}

}  // namespace praxis::faults::endpoint
