#include "models/wire/responses/request.hpp"

#include <gtest/gtest.h>

#include "models/request_writer.hpp"
#include "models/testing/messages.hpp"
#include "models/wire/responses/items.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::responses {
namespace {

VendorStatePtr state(std::string raw, std::string model = "m") {
  return std::make_shared<const VendorState>(VendorState{"openai", std::move(model), std::move(raw)});
}

ToolCallPart call(std::string id, VendorStatePtr vendor = nullptr) {
  return {CallId(std::move(id)), "add", "{}", true, std::move(vendor)};
}
ToolResultPart result(std::string id, std::string text) {
  return {CallId(std::move(id)), "add", ToolStatus::kOk, std::move(text)};
}
ImagePart png() { return {{"image/png", "\x89PNG", ""}, nullptr}; }

ReasoningPart sealed(std::string_view next = R"(,"next":"fc_1")", std::string model = "m") {
  return {"", "Hm.",
          state(R"({"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"})" +
                    std::string(next) + "}",
                std::move(model))};
}
const std::string kSealed = R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"})";

ModelRequest request_of(const std::vector<Message>& messages) {
  ModelRequest request;
  request.history = normalise(messages).history;
  return request;
}

std::string write(const ModelRequest& request, Json dialect = nullptr, ModelFacts facts = {}) {
  RequestWriter writer(
      responses_codec(
          {.provider = "openai", .model = "m", .dialect = std::move(dialect), .facts = std::move(facts)})
          .value());
  return *writer.write(request);
}

Json body_of(const ModelRequest& request, Json dialect = nullptr, ModelFacts facts = {}) {
  return parse_json(write(request, std::move(dialect), std::move(facts))).value();
}

/// Items with their fields sorted by name.
std::string sorted(const std::string& items) {
  return to_canonical_json(parse_json("[" + items + "]").value());
}

/// The input items after the first, which the tests share.
std::string items_behind_hi(std::vector<Message> messages, Json dialect = nullptr) {
  messages.insert(messages.begin(), text_message(Role::kUser, "hi"));
  const std::string body = write(request_of(messages), std::move(dialect));
  const std::string first = R"("input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},)";
  const std::size_t at = body.find(first);
  if (at == std::string::npos) return "no greeting in " + body;
  return body.substr(at + first.size(), body.size() - at - first.size() - 2);
}

ModelFacts thinker() {
  ModelFacts facts;
  facts.reasoning = true;
  facts.temperature = false;
  facts.context_window = 200'000;
  facts.reasoning_levels = {{"max", "xhigh"}, {"minimal", ""}};
  return facts;
}

TEST(ResponsesRequest, Default_StoresNothingAtTheVendor) {
  EXPECT_EQ(write(request_of({text_message(Role::kUser, "hi")})),
            R"({"model":"m","stream":true,"store":false,)"
            R"("input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]})");
}

TEST(ResponsesRequest, Settings_FollowTheModelsFacts) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.stream = false;
  request.instructions = "be brief";
  request.session = SessionId("s1");
  request.agent = "a";
  request.options.temperature = 0.5;
  request.options.max_output_tokens = 3;
  request.options.stop = {"x"};
  request.options.reasoning_effort = "max";
  const Json body = body_of(request, JsonObject{{"reasoning_summary", "auto"}}, thinker());
  EXPECT_EQ(
      to_json_text(body),
      R"({"model":"m","store":false,"max_output_tokens":16,"reasoning":{"effort":"xhigh","summary":"auto"},)"
      R"("include":["reasoning.encrypted_content"],"prompt_cache_key":"s1:a","instructions":"be brief",)"
      R"("input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]})");
}

