#include "models/wire/anthropic/request.hpp"

#include <gtest/gtest.h>

#include "models/request_writer.hpp"
#include "models/testing/messages.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::wire::messages {
namespace {

VendorStatePtr state(std::string raw, std::string model = "m") {
  return std::make_shared<const VendorState>(VendorState{"anthropic", std::move(model), std::move(raw)});
}

ToolCallPart call(std::string id, std::string arguments) {
  return {CallId(std::move(id)), "add", std::move(arguments), true, nullptr};
}

ToolResultPart result(std::string id, std::string text) {
  return {CallId(std::move(id)), "add", ToolStatus::kOk, std::move(text)};
}

ImagePart png() { return {{"image/png", "\x89PNG", ""}, nullptr}; }

ModelRequest request_of(const std::vector<Message>& messages) {
  ModelRequest request;
  request.history = normalise(messages).history;
  return request;
}

ModelRequest ask() { return request_of({text_message(Role::kUser, "hi")}); }

/// Without cache marks, because most tests are not about them.
CodecTarget target(JsonObject dialect = {}, ModelFacts facts = {}) {
  if (!dialect.contains("cache_marks")) dialect["cache_marks"] = "none";
  return {.provider = "anthropic", .model = "m", .dialect = std::move(dialect), .facts = std::move(facts)};
}

std::string text_of(const ModelRequest& request, const CodecTarget& target) {
  RequestWriter writer(messages_codec(target).value());
  return *writer.write(request);
}

Json body_of(const ModelRequest& request, const CodecTarget& whom = target()) {
  return parse_json(text_of(request, whom)).value();
}

std::string field(const ModelRequest& request, std::string_view name, const CodecTarget& whom = target()) {
  const Json body = body_of(request, whom);
  return to_json_text(json_at(body, name));
}

std::string messages_of(const std::vector<Message>& messages, const CodecTarget& whom = target()) {
  return field(request_of(messages), "messages", whom);
}

std::string user(std::string_view text) {
  return R"({"role":"user","content":[{"type":"text","text":")" + std::string(text) + R"("}]})";
}

ModelRequest with_tools(ModelRequest request) {
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
      {.name = "add", .description = "Adds", .parameters = JsonObject{{"type", "object"}}},
      {.name = "now", .description = "", .parameters = nullptr}});
  return request;
}

