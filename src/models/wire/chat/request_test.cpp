#include "models/wire/chat/request.hpp"

#include <gtest/gtest.h>

#include "models/request_writer.hpp"
#include "models/testing/messages.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

ToolCallPart call(std::string id, std::string arguments) {
  return {CallId(std::move(id)), "add", std::move(arguments), true, nullptr};
}

ToolResultPart result(std::string id, std::string text, std::vector<ImagePart> images = {}) {
  return {CallId(std::move(id)), "add", ToolStatus::kOk, std::move(text), std::move(images)};
}

ImagePart png_image() { return {{"image/png_image", "\x89PNG", ""}, nullptr}; }

ModelRequest request_of(const std::vector<Message>& messages) {
  ModelRequest request;
  request.history = normalise(messages).history;
  return request;
}

const Dialect kOpenAiDialect{.instruction_role = "developer", .max_tokens_field = "max_completion_tokens"};
const Dialect kCompatible;

RequestWriter writer_of(const std::string& model, const Dialect& dialect) {
  return RequestWriter(chat_codec({.provider = "openai",
                                   .model = model,
                                   .dialect = JsonObject{{"instruction_role", dialect.instruction_role},
                                                         {"max_tokens_field", dialect.max_tokens_field}},
                                   .facts = {}})
                           .value());
}

Json body_of(const ModelRequest& request, const Dialect& dialect = kOpenAiDialect) {
  RequestWriter writer = writer_of("gpt-x", dialect);
  return parse_json(*writer.write(request)).value();
}

std::string messages_of(const ModelRequest& request, const Dialect& dialect = kOpenAiDialect) {
  return to_json_text(json_at(body_of(request, dialect), "messages"));
}

TEST(ChatRequest, Settings_UseTheDialectsNames) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.options.temperature = 0.5;
  request.options.max_output_tokens = 100;
  request.options.reasoning_effort = "low";
  EXPECT_EQ(
      to_json_text(body_of(request)),
      R"({"model":"gpt-x","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,)"
      R"("max_completion_tokens":100,"reasoning_effort":"low","messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(json_int(body_of(request, kCompatible), "max_tokens"), 100);
}

TEST(ChatRequest, RequestWithoutStreaming_HasNoStreamOptions) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.stream = false;
  EXPECT_EQ(to_json_text(body_of(request)),
            R"({"model":"gpt-x","messages":[{"role":"user","content":"hi"}]})");
}

TEST(ChatRequest, ExtraSettings_OverrideOthersButNotTheMessages) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.options.temperature = 1;
  request.options.extra = JsonObject{{"temperature", 0}, {"seed", 7}, {"messages", JsonArray{}}};
  const Json body = body_of(request);
  EXPECT_EQ(json_int(body, "temperature", -1), 0);
  EXPECT_EQ(json_int(body, "seed"), 7);
  EXPECT_EQ(json_at(body, "messages").as_array().size(), 1U);
}

TEST(ChatRequest, Instructions_ComeFirstInTheDialectsRole) {
  ModelRequest request =
      request_of({text_message(Role::kSystem, "house rules"), text_message(Role::kUser, "hi")});
  request.instructions = "be brief";
  EXPECT_EQ(messages_of(request),
            R"([{"role":"developer","content":"be brief"},)"
            R"({"role":"developer","content":"house rules"},{"role":"user","content":"hi"}])");
  EXPECT_EQ(messages_of(request, kCompatible),
            R"([{"role":"system","content":"be brief"},{"role":"system","content":"house rules"},)"
            R"({"role":"user","content":"hi"}])");
}

TEST(ChatRequest, DeveloperMessage_ReplacesTheInstructions) {
  ModelRequest request =
      request_of({text_message(Role::kDeveloper, "mine"), text_message(Role::kUser, "hi")});
  request.instructions = "be brief";
  EXPECT_EQ(messages_of(request),
            R"([{"role":"developer","content":"mine"},{"role":"user","content":"hi"}])");
}

TEST(ChatRequest, Tools_AreDeclaredAndChosen) {
  ToolDefinition add;
  add.name = "add";
  add.description = "Adds.";
  add.parameters = JsonObject{{"type", "object"}};
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.options.tool_choice = "add";
  EXPECT_TRUE(json_at(body_of(request), "tool_choice").is_null()) << "a choice without tools is refused";
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(1, add);
  const Json body = body_of(request);
  EXPECT_EQ(
      to_json_text(json_at(body, "tools")),
      R"([{"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object"}}}])");
  EXPECT_EQ(to_json_text(json_at(body, "tool_choice")), R"({"type":"function","function":{"name":"add"}})");
  request.options.tool_choice = "required";
  EXPECT_EQ(json_string(body_of(request), "tool_choice"), "required");
}