TEST(ResponsesRequest, ReasoningLevels_AreMappedOrOmitted) {
  const auto reasoning = [](std::string level, const Json& dialect = nullptr) {
    ModelRequest request = request_of({text_message(Role::kUser, "hi")});
    request.options.reasoning_effort = std::move(level);
    const Json body = body_of(request, dialect, thinker());
    return to_json_text(json_at(body, "reasoning"));
  };
  EXPECT_EQ(reasoning(""), "null");
  EXPECT_EQ(reasoning("minimal"), "null") << "not offered";
  EXPECT_EQ(reasoning("low"), R"({"effort":"low"})");
  const Json summaries = JsonObject{{"reasoning_summary", "auto"}};
  EXPECT_EQ(reasoning("off", summaries), R"({"effort":"none"})");
  EXPECT_EQ(reasoning("", summaries), R"({"summary":"auto"})");
}

TEST(ResponsesRequest, Dialect_ChangesTheFields) {
  ModelRequest request =
      request_of({text_message(Role::kDeveloper, "rules"), text_message(Role::kUser, "hi")});
  request.session = SessionId("s1");
  request.options.max_output_tokens = 100;
  const Json terse = body_of(request,
                             JsonObject{{"send_store", false},
                                        {"prompt_cache_key", false},
                                        {"max_output_tokens", false},
                                        {"developer_role", false},
                                        {"encrypted_reasoning", "never"}},
                             thinker());
  EXPECT_EQ(
      to_json_text(terse),
      R"({"model":"m","stream":true,"input":[{"role":"system","content":[{"type":"input_text","text":"rules"}]},)"
      R"({"role":"user","content":[{"type":"input_text","text":"hi"}]}]})");
  const Json full =
      body_of(request, JsonObject{{"encrypted_reasoning", "always"}, {"native_compaction", true}}, thinker());
  EXPECT_EQ(to_json_text(json_at(full, "include")), R"(["reasoning.encrypted_content"])");
  EXPECT_EQ(to_json_text(json_at(full, "context_management")),
            R"([{"type":"compaction","compact_threshold":160000}])");
}

TEST(ResponsesRequest, LongCacheKey_IsReplacedByItsDigest) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.session = SessionId(std::string(80, 's'));
  const Json body = body_of(request);
  EXPECT_EQ(json_text(body, "prompt_cache_key").size(), 64U);
}

TEST(ResponsesRequest, InvalidFlags_AreReportedByName) {
  const auto error = [](Json dialect) {
    const auto codec = responses_codec({.provider = "p", .model = "m", .dialect = std::move(dialect)});
    return codec ? "none" : codec.error().message;
  };
  EXPECT_EQ(error(JsonObject{{"strict_tool", true}}),
            "unknown key \"dialect.strict_tool\"; did you mean \"strict_tools\"?");
  EXPECT_EQ(error(JsonObject{{"strict_tools", 1}}), "\"dialect.strict_tools\" must be true or false");
  EXPECT_EQ(error(JsonObject{{"reasoning_summary", true}}), "\"dialect.reasoning_summary\" must be a string");
  EXPECT_EQ(error(JsonObject{{"encrypted_reasoning", "maybe"}}),
            R"("dialect.encrypted_reasoning" must be one of "reasoning_models", "always", "never")");
  EXPECT_EQ(error(JsonArray{}), "\"dialect\" must be an object");
}

TEST(ResponsesRequest, ExtraSettings_OverrideOthersButNotTheInput) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.options.extra = JsonObject{{"store", true}, {"service_tier", "flex"}, {"input", JsonArray{}}};
  EXPECT_EQ(write(request), R"({"model":"m","stream":true,"store":true,"service_tier":"flex",)"
                            R"("input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]})");
}

const std::string kOpenSchema = R"({"type":"object","properties":{"a":{"type":"string"}}})";
const std::string kClosedSchema =
    R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false})";

TEST(ResponsesRequest, Tools_AreStrictOnlyIfRequestedAndPossible) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
      {.name = "f", .description = "F.", .parameters = parse_json(kClosedSchema).value()},
      {.name = "g", .description = "G.", .parameters = parse_json(kOpenSchema).value()}});
  request.options.tool_choice = "f";
  const auto tools = [&](bool strict) {
    const Json body = body_of(request, JsonObject{{"strict_tools", strict}});
    return to_json_text(json_at(body, "tools")) + to_json_text(json_at(body, "tool_choice"));
  };
  EXPECT_EQ(tools(true),
            R"([{"type":"function","name":"f","description":"F.","parameters":)" + kClosedSchema +
                R"(,"strict":true},{"type":"function","name":"g","description":"G.","parameters":)" +
                kOpenSchema + R"(,"strict":false}]{"type":"function","name":"f"})");
  EXPECT_FALSE(tools(false).contains("true"));
  request.non_strict = true;
  EXPECT_FALSE(tools(true).contains("true")) << "the vendor refused it";
}

