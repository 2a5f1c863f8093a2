#include "models/wire/gemini/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/request_writer.hpp"
#include "praxis/base/base64.hpp"

namespace praxis::wire::gemini {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CodecTarget target_of(Json dialect = nullptr, ModelFacts facts = {}) {
  return {
      .provider = "google", .model = "gemini-3", .dialect = std::move(dialect), .facts = std::move(facts)};
}

ModelRequest request_of(const std::vector<Message>& messages) {
  ModelRequest request;
  request.history = normalise(messages).history;
  return request;
}

Json sent(const ModelRequest& request, Json dialect = nullptr, ModelFacts facts = {}) {
  RequestWriter writer(gemini_codec(target_of(std::move(dialect), std::move(facts))).value());
  return parse_json(*writer.write(request)).value();
}

std::string contents_of(const std::vector<Message>& messages, Json dialect = nullptr) {
  const Json body = sent(request_of(messages), std::move(dialect));
  return to_json_text(json_at(body, "contents"));
}

std::string config_of(const ModelOptions& options, Json dialect = nullptr, ModelFacts facts = {}) {
  ModelRequest request = request_of({text_message(Role::kUser, "Hi")});
  request.options = options;
  const Json body = sent(request, std::move(dialect), std::move(facts));
  return to_json_text(json_at(body, "generationConfig"));
}

VendorStatePtr own(std::string raw, std::string model = "gemini-3") {
  return std::make_shared<const VendorState>(VendorState{"google", std::move(model), std::move(raw)});
}

Message assistant(std::vector<Part> parts) {
  Message message;
  message.role = Role::kAssistant;
  message.parts = std::move(parts);
  return message;
}

std::shared_ptr<const std::vector<ToolDefinition>> tools_named_f() {
  ToolDefinition tool;
  tool.name = "f";
  return std::make_shared<const std::vector<ToolDefinition>>(1, std::move(tool));
}

Message results(std::vector<Part> parts) {
  Message message;
  message.role = Role::kTool;
  message.parts = std::move(parts);
  return message;
}

const Message kAsk = text_message(Role::kUser, "Go");
constexpr std::string_view kAsked = R"([{"role":"user","parts":[{"text":"Go"}]},)";

ToolCallPart call(const char* id, const char* name, VendorStatePtr state = nullptr) {
  return {.id = CallId(id), .name = name, .arguments = R"({"x":1})", .vendor = std::move(state)};
}
ToolResultPart result(const char* id, const char* name, const char* text) {
  return {.id = CallId(id), .name = name, .text = text};
}

TEST(GeminiPath, Path_NamesTheModelOnceAndNoKey) {
  EXPECT_EQ(request_path("gemini-3", false), "/models/gemini-3:generateContent");
  EXPECT_EQ(request_path("models/gemini-3", true), "/models/gemini-3:streamGenerateContent?alt=sse");
  EXPECT_EQ(request_path("tunedModels/mine", false), "/tunedModels/mine:generateContent");
}

TEST(GeminiRequest, Instructions_AreSeparateAndMessagesOfOneRoleAreJoined) {
  ModelRequest request = request_of({text_message(Role::kSystem, "Be kind."), text_message(Role::kUser, "A"),
                                     text_message(Role::kUser, "B"), text_message(Role::kAssistant, "C"),
                                     text_message(Role::kUser, "D")});
  request.instructions = "Be brief.";
  EXPECT_EQ(to_json_text(sent(request)),
            R"({"systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Be kind."}]},)"
            R"("contents":[{"role":"user","parts":[{"text":"A"},{"text":"B"}]},)"
            R"({"role":"model","parts":[{"text":"C"}]},{"role":"user","parts":[{"text":"D"}]}]})");
}

TEST(GeminiRequest, DeveloperMessageFollowsTheAgentsInstructions) {
  ModelRequest request =
      request_of({text_message(Role::kDeveloper, "Be kind."), text_message(Role::kUser, "A")});
  request.instructions = "Be brief.";
  EXPECT_EQ(to_json_text(sent(request)),
            R"({"systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Be kind."}]},)"
            R"("contents":[{"role":"user","parts":[{"text":"A"}]}]})");
}

TEST(GeminiRequest, Conversation_StartsAndEndsWithAUserTurn) {
  constexpr std::string_view go_on = R"({"role":"user","parts":[{"text":"Continue."}]})";
  EXPECT_EQ(contents_of({}), "[" + std::string(go_on) + "]");
  EXPECT_EQ(
      contents_of({text_message(Role::kAssistant, "Hm")}),
      "[" + std::string(go_on) + R"(,{"role":"model","parts":[{"text":"Hm"}]},)" + std::string(go_on) + "]");
}

TEST(GeminiRequest, OwnParts_AreSentBackUnchanged) {
  EXPECT_EQ(
      contents_of({kAsk,
                   assistant({ReasoningPart{"", "Hm", own(R"({"thoughtSignature":"t"})")},
                              ReasoningPart{"", "unsigned", nullptr}, TextPart{"a"},
                              TextPart{"b", own(R"({"thoughtSignature":"s"})")},
                              TextPart{"", own(R"({"thoughtSignature":"e"})")},
                              OpaquePart{"executableCode", own(R"({"executableCode":{"code":"1"}})")},
                              call("c1", "f", own(R"({"id":"w1","thoughtSignature":"c"})")),
                              call("c2", "3d", own("{}"))}),
                   results({result("c1", "f", "one"), result("c2", "3d", "two")})}),
      std::string(kAsked) +
          R"({"role":"model","parts":[{"text":"Hm","thought":true,"thoughtSignature":"t"},{"text":"a"},)"
          R"({"text":"b","thoughtSignature":"s"},{"text":"","thoughtSignature":"e"},)"
          R"({"executableCode":{"code":"1"}},)"
          R"({"functionCall":{"id":"w1","name":"f","args":{"x":1}},"thoughtSignature":"c"},)"
          R"({"functionCall":{"name":"_3d","args":{"x":1}}}]},)"
          R"({"role":"user","parts":[)"
          R"({"functionResponse":{"id":"w1","name":"f","response":{"output":"one"}}},)"
          R"({"functionResponse":{"name":"_3d","response":{"output":"two"}}}]}])");
}

TEST(GeminiRequest, OtherModelsParts_KeepTheNeutralFieldsOnly) {
  const auto other = [](const char* raw) { return own(raw, "gemini-2"); };
  const std::vector<Message> messages{
      kAsk,
      assistant({ReasoningPart{"", "Hm", other(R"({"thoughtSignature":"t"})")},
                 TextPart{"b", other(R"({"thoughtSignature":"s"})")},
                 TextPart{"", other(R"({"thoughtSignature":"e"})")},
                 OpaquePart{"code", other(R"({"code":1})")},
                 call("c1", "f", other(R"({"id":"w1","thoughtSignature":"c"})")), call("c2", "f")}),
      results({result("c1", "", "1"), result("c2", "f", "2")})};
  const std::string rest = R"({"functionCall":{"name":"f","args":{"x":1}}}]},{"role":"user","parts":[)"
                           R"({"functionResponse":{"name":"f","response":{"output":"1"}}},)"
                           R"({"functionResponse":{"name":"f","response":{"output":"2"}}}]}])";
  const std::string first =
      std::string(kAsked) +
      R"({"role":"model","parts":[{"text":"b"},{"functionCall":{"name":"f","args":{"x":1}})";
  EXPECT_EQ(contents_of(messages),
            first + R"(,"thoughtSignature":"skip_thought_signature_validator"},)" + rest);
  EXPECT_EQ(contents_of(messages, JsonObject{{"requires_signatures", false}}), first + "}," + rest);
}

TEST(GeminiRequest, EmptyParts_AreOmitted) {
  EXPECT_EQ(
      contents_of({kAsk, assistant({ReasoningPart{"", "Hm", nullptr}}), text_message(Role::kUser, "So?")}),
      R"([{"role":"user","parts":[{"text":"Go"},{"text":"So?"}]}])");
}

TEST(GeminiRequest, MediaOfResults_AreSentWhereTheModelAcceptsThem) {
  ToolResultPart shot = result("c1", "shoot", "done");
  shot.status = ToolStatus::kError;
  shot.images.push_back(ImagePart{{"image/png", "px", ""}, nullptr});
  shot.files.push_back(FilePart{{"application/pdf", "", "https://x.example/a.pdf"}, "a.pdf", nullptr});
  const std::vector<Message> messages{kAsk, assistant({call("c1", "shoot", own("{}"))}), results({shot}),
                                      text_message(Role::kUser, "And?")};
  const std::string image =
      R"({"inlineData":{"mimeType":"image/png","data":")" + base64_encode("px") + "\"}}";
  const std::string file =
      R"({"fileData":{"mimeType":"application/pdf","fileUri":"https://x.example/a.pdf"}})";
  const std::string response = R"({"functionResponse":{"name":"shoot","response":{"error":"done"})";
  EXPECT_THAT(contents_of(messages), HasSubstr(response + R"(,"parts":[)" + image + "," + file +
                                               R"(]}}]},{"role":"user","parts":[{"text":"And?"}]}])"));
  EXPECT_THAT(contents_of(messages, JsonObject{{"media_results", false}}),
              HasSubstr(response + R"(}}]},{"role":"user","parts":[)" +
                        R"({"text":"Images and files in the result of shoot:"},)" + image + "," + file +
                        R"(,{"text":"And?"}]}])"));
}