/// The settings for `options` with these flags and facts.
Json settings(const ModelOptions& options, JsonObject flags, ModelFacts facts = {}) {
  RequestWriter writer(
      chat_codec({.provider = "p", .model = "m", .dialect = std::move(flags), .facts = std::move(facts)})
          .value());
  ToolDefinition add;
  add.name = "add";
  add.parameters = parse_json(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],)"
                              R"("additionalProperties":false})")
                       .value();
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.stream = false;
  request.session = SessionId("s1");
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(1, add);
  request.options = options;
  return parse_json(*writer.write(request)).value();
}

TEST(ChatRequest, ReasoningEffort_IsSentAccordingToTheDialect) {
  struct Case {
    JsonObject flags;
    std::string_view low, off;
  };
  const std::vector<Case> cases{
      {{}, R"({"reasoning_effort":"low"})", R"({"reasoning_effort":"none"})"},
      {{{"effort_field", "reasoning"}},
       R"({"reasoning":{"effort":"low"}})",
       R"({"reasoning":{"effort":"none"}})"},
      {{{"thinking_switch", "thinking"}},
       R"({"thinking":{"type":"enabled"},"reasoning_effort":"low"})",
       R"({"thinking":{"type":"disabled"}})"},
      {{{"thinking_switch", "thinking"}, {"effort_field", "none"}},
       R"({"thinking":{"type":"enabled"}})",
       R"({"thinking":{"type":"disabled"}})"},
      {{{"thinking_switch", "enable_thinking"}, {"effort_field", "none"}},
       R"({"enable_thinking":true})",
       R"({"enable_thinking":false})"},
      {{{"thinking_switch", "reasoning"}, {"effort_field", "none"}},
       R"({"reasoning":{"enabled":true}})",
       R"({"reasoning":{"enabled":false}})"},
      {{{"thinking_switch", "chat_template_kwargs"}, {"effort_field", "none"}},
       R"({"chat_template_kwargs":{"enable_thinking":true}})",
       R"({"chat_template_kwargs":{"enable_thinking":false}})"},
  };
  const auto said = [](const Json& body) {
    JsonObject out;
    for (const auto& [name, value] : body.as_object()) {
      if (name != "model" && name != "messages" && name != "tools") out[name] = value;
    }
    return to_json_text(out);
  };
  for (const Case& c : cases) {
    ModelOptions options;
    EXPECT_EQ(said(settings(options, c.flags)), "{}");
    options.reasoning_effort = "low";
    EXPECT_EQ(said(settings(options, c.flags)), c.low);
    options.reasoning_effort = "off";
    EXPECT_EQ(said(settings(options, c.flags)), c.off);
  }
}

TEST(ChatRequest, ReasoningLevels_AreTheModels) {
  ModelFacts facts;
  facts.reasoning_levels = {{"off", ""}, {"high", "max"}};
  const auto effort = [&](std::string level) {
    ModelOptions options;
    options.reasoning_effort = std::move(level);
    return json_string(settings(options, {}, facts), "reasoning_effort", "unsaid");
  };
  EXPECT_EQ(effort("high"), "max");
  EXPECT_EQ(effort("low"), "low");
  EXPECT_EQ(effort("off"), "unsaid") << "not offered";
}

TEST(ChatRequest, ForcedChoice_IsDroppedOnlyForRequestedThinking) {
  const JsonObject flags{{"thinking_switch", "thinking"}, {"forced_choice_thinking", false}};
  const auto body = [&](std::string choice, std::string effort) {
    ModelOptions options;
    options.tool_choice = std::move(choice);
    options.reasoning_effort = std::move(effort);
    const Json all = settings(options, flags);
    return json_string(json_at(all, "thinking"), "type") + ' ' + to_json_text(json_at(all, "tool_choice"));
  };
  EXPECT_EQ(body("required", ""), "disabled \"required\"");
  EXPECT_EQ(body("required", "off"), "disabled \"required\"");
  EXPECT_EQ(body("required", "high"), "enabled null");
  EXPECT_EQ(body("auto", "high"), "enabled \"auto\"");
  EXPECT_EQ(body("auto", ""), " \"auto\"");
}

TEST(ChatRequest, RequiredChoice_UsesTheDialectsWord) {
  ModelOptions options;
  options.tool_choice = "required";
  EXPECT_EQ(json_string(settings(options, {{"required_choice", "any"}}), "tool_choice"), "any");
}