TEST(ResponsesRequest, OutputSchemas_AreStrictWhenTheyQualify) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.options.output_schema = parse_json(kClosedSchema).value();
  const Json body = body_of(request);
  EXPECT_EQ(
      to_json_text(json_at(body, "text")),
      R"({"format":{"type":"json_schema","name":"answer","schema":)" + kClosedSchema + R"(,"strict":true}})");
}

TEST(ResponsesItems, OwnTurn_IsSentBackUnchanged) {
  EXPECT_EQ(
      items_behind_hi(
          {message_of(
               Role::kAssistant,
               {OpaquePart{"web_search_call", state(R"({"type":"web_search_call","id":"ws_1"})")},
                TextPart{"a",
                         state(R"({"item":{"id":"msg_1","phase":"commentary"},"part":{"annotations":[1]}})")},
                RefusalPart{"no", state(R"({"item":{"id":"msg_1","phase":"commentary"},"part":{}})")},
                sealed(), call("c1", state(R"({"item":{"id":"fc_1","namespace":"n"}})"))}),
           message_of(Role::kTool, {result("c1", "3")})}),
      R"({"type":"web_search_call","id":"ws_1"},)"
      R"({"id":"msg_1","phase":"commentary","type":"message","role":"assistant","content":[)"
      R"({"type":"output_text","text":"a","annotations":[1]},{"type":"refusal","refusal":"no"}],"status":"completed"},)" +
          kSealed +
          R"(,{"id":"fc_1","namespace":"n","type":"function_call","call_id":"c1","name":"add","arguments":"{}"},)"
          R"({"type":"function_call_output","call_id":"c1","output":"3"})");
}

TEST(ResponsesItems, OtherModelsTurn_IsSentWithoutReasoningAndIds) {
  EXPECT_EQ(items_behind_hi(
                {message_of(Role::kAssistant, {sealed("", "other"), OpaquePart{"x", state("{}", "other")},
                                               TextPart{"a", state(R"({"item":{"id":"msg_1"}})", "other")},
                                               CompactionPart{"before", state("{}", "other")},
                                               call("c1", state(R"({"item":{"id":"fc_1"}})", "other"))}),
                 message_of(Role::kTool, {result("c1", "3")})}),
            R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},)"
            R"({"type":"output_text","text":"before"}]},)"
            R"({"type":"function_call","call_id":"c1","name":"add","arguments":"{}"},)"
            R"({"type":"function_call_output","call_id":"c1","output":"3"})");
}

TEST(ResponsesItems, Reasoning_IsSentBackOnlyBeforeItsOriginalSuccessor) {
  const auto turn = [](ReasoningPart thought, Json dialect = nullptr) {
    std::string items = items_behind_hi(
        {message_of(Role::kAssistant, {std::move(thought), call("c1", state(R"({"item":{"id":"fc_1"}})"))}),
         message_of(Role::kTool, {result("c1", "3")})},
        std::move(dialect));
    return items.substr(0, items.find(R"(,{"type":"function_call_output")"));
  };
  const std::string with_id =
      R"({"id":"fc_1","type":"function_call","call_id":"c1","name":"add","arguments":"{}"})";
  const std::string bare = R"({"type":"function_call","call_id":"c1","name":"add","arguments":"{}"})";
  EXPECT_EQ(turn(sealed()), kSealed + "," + with_id);
  EXPECT_EQ(turn(sealed("")), kSealed + "," + with_id) << "nothing is known of what follows";
  EXPECT_EQ(sorted(turn(sealed(R"(,"next":"fc_0")"))), sorted(bare)) << "the call it preceded is gone";
  EXPECT_EQ(sorted(turn(sealed(R"(,"next":null)"))), sorted(bare)) << "what it preceded never came";
  EXPECT_EQ(sorted(turn(sealed(), JsonObject{{"item_ids", false}})), sorted(kSealed + "," + bare));

  const ReasoningPart plain{"", "Hm.", state(R"({"item":{"type":"reasoning","id":"rs_1","summary":[]}})")};
  EXPECT_EQ(sorted(turn(plain)), sorted(bare));
  EXPECT_EQ(turn(plain, JsonObject{{"plain_reasoning", true}}),
            R"({"type":"reasoning","id":"rs_1","summary":[]},)" + with_id);
}