TEST(GeminiRequest, NextStep_ExtendsTheBytesOfThePrevious) {
  RequestWriter writer(gemini_codec(target_of()).value());
  const std::vector<Message> all{kAsk, assistant({call("c1", "f", own(R"({"id":"w1"})"))}),
                                 results({result("c1", "f", "1")}), text_message(Role::kAssistant, "Done"),
                                 text_message(Role::kUser, "More")};
  std::string last;
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
    const ModelRequest request = request_of({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)});
    RequestWriter fresh(gemini_codec(target_of()).value());
    const std::string body = *fresh.write(request);
    EXPECT_EQ(*writer.write(request), body);
    EXPECT_THAT(body, StartsWith(last));
    last = body.substr(0, body.size() - std::string_view("]}]}").size());
  }
}

// ---- settings ---------------------------------------------------------------------------------------------

TEST(GeminiRequest, SettingsAndExtraFields_AreMerged) {
  ModelRequest request = request_of({kAsk});
  request.tools = tools_named_f();
  request.options.temperature = 0.5;
  request.options.max_output_tokens = 100;
  request.options.stop = {"END"};
  request.options.tool_choice = "f";
  request.options.extra = parse_json(R"({"safetySettings":[],"contents":[],"tools":[{"googleSearch":{}}],
                     "generationConfig":{"topP":0.9,"temperature":0}})")
                              .value();
  const Json body = sent(request);
  EXPECT_EQ(to_json_text(json_at(body, "tools")),
            R"([{"functionDeclarations":[{"name":"f","description":""}]},{"googleSearch":{}}])");
  EXPECT_EQ(to_json_text(json_at(body, "toolConfig")),
            R"({"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}})");
  EXPECT_EQ(to_json_text(json_at(body, "generationConfig")),
            R"({"maxOutputTokens":100,"temperature":0,"stopSequences":["END"],"topP":0.9})");
  EXPECT_EQ(to_json_text(json_at(body, "contents")), R"([{"role":"user","parts":[{"text":"Go"}]}])");
}