ModelFacts thinker(std::map<std::string, std::string> levels = {}) {
  return {.max_output = 32'000, .reasoning = true, .reasoning_levels = std::move(levels)};
}

TEST(MessagesRequest, MinimalRequest_HasTheRequiredFieldsOnly) {
  ModelRequest request = ask();
  EXPECT_EQ(text_of(request, target()),
            R"({"model":"m","max_tokens":8192,"stream":true,"messages":[)" + user("hi") + "]}");
  request.stream = false;
  request.options.max_output_tokens = 10;
  EXPECT_EQ(text_of(request, target()), R"({"model":"m","max_tokens":10,"messages":[)" + user("hi") + "]}");
}

TEST(MessagesRequest, MaxTokens_DefaultToTheModelThenTheDialect) {
  ModelRequest request = ask();
  EXPECT_EQ(field(request, "max_tokens", target({{"max_tokens", 100}})), "100");
  EXPECT_EQ(field(request, "max_tokens", target({{"max_tokens", 100}}, {.max_output = 200})), "200");
  request.options.max_output_tokens = 300;
  EXPECT_EQ(field(request, "max_tokens", target({{"max_tokens", 100}}, {.max_output = 200})), "300");
}

TEST(MessagesRequest, SettingsAndExtraFields_AreSent) {
  ModelRequest request = ask();
  request.options.temperature = 0.5;
  request.options.stop = {"END", "STOP"};
  request.options.extra = JsonObject{{"service_tier", "auto"}, {"messages", 1}};
  EXPECT_EQ(field(request, "temperature"), "0.5");
  EXPECT_EQ(field(request, "temperature", target({}, {.temperature = false})), "null");
  EXPECT_EQ(field(request, "stop_sequences"), R"(["END","STOP"])");
  EXPECT_EQ(field(request, "service_tier"), R"("auto")");
  EXPECT_EQ(field(request, "messages"), "[" + user("hi") + "]");
}

TEST(MessagesRequest, Instructions_AreInTheHead) {
  ModelRequest request =
      request_of({text_message(Role::kSystem, "Be brief."), text_message(Role::kUser, "hi")});
  request.instructions = "You add.";
  EXPECT_EQ(field(request, "system"),
            R"([{"type":"text","text":"You add."},{"type":"text","text":"Be brief."}])");
  EXPECT_EQ(field(request, "messages"), "[" + user("hi") + "]");
}

TEST(MessagesRequest, DeveloperMessageFollowsTheAgentsInstructions) {
  ModelRequest request =
      request_of({text_message(Role::kDeveloper, "Mine."), text_message(Role::kUser, "hi")});
  request.instructions = "You add.";
  EXPECT_EQ(field(request, "system"),
            R"([{"type":"text","text":"You add."},{"type":"text","text":"Mine."}])");
}

TEST(MessagesRequest, ToolsAndToolChoice_AreSent) {
  ModelRequest request = with_tools(ask());
  EXPECT_EQ(field(request, "tools"),
            R"([{"name":"add","description":"Adds","input_schema":{"type":"object"}},)"
            R"({"name":"now","input_schema":{"type":"object","properties":{}}}])");
  const std::vector<std::pair<std::string, std::string>> choices{{"", "null"},
                                                                 {"auto", R"({"type":"auto"})"},
                                                                 {"none", R"({"type":"none"})"},
                                                                 {"required", R"({"type":"any"})"},
                                                                 {"add", R"({"type":"tool","name":"add"})"}};
  for (const auto& [choice, expected] : choices) {
    request.options.tool_choice = choice;
    EXPECT_EQ(field(request, "tool_choice"), expected) << choice;
  }
}

TEST(MessagesRequest, AdaptiveThinking_IsSetByEffort) {
  const CodecTarget whom =
      target({{"adaptive_thinking", true}}, thinker({{"xhigh", ""}, {"max", "max"}, {"low", "lowest"}}));
  const std::string on = R"({"type":"adaptive","display":"summarized"})";
  const std::vector<std::array<std::string, 3>> cases{{"", "null", "null"},
                                                      {"off", R"({"type":"disabled"})", "null"},
                                                      {"minimal", on, R"({"effort":"lowest"})"},
                                                      {"low", on, R"({"effort":"lowest"})"},
                                                      {"high", on, R"({"effort":"high"})"},
                                                      {"xhigh", on, R"({"effort":"high"})"},
                                                      {"max", on, R"({"effort":"max"})"}};
  for (const auto& [effort, thinking, output] : cases) {
    ModelRequest request = ask();
    request.options.reasoning_effort = effort;
    EXPECT_EQ(field(request, "thinking", whom), thinking) << effort;
    EXPECT_EQ(field(request, "output_config", whom), output) << effort;
  }
}

TEST(MessagesRequest, ThinkingByBudget_LeavesRoomForTheAnswer) {
  ModelRequest request = ask();
  request.options.reasoning_effort = "medium";
  request.options.temperature = 0.5;
  EXPECT_EQ(field(request, "thinking", target({}, thinker())), R"({"type":"enabled","budget_tokens":10240})");
  EXPECT_EQ(field(request, "temperature", target({}, thinker())), "null");
  request.options.max_output_tokens = 4096;
  EXPECT_EQ(field(request, "thinking", target({}, thinker())), R"({"type":"enabled","budget_tokens":3072})");
  request.options.max_output_tokens = 2047;
  EXPECT_EQ(field(request, "thinking", target({}, thinker())), "null");
  EXPECT_EQ(field(request, "temperature", target({}, thinker())), "0.5");
}

TEST(MessagesRequest, ForcedChoice_TurnsThinkingOffOrBecomesAuto) {
  ModelRequest request = with_tools(ask());
  request.options.tool_choice = "required";
  request.options.reasoning_effort = "high";
  const CodecTarget by_effort = target({{"adaptive_thinking", true}}, thinker());
  EXPECT_EQ(field(request, "thinking", by_effort), R"({"type":"disabled"})");
  EXPECT_EQ(field(request, "tool_choice", by_effort), R"({"type":"any"})");
  EXPECT_EQ(field(request, "thinking", target({}, thinker())), "null");
  const CodecTarget always = target({{"adaptive_thinking", true}}, thinker({{"off", ""}}));
  EXPECT_EQ(field(request, "thinking", always), R"({"type":"adaptive","display":"summarized"})");
  EXPECT_EQ(field(request, "tool_choice", always), R"({"type":"auto"})");
}

TEST(MessagesRequest, ModelThatAlwaysThinks_GetsTheLowestEffortForOff) {
  ModelRequest request = ask();
  const CodecTarget always =
      target({{"adaptive_thinking", true}, {"thinking_display", ""}}, thinker({{"off", ""}}));
  EXPECT_EQ(field(request, "thinking", always), R"({"type":"adaptive"})");
  EXPECT_EQ(field(request, "output_config", always), "null");
  request.options.reasoning_effort = "off";
  EXPECT_EQ(field(request, "output_config", always), R"({"effort":"low"})");
}

TEST(MessagesRequest, OutputSchema_IsASettingOrAnInstruction) {
  ModelRequest request = ask();
  request.options.output_schema = JsonObject{{"type", "object"}};
  EXPECT_EQ(field(request, "output_config", target({}, {.structured_output = true})),
            R"({"format":{"type":"json_schema","schema":{"type":"object"}}})");
  EXPECT_EQ(field(request, "output_config"), "null");
  EXPECT_TRUE(field(request, "system").contains(R"({\"type\":\"object\"})"));
}

TEST(MessagesRequest, CacheMarks_AreOnToolsInstructionsAndTheNewestBlock) {
  ModelRequest request = with_tools(ask());
  request.instructions = "You add.";
  const std::string mark = R"("cache_control":{"type":"ephemeral"})";
  const CodecTarget automatic = target({{"cache_marks", "automatic"}});
  EXPECT_EQ(field(request, "cache_control", automatic), R"({"type":"ephemeral"})");
  EXPECT_EQ(field(request, "system", automatic), R"([{"type":"text","text":"You add.",)" + mark + "}]");
  EXPECT_TRUE(field(request, "tools", automatic).ends_with("," + mark + "}]"));
  EXPECT_EQ(field(request, "messages", automatic), "[" + user("hi") + "]");
  EXPECT_FALSE(
      field(request, "tools", target({{"cache_marks", "automatic"}, {"cache_tools", false}})).contains(mark));

  const CodecTarget newest = target({{"cache_marks", "newest"}});
  EXPECT_EQ(field(request, "cache_control", newest), "null");
  EXPECT_EQ(field(request, "messages", newest),
            R"([{"role":"user","content":[{"type":"text","text":"hi",)" + mark + "}]}]");
  EXPECT_FALSE(text_of(request, target()).contains("cache_control"));
}

TEST(MessagesRequest, ToolsWithQualifyingSchemas_AreStrict) {
  const auto is_strict = [](std::string_view schema) {
    ModelRequest request = ask();
    request.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
        {.name = "f", .description = "", .parameters = parse_json(schema).value()}});
    const Json body = body_of(request, target({{"strict_tools", true}}));
    return json_bool(json_at(body, "tools").get_array().front(), "strict");
  };
  EXPECT_TRUE(is_strict(
      R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false})"));
  EXPECT_FALSE(is_strict(R"({"type":"object","properties":{}})"));
  EXPECT_FALSE(is_strict(
      R"({"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false})"));
  EXPECT_FALSE(is_strict(
      R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"],"additionalProperties":false})"));
  EXPECT_FALSE(is_strict(R"({"type":"object","anyOf":[],"additionalProperties":false})"));
  const auto optional = [](int count) {
    JsonObject properties;
    for (int i = 0; i < count; ++i) properties["p" + std::to_string(i)] = JsonObject{{"type", "string"}};
    return to_json_text(
        JsonObject{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}});
  };
  EXPECT_TRUE(is_strict(optional(23)));
  EXPECT_FALSE(is_strict(optional(24)));
}