TEST(ResponsesItems, ModelsCompaction_ReplacesAllEarlierItems) {
  const std::string item = R"({"type":"compaction","id":"cmp_1","encrypted_content":"E"})";
  std::vector<Message> messages{
      text_message(Role::kUser, "hi"),
      message_of(Role::kAssistant, {sealed(""), CompactionPart{"", state(item)}, TextPart{"a"}}),
      text_message(Role::kUser, "go on")};
  const std::string body = write(request_of(messages));
  EXPECT_TRUE(body.ends_with(
      R"("input":[)" + item +
      R"(,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},)"
      R"({"role":"user","content":[{"type":"input_text","text":"go on"}]}]})"))
      << body;
}

TEST(ResponsesItems, Media_AreSentWhereTheServerAcceptsThem) {
  EXPECT_EQ(
      items_behind_hi({message_of(Role::kUser, {png(), ImagePart{{"", "", "https://x/y.png"}, nullptr},
                                                FilePart{{"application/pdf", "%PDF", ""}, "a.pdf", nullptr},
                                                FilePart{{"", "", "https://x/b.pdf"}, "b.pdf", nullptr}})}),
      R"({"role":"user","content":[)"
      R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw=="},)"
      R"({"type":"input_image","detail":"auto","image_url":"https://x/y.png"},)"
      R"({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="},)"
      R"({"type":"input_file","file_url":"https://x/b.pdf"}]})");

  ToolResultPart shot = result("c1", "see");
  shot.images.push_back(png());
  const auto behind_call = [&](Json dialect) {
    const std::string items = items_behind_hi(
        {message_of(Role::kAssistant, {call("c1")}), message_of(Role::kTool, {shot})}, std::move(dialect));
    return items.substr(items.find("},") + 2);
  };
  const std::string image =
      R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw=="})";
  EXPECT_EQ(behind_call(nullptr), R"({"type":"function_call_output","call_id":"c1","output":[)"
                                  R"({"type":"input_text","text":"see"},)" +
                                      image + "]}");
  EXPECT_EQ(behind_call(JsonObject{{"media_in_results", false}}),
            R"({"type":"function_call_output","call_id":"c1","output":"see"},)"
            R"({"role":"user","content":[{"type":"input_text","text":"In the result of add (c1):"},)" +
                image + "]}");
}

TEST(ResponsesItems, OnlyInvalidCallIds_AreReplaced) {
  EXPECT_EQ(wire_id(CallId("functions.add:0")), "functions.add:0");
  for (const auto& odd : {std::string(65, 'a'), std::string("a b"), std::string("\xC3\xA9")}) {
    EXPECT_EQ(wire_id(CallId(odd)).size(), 37U) << odd;
    EXPECT_EQ(wire_id(CallId(odd)), wire_id(CallId(odd)));
  }
}

TEST(ResponsesItems, NextRequest_ExtendsTheBytesOfThePrevious) {
  const std::vector<Message> messages{
      text_message(Role::kUser, "hi"),
      message_of(Role::kAssistant, {sealed(), call("c1", state(R"({"item":{"id":"fc_1"}})"))}),
      message_of(Role::kTool, {result("c1", "3")})};
  const std::string last = write(request_of({messages.front()}));
  const std::string next = write(request_of(messages));
  EXPECT_TRUE(next.starts_with(last.substr(0, last.size() - 2)));
}

}  // namespace
}  // namespace praxis::wire::responses