TEST(GeminiRequest, UnsupportedTemperature_IsOmitted) {
  ModelOptions options;
  options.temperature = 1;
  EXPECT_EQ(config_of(options, nullptr, {.temperature = false}), "null");
}

TEST(GeminiRequest, Thinking_IsRequestedByLevelOrBudget) {
  struct Row {
    std::string effort;
    Json dialect;
    ModelFacts facts;
    std::string expected;
  };
  const Json budget = JsonObject{{"thinking", "budget"}}, none = JsonObject{{"thinking", "none"}};
  const auto offering = [](std::string level) {
    return ModelFacts{.reasoning = true, .reasoning_levels = {{"low", std::move(level)}}};
  };
  for (const Row& row : {
           Row{"", nullptr, {}, "null"},
           Row{"", nullptr, {.reasoning = true}, R"({"includeThoughts":true})"},
           Row{"high", nullptr, {}, R"({"includeThoughts":true,"thinkingLevel":"HIGH"})"},
           Row{"off", nullptr, {}, R"({"includeThoughts":true,"thinkingLevel":"MINIMAL"})"},
           Row{"low", nullptr, offering("medium"), R"({"includeThoughts":true,"thinkingLevel":"MEDIUM"})"},
           Row{"low", nullptr, offering(""), R"({"includeThoughts":true})"},
           Row{"low", budget, {}, R"({"includeThoughts":true,"thinkingBudget":1024})"},
           Row{"low", budget, offering("-1"), R"({"includeThoughts":true,"thinkingBudget":-1})"},
           Row{"off", budget, {}, R"({"includeThoughts":false,"thinkingBudget":0})"},
           Row{"high", none, {.reasoning = true}, "null"},
       }) {
    ModelOptions options;
    options.reasoning_effort = row.effort;
    const std::string config = config_of(options, row.dialect, row.facts);
    const Json parsed = parse_json(config).value();
    EXPECT_EQ(to_json_text(json_at(parsed, "thinkingConfig")), row.expected) << row.effort;
  }
}