TEST(MessagesRequest, StrictMode_IsDroppedAfterTheVendorRefusedIt) {
  ModelRequest request = ask();
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
      {.name = "f",
       .description = "",
       .parameters = JsonObject{{"type", "object"}, {"additionalProperties", false}}}});
  EXPECT_TRUE(text_of(request, target({{"strict_tools", true}})).contains("strict"));
  request.non_strict = true;
  EXPECT_FALSE(text_of(request, target({{"strict_tools", true}})).contains("strict"));
}

TEST(MessagesRequest, Results_PrecedeTheTextOfTheSameMessage) {
  ToolResultPart failed = result("b", "broken");
  failed.status = ToolStatus::kError;
  failed.images = {png()};
  ToolResultPart shown = result("c", "see");
  shown.images = {png()};
  EXPECT_EQ(
      messages_of({text_message(Role::kUser, "go"),
                   message_of(Role::kAssistant, {call("a", R"({"x": 1})"), call("b", ""), call("c", "[2]")}),
                   message_of(Role::kTool, {result("a", "1"), failed, shown}),
                   text_message(Role::kUser, "and?")}),
      "[" + user("go") +
          R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"add","input":{"x":1}},)"
          R"({"type":"tool_use","id":"b","name":"add","input":{}},)"
          R"({"type":"tool_use","id":"c","name":"add","input":{"arguments":"[2]"}}]},)"
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},)"
          R"({"type":"tool_result","tool_use_id":"b","content":"broken","is_error":true},)"
          R"({"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"see"},)"
          R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}}]},)"
          R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}},)"
          R"({"type":"text","text":"and?"}]}])");
}