TEST(ChatRequest, UnsupportedSettings_AreOmitted) {
  ModelOptions options;
  options.temperature = 0.5;
  options.stop = {"x", "y"};
  ModelFacts fixed;
  fixed.temperature = false;
  EXPECT_EQ(to_json_text(json_at(settings(options, {}), "stop")), R"(["x","y"])");
  EXPECT_TRUE(json_at(settings(options, {{"stop", false}}), "stop").is_null());
  EXPECT_EQ(json_double(settings(options, {}), "temperature"), 0.5);
  EXPECT_TRUE(json_at(settings(options, {}, fixed), "temperature").is_null());
  EXPECT_TRUE(json_at(settings(options, {}), "prompt_cache_key").is_null());
  EXPECT_EQ(json_string(settings(options, {{"prompt_cache_key", true}}), "prompt_cache_key"), "s1");
  const Json body =
      parse_json(
          *RequestWriter(
               chat_codec({.provider = "p", .model = "m", .dialect = JsonObject{{"stream_usage", false}}})
                   .value())
               .write(request_of({text_message(Role::kUser, "hi")})))
          .value();
  EXPECT_TRUE(json_bool(body, "stream"));
  EXPECT_TRUE(json_at(body, "stream_options").is_null());
}

TEST(ChatRequest, CallersFields_OverrideTheDialectsFields) {
  ModelOptions options;
  options.extra = JsonObject{{"seed", 2}};
  const Json body = settings(options, {{"request", JsonObject{{"seed", 1}, {"tool_stream", true}}}});
  EXPECT_EQ(json_int(body, "seed"), 2);
  EXPECT_TRUE(json_bool(body, "tool_stream"));
}

TEST(ChatRequest, ToolsWithClosedSchemas_AreStrict) {
  const auto strict = [](const Json& body) {
    return to_json_text(json_at(json_at(json_at(body, "tools").as_array().at(0), "function"), "strict"));
  };
  EXPECT_EQ(strict(settings({}, {})), "null");
  EXPECT_EQ(strict(settings({}, {{"strict_tools", true}})), "true");
}

TEST(ChatRequest, StrictMode_IsDroppedAfterTheVendorRefusedIt) {
  RequestWriter writer(chat_codec({.provider = "openai",
                                   .model = "gpt-x",
                                   .dialect = JsonObject{{"strict_tools", true}},
                                   .facts = {}})
                           .value());
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
      {.name = "f",
       .description = "F.",
       .parameters =
           JsonObject{{"type", "object"}, {"properties", JsonObject{}}, {"additionalProperties", false}}}});
  EXPECT_TRUE(writer.write(request)->contains("strict"));
  request.non_strict = true;
  EXPECT_FALSE(writer.write(request)->contains("strict"));
}

TEST(ChatRequest, OutputSchema_IsASettingOrAnInstruction) {
  ModelOptions options;
  options.output_schema = JsonObject{{"type", "object"}};
  const Json strict = settings(options, {});
  EXPECT_EQ(to_json_text(json_at(strict, "response_format")),
            R"({"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}})");
  EXPECT_EQ(json_at(strict, "messages").as_array().size(), 1U);
  for (const auto* format : {"json_object", "none"}) {
    const Json body = settings(options, {{"schema_format", format}});
    EXPECT_EQ(json_string(json_at(body, "response_format"), "type", "none"), format);
    const Json& first = json_at(body, "messages").as_array().at(0);
    EXPECT_EQ(json_string(first, "role"), "system");
    EXPECT_TRUE(json_string(first, "content").ends_with(R"({"type":"object"})"));
  }
}

TEST(ChatRequest, CallsAndResults_AreInOrder) {
  const auto request =
      request_of({text_message(Role::kUser, "1+2, 3+4"),
                  message_of(Role::kAssistant,
                             {ReasoningPart{"hm", "", nullptr}, call("a", R"({"x": 1})"), call("b", "null")}),
                  message_of(Role::kTool, {result("a", "3"), result("b", "7")})});
  EXPECT_EQ(
      messages_of(request),
      R"([{"role":"user","content":"1+2, 3+4"},)"
      R"({"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"add","arguments":"{\"x\": 1}"}},)"
      R"({"id":"b","type":"function","function":{"name":"add","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"3"},{"role":"tool","tool_call_id":"b","content":"7"}])");
}

TEST(ChatRequest, ImagesOfResults_FollowAfterAllResults) {
  const auto request = request_of(
      {text_message(Role::kUser, "look"), message_of(Role::kAssistant, {call("a", "{}"), call("b", "{}")}),
       message_of(Role::kTool, {result("a", "seen", {png_image()}), result("b", "7")})});
  const Json messages = json_at(body_of(request), "messages");
  ASSERT_EQ(messages.as_array().size(), 5U);
  EXPECT_EQ(to_json_text(messages.as_array()[4]),
            R"({"role":"user","content":[{"type":"text","text":"From the result of add (a):"},)"
            R"({"type":"image_url","image_url":{"url":"data:image/png_image;base64,iVBORw=="}}]})");
}