TEST(GeminiRequest, OutputSchema_IsSentAccordingToTheDialect) {
  ModelRequest request = request_of({kAsk});
  request.options.output_schema = parse_json(R"({"type":"object","properties":{"a":{"const":"b"}}})").value();
  EXPECT_EQ(config_of(request.options), R"({"responseMimeType":"application/json","responseJsonSchema":)"
                                        R"({"type":"object","properties":{"a":{"enum":["b"]}}}})");
  EXPECT_THAT(config_of(request.options, JsonObject{{"json_schema", false}}),
              HasSubstr(R"("responseSchema":{"type":"OBJECT")"));

  request.tools = tools_named_f();
  EXPECT_THAT(to_json_text(sent(request)), HasSubstr("responseJsonSchema"));
  const std::string asked = to_json_text(sent(request, JsonObject{{"schema_with_tools", false}}));
  EXPECT_THAT(asked, Not(HasSubstr("generationConfig")));
  EXPECT_THAT(asked, HasSubstr(R"({"systemInstruction":{"parts":[{"text":"Answer with JSON alone)"));
}

TEST(GeminiDialect, UnknownFlagOrWrongValue_IsReported) {
  const auto refusal = [](Json dialect) {
    const auto codec = gemini_codec(target_of(std::move(dialect)));
    return codec ? "none" : codec.error().message;
  };
  EXPECT_EQ(refusal(nullptr), "none");
  EXPECT_THAT(refusal(JsonObject{{"speed", 1}}), HasSubstr("\"dialect.speed\""));
  EXPECT_THAT(refusal(JsonObject{{"thinking", "much"}}),
              HasSubstr(R"("dialect.thinking" must be one of "level", "budget", "none")"));
  EXPECT_THAT(refusal(JsonObject{{"media_results", "no"}}),
              HasSubstr("\"dialect.media_results\" must be true or false"));
  EXPECT_EQ(refusal("fast"), "\"dialect\" must be an object");
}

}  // namespace
}  // namespace praxis::wire::gemini