TEST(MessagesRequest, OwnParts_AreSentBackUnchanged) {
  const Message turn = message_of(
      Role::kAssistant, {ReasoningPart{"hm", "", state(R"({"signature":"s="})")},
                         ReasoningPart{"", "", state(R"({"type":"redacted_thinking","data":"d"})")},
                         TextPart{"As said ", state(R"({"citations":[{"x":1.0}]})"), {}},
                         OpaquePart{"server_tool_use", state(R"({"type":"server_tool_use","z":1.0})")}});
  RequestWriter writer(messages_codec(target()).value());
  EXPECT_TRUE(
      writer.write(request_of({text_message(Role::kUser, "q"), turn}))
          ->ends_with(
              R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s="},)"
              R"({"type":"redacted_thinking","data":"d"},)"
              R"({"type":"text","citations":[{"x":1.0}],"text":"As said "},)"
              R"({"type":"server_tool_use","z":1.0}]}]})"));
}

TEST(MessagesRequest, OtherModelsParts_AreSentAsTextOrOmitted) {
  const Message turn = message_of(
      Role::kAssistant,
      {ReasoningPart{"hm", "", state(R"({"signature":"s"})", "other")},
       ReasoningPart{"never signed", "", nullptr}, OpaquePart{"server_tool_use", state("{}", "other")},
       RefusalPart{"No.", nullptr}, TextPart{"As said", state(R"({"citations":[]})", "other"), {}}});
  EXPECT_EQ(
      messages_of({text_message(Role::kUser, "q"), turn}),
      "[" + user("q") +
          R"(,{"role":"assistant","content":[{"type":"text","text":"No."},{"type":"text","text":"As said"}]}])");
}

TEST(MessagesRequest, UnsignedThinking_IsSentOnlyToServersThatDoNotSign) {
  const std::vector<Message> messages{
      text_message(Role::kUser, "q"),
      message_of(Role::kAssistant, {ReasoningPart{"hm", "", state("{}")}, TextPart{"a"}})};
  EXPECT_FALSE(messages_of(messages).contains("thinking"));
  EXPECT_TRUE(messages_of(messages, target({{"empty_signatures", true}}))
                  .contains(R"({"type":"thinking","thinking":"hm","signature":""})"));
}