TEST(ChatRequest, Media_IsSentAsDataUrlOrLink) {
  const FilePart pdf{{"application/pdf", "%PDF", ""}, "a.pdf", nullptr};
  const FilePart link{{"application/pdf", "", "https://example.com/b.pdf"}, "b.pdf", nullptr};
  const ImagePart remote{{"image/png_image", "", "https://example.com/c.png"}, nullptr};
  const auto request = request_of({message_of(Role::kUser, {TextPart{"read", nullptr}, pdf, link, remote})});
  EXPECT_EQ(
      messages_of(request),
      R"([{"role":"user","content":[{"type":"text","text":"read"},)"
      R"({"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERg==","filename":"a.pdf"}},)"
      R"({"type":"text","text":"File b.pdf: https://example.com/b.pdf"},)"
      R"({"type":"image_url","image_url":{"url":"https://example.com/c.png"}}]}])");
}

TEST(ChatRequest, InvalidUtf8_IsRepaired) {
  EXPECT_EQ(messages_of(request_of({text_message(Role::kUser, "a\xFF")})),
            "[{\"role\":\"user\",\"content\":\"a\xEF\xBF\xBD\"}]");
}

/// A conversation of `steps` exchanges, built like a session does: earlier messages stay the same objects.
HistoryBuilder conversation(int steps) {
  HistoryBuilder builder;
  for (int i = 0; i < steps; ++i) {
    builder.push(std::make_shared<Message>(text_message(Role::kUser, "question")));
    builder.push(std::make_shared<Message>(text_message(Role::kAssistant, "answer")));
  }
  builder.push(std::make_shared<Message>(text_message(Role::kUser, "last")));
  return builder;
}

TEST(ChatRequest, NextStep_ExtendsTheBytesOfThePrevious) {
  HistoryBuilder builder = conversation(3);
  RequestWriter writer = writer_of("gpt-x", kOpenAiDialect);
  ModelRequest request;
  request.instructions = "be brief";
  request.history = builder.history();
  const std::string first = *writer.write(request);
  builder.push(std::make_shared<Message>(text_message(Role::kAssistant, "more")));
  builder.push(std::make_shared<Message>(text_message(Role::kUser, "and?")));
  request.history = builder.history();
  const std::string second = *writer.write(request);
  EXPECT_TRUE(second.starts_with(first.substr(0, first.size() - 2)));
  EXPECT_EQ(second, *writer_of("gpt-x", kOpenAiDialect).write(request));
}

TEST(ChatRequest, BodyInUse_IsNeverModified) {
  HistoryBuilder builder = conversation(1);
  RequestWriter writer = writer_of("gpt-x", kOpenAiDialect);
  ModelRequest request;
  request.history = builder.history();
  const auto held = writer.write(request);
  const std::string before = *held;
  builder.push(std::make_shared<Message>(text_message(Role::kAssistant, "more")));
  request.history = builder.history();
  const auto next = writer.write(request);
  EXPECT_EQ(*held, before);
  EXPECT_EQ(*next, *writer_of("gpt-x", kOpenAiDialect).write(request));
}

TEST(ChatRequest, ChangedRequest_HasTheSameBodyAsAFreshWriter) {
  const std::vector<std::function<void(ModelRequest&)>> changes{
      [](ModelRequest& r) { r.instructions = "other"; },
      [](ModelRequest& r) { r.options.temperature = 0.1; },
      [](ModelRequest& r) { r.stream = false; },
      [](ModelRequest& r) { r.history = conversation(1).history(); },
      [](ModelRequest& r) { r.history = conversation(5).history(); },
      [](ModelRequest& r) { r.tools = std::make_shared<const std::vector<ToolDefinition>>(1); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RequestWriter writer = writer_of("gpt-x", kOpenAiDialect);
    ModelRequest request;
    request.history = conversation(3).history();
    writer.write(request);
    changes[i](request);
    EXPECT_EQ(*writer.write(request), *writer_of("gpt-x", kOpenAiDialect).write(request)) << i;
  }
}

TEST(ChatRequest, Writer_KnowsTheCallsOfItsConversation) {
  RequestWriter writer = writer_of("gpt-x", kOpenAiDialect);
  writer.write(request_of({text_message(Role::kUser, "go"), message_of(Role::kAssistant, {call("a", "{}")}),
                           message_of(Role::kTool, {result("a", "3")})}));
  EXPECT_TRUE(writer.knows_call("a"));
  EXPECT_FALSE(writer.knows_call("b"));
}

}  // namespace
}  // namespace praxis::wire::chat