TEST(MessagesRequest, Compaction_IsFirstOrSentAsItsSummary) {
  const auto turn = [](std::string model) {
    return message_of(
        Role::kAssistant,
        {CompactionPart{"so far", state(R"({"type":"compaction","content":"so far"})", std::move(model))}});
  };
  EXPECT_EQ(
      messages_of({turn("m"), text_message(Role::kUser, "q")}),
      R"([{"role":"assistant","content":[{"type":"compaction","content":"so far"}]},)" + user("q") + "]");
  EXPECT_EQ(messages_of({turn("other"), text_message(Role::kUser, "q")}),
            "[" + user("The conversation so far is left out.") +
                R"(,{"role":"assistant","content":[{"type":"text","text":"so far"}]},)" + user("q") + "]");
}

TEST(MessagesRequest, Blocks_AreNotBlankAndTheLastDoesNotEndInSpace) {
  const std::vector<Message> messages{
      message_of(Role::kUser, {TextPart{" \n"}, TextPart{"q"}}),
      message_of(Role::kAssistant, {TextPart{"a \n"}, TextPart{""}, ReasoningPart{"x", "", nullptr}})};
  const std::string answered =
      "[" + user("q") + R"(,{"role":"assistant","content":[{"type":"text","text":"a)";
  EXPECT_EQ(messages_of(messages), answered + R"("}]}])");
  std::vector<Message> more = messages;
  more.push_back(text_message(Role::kUser, "on"));
  EXPECT_EQ(messages_of(more), answered + R"( \n"}]},)" + user("on") + "]");
}

TEST(MessagesRequest, Files_AreSentAsDocuments) {
  const auto sent = [](MediaSource source) {
    const Json body =
        body_of(request_of({message_of(Role::kUser, {FilePart{std::move(source), "n", nullptr}})}));
    return to_json_text(
        json_at(json_at(body, "messages").get_array().front(), "content").get_array().front());
  };
  EXPECT_EQ(
      sent({"application/pdf", "%PDF", ""}),
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"title":"n"})");
  EXPECT_EQ(sent({"application/pdf", "", "https://x.test/a"}),
            R"({"type":"document","source":{"type":"url","url":"https://x.test/a"},"title":"n"})");
  EXPECT_EQ(
      sent({"text/csv", "a,b", ""}),
      R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b"},"title":"n"})");
  EXPECT_EQ(sent({"application/zip", "\xff\xfe", ""}),
            R"({"type":"text","text":"[the file n of type application/zip, which cannot be read]"})");
}

TEST(MessagesRequest, InvalidCallIds_AreReplaced) {
  const std::string odd = "call:1|x";
  const std::vector<Message> messages{text_message(Role::kUser, "q"),
                                      message_of(Role::kAssistant, {call(odd, ""), call("toolu_A-1", "")}),
                                      message_of(Role::kTool, {result(odd, "1"), result("toolu_A-1", "2")})};
  const std::string sent = messages_of(messages);
  EXPECT_TRUE(sent.contains(R"("id":"toolu_A-1")"));
  EXPECT_FALSE(sent.contains(odd));
  const std::size_t at = sent.find(R"("id":"call_)") + 6;
  const std::string id = sent.substr(at, sent.find('"', at) - at);
  EXPECT_LE(id.size(), 64u);
  EXPECT_TRUE(sent.contains(R"("tool_use_id":")" + id + '"'));
}

TEST(MessagesRequest, NextRequest_ExtendsTheBytesOfThePrevious) {
  for (const char* marks : {"automatic", "newest", "none"}) {
    RequestWriter writer(messages_codec(target({{"cache_marks", marks}})).value());
    HistoryBuilder builder;
    std::string before;
    for (const Message& next : std::vector<Message>{
             text_message(Role::kUser, "q"),
             message_of(Role::kAssistant, {TextPart{"wait \n"}, call("a", "{}")}),
             message_of(Role::kTool, {result("a", "1")}), text_message(Role::kUser, "more"),
             message_of(Role::kAssistant, {TextPart{"so\n"}}), text_message(Role::kUser, "end")}) {
      builder.push(std::make_shared<const Message>(next));
      ModelRequest request;
      request.history = builder.history();
      const std::string body = *writer.write(request);
      ASSERT_TRUE(parse_json(body)) << body;
      EXPECT_EQ(body,
                *RequestWriter(messages_codec(target({{"cache_marks", marks}})).value()).write(request));
      // Only the tail may differ: the mark, and the closing brackets.
      const std::size_t tail = before.find_last_not_of("]}\"");
      if (!before.empty() && std::string_view(marks) != "newest") {
        EXPECT_TRUE(body.starts_with(before.substr(0, tail + 1))) << body;
      }
      before = body;
    }
  }
}

TEST(MessagesCodec, PathHeadersAndBody_FollowTheDialect) {
  ModelRequest request = ask();
  request.session = SessionId("s1");
  const auto plain = messages_codec(target()).value();
  EXPECT_EQ(plain->path(true), "/v1/messages");
  EXPECT_EQ(plain->headers(request), (HttpHeaders{{"anthropic-version", "2023-06-01"}}));
  const CodecTarget cloud = target({{"path", "/models/{model}:rawPredict"},
                                    {"stream_path", "/models/{model}:streamRawPredict"},
                                    {"version", ""},
                                    {"body_version", "cloud-1"},
                                    {"betas", JsonArray{"a-1", "b-2"}},
                                    {"session_header", "x-session"},
                                    {"compaction_edit", "compact_1"}});
  const auto other = messages_codec(cloud).value();
  EXPECT_EQ(other->path(true), "/models/m:streamRawPredict");
  EXPECT_EQ(other->path(false), "/models/m:rawPredict");
  EXPECT_EQ(other->headers(request), (HttpHeaders{{"anthropic-beta", "a-1,b-2"}, {"x-session", "s1"}}));
  EXPECT_EQ(field(request, "model", cloud), "null");
  EXPECT_EQ(field(request, "anthropic_version", cloud), R"("cloud-1")");
  EXPECT_EQ(field(request, "context_management", cloud), R"({"edits":[{"type":"compact_1"}]})");
}

TEST(MessagesCodec, Compaction_IsRequestedWithItsBetaBelowTheWindow) {
  CodecTarget window = target(
      {{"betas", JsonArray{"a-1"}}, {"compaction_edit", "compact_1"}, {"compaction_beta", "compact-b"}});
  const auto edit = [&](std::int64_t tokens) {
    window.facts.context_window = tokens;
    return field(ask(), "context_management", window);
  };
  EXPECT_EQ(edit(200'000),
            R"({"edits":[{"type":"compact_1","trigger":{"type":"input_tokens","value":160000}}]})");
  EXPECT_TRUE(edit(8'000).contains(R"("value":50000)")) << "less is refused";
  EXPECT_TRUE(messages_codec(window).value()->compacts());
  EXPECT_EQ(messages_codec(window).value()->headers(ask())[1].second, "a-1,compact-b");
  const auto none = messages_codec(target({{"compaction_beta", "compact-b"}})).value();
  EXPECT_FALSE(none->compacts());
  EXPECT_EQ(none->headers(ask()), (HttpHeaders{{"anthropic-version", "2023-06-01"}}));
}

TEST(MessagesCodec, UnknownFlagOrWrongType_IsAnError) {
  const std::vector<std::pair<JsonObject, std::string>> cases{
      {{{"adaptive", true}}, R"(unknown key "dialect.adaptive"; known are path, stream_path)"},
      {{{"adaptive_thinking", 1}}, R"("dialect.adaptive_thinking" must be true or false)"},
      {{{"path", 1}}, R"("dialect.path" must be a string)"},
      {{{"betas", "a"}}, R"("dialect.betas" must be an array)"},
      {{{"betas", JsonArray{1}}}, R"("dialect.betas[0]" must be a string)"},
      {{{"max_tokens", 0}}, R"("dialect.max_tokens" must be an integer from 1 to )"},
      {{{"cache_marks", "some"}}, R"("dialect.cache_marks" must be one of "automatic", "newest", "none")"}};
  for (const auto& [flags, message] : cases) {
    const auto codec = messages_codec({.provider = "p", .model = "m", .dialect = flags, .facts = {}});
    ASSERT_FALSE(codec) << message;
    EXPECT_EQ(codec.error().code, ErrorCode::kInput);
    EXPECT_TRUE(codec.error().message.starts_with(message)) << codec.error().message;
  }
}

}  // namespace
}  // namespace praxis::wire::messages
