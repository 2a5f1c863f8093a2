#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/answer_parser.hpp"
#include "models/request_writer.hpp"

namespace praxis {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CodecTarget target_of(Json dialect = nullptr, ModelFacts facts = {}) {
  return {.provider = "ollama", .model = "qwen3", .dialect = std::move(dialect), .facts = std::move(facts)};
}

// ---- answers -------------------------------------------------------------------------------------------

class Deltas final : public ModelSink {
 public:
  void on_delta(const ModelDelta& delta) override {
    if (const auto* text = std::get_if<TextChunk>(&delta)) seen += "t:" + std::string(text->text) + ' ';
    if (const auto* thought = std::get_if<ReasoningChunk>(&delta))
      seen += "r:" + std::string(thought->text) + ' ';
    if (const auto* call = std::get_if<ToolCallChunk>(&delta)) seen += "c:" + std::string(call->name) + ' ';
    if (const auto* bytes = std::get_if<ToolArgumentsChunk>(&delta))
      seen += "a:" + std::string(bytes->bytes) + ' ';
  }
  void on_done(Result<ModelResponse>) override {}

  std::string seen;
};

Result<ModelResponse> read(const std::string& body, std::size_t step = std::string::npos,
                           ModelSink* deltas = nullptr) {
  const CodecPtr codec = ollama_codec(target_of()).value();
  AnswerParser parser(*codec, {.deltas = deltas, .call_prefix = "call_1_"});
  parser.head({200, {}});
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t length = std::min(step, body.size() - at);
    parser.feed(std::string_view(body).substr(at, length));
    at += length;
  }
  return parser.finish({});
}

std::string kind_of(const Result<ModelResponse>& response) {
  return response ? "none" : json_string(response.error().detail(), "kind");
}

const std::string kStream =
    R"({"model":"qwen3","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"","thinking":"m."},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"Grüße"},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":" \n"},"done":false,"novelty":[1]}
{"model":"qwen3","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"x":2}}},{"id":"c9","function":{"index":1,"name":"now","arguments":{}}}]},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":11,"eval_count":7}
)";

TEST(OllamaReader, Stream_BecomesPartsWhereverItIsSplit) {
  for (const std::size_t step : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
    const auto response = read(kStream, step);
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(response->parts.size(), 4U);
    EXPECT_EQ(std::get<ReasoningPart>(response->parts[0]).text, "Hmm.");
    EXPECT_EQ(std::get<TextPart>(response->parts[1]).text, "Grüße \n");
    const auto& add = std::get<ToolCallPart>(response->parts[2]);
    EXPECT_EQ(add.id.value + ' ' + add.name + ' ' + add.arguments, R"(call_1_1 add {"x":2})");
    EXPECT_TRUE(add.valid);
    EXPECT_EQ(std::get<ToolCallPart>(response->parts[3]).id.value, "c9");
    EXPECT_EQ(response->finish, FinishReason::kToolCalls);
    EXPECT_EQ(response->finish_raw, "stop");
    EXPECT_EQ(response->usage, (Usage{.input = 11, .output = 7}));
    EXPECT_EQ(response->model, "qwen3");
  }
}

TEST(OllamaReader, EveryPiece_IsEmittedAsItArrives) {
  Deltas deltas;
  ASSERT_TRUE(read(kStream, 5, &deltas));
  EXPECT_EQ(deltas.seen, "r:Hm r:m. t:Grüße t: \n c:add a:{\"x\":2} c:now a:{} ");
}

TEST(OllamaReader, CutStream_IsAnError) {
  const std::size_t last_line = kStream.rfind("{\"model\"");
  for (std::size_t cut = 0; cut <= last_line; cut += 9) {
    EXPECT_EQ(kind_of(read(kStream.substr(0, cut))), "truncated_stream") << cut;
  }
}

TEST(OllamaReader, WholeAnswer_IsReadLikeAStream) {
  const auto response =
      read(R"({"message":{"content":"Hi"},"done":true,"done_reason":"length","eval_count":3})");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->finish, FinishReason::kLength);
  EXPECT_EQ(response->usage, (Usage{.input = 0, .output = 3})) << "a cached prompt goes uncounted";
}

TEST(OllamaReader, MissingReasonAndCounts_AreFilledIn) {
  const auto response = read(R"({"message":{"content":"Hi"},"done":true})");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->finish, FinishReason::kStop);
  EXPECT_TRUE(response->usage.estimated);
}

TEST(OllamaReader, ErrorInTheStream_IsClassifiedLikeAnHttpError) {
  const auto response = read(
      "{\"message\":{\"content\":\"H\"},\"done\":false}\n"
      "{\"error\":\"prompt too long; exceeded max context length by 9 tokens\"}\n");
  EXPECT_EQ(kind_of(response), "context_overflow");
}

TEST(OllamaReader, InvalidLine_IsAProtocolError) {
  EXPECT_EQ(kind_of(read("<html>Bad gateway</html>")), "protocol");
  EXPECT_EQ(kind_of(read("{\"message\":{\"content\":\"H\"},\"done\":false}\nnonsense\n")), "protocol");
}

// ---- requests ------------------------------------------------------------------------------------------

std::string body_of(const ModelRequest& request, CodecTarget target = target_of()) {
  RequestWriter writer(ollama_codec(std::move(target)).value());
  return *writer.write(request);
}

ModelRequest request_of(const std::vector<Message>& messages) {
  ModelRequest request;
  request.history = normalise(messages).history;
  return request;
}

Message of_parts(Role role, std::vector<Part> parts) {
  Message message;
  message.role = role;
  message.parts = std::move(parts);
  return message;
}

VendorStatePtr state_of(const std::string& model) {
  return std::make_shared<const VendorState>(VendorState{"ollama", model, "{}"});
}

/// A conversation with every kind of part that the protocol supports.
std::vector<Message> conversation(const std::string& thinker) {
  ToolResultPart shot{CallId("2"), "shot", ToolStatus::kOk, "taken", {}};
  shot.images.push_back(ImagePart{{"image/png", "PNG", ""}, nullptr});
  return {text_message(Role::kUser, "2+3?"),
          of_parts(Role::kAssistant, {ReasoningPart{"Easy.", "", state_of(thinker)}, TextPart{"Wait"},
                                      ToolCallPart{CallId("1"), "add", R"({"x":2,"y":3})", true, nullptr},
                                      ToolCallPart{CallId("2"), "shot", "", true, nullptr}}),
          of_parts(Role::kTool, {ToolResultPart{CallId("1"), "add", ToolStatus::kOk, "5", {}}, shot})};
}

TEST(OllamaRequest, Messages_FollowTheProtocol) {
  EXPECT_EQ(body_of(request_of(conversation("qwen3"))),
            R"({"model":"qwen3","stream":true,"messages":[{"role":"user","content":"2+3?"},)"
            R"({"role":"assistant","content":"Wait","thinking":"Easy.","tool_calls":[)"
            R"({"type":"function","function":{"name":"add","arguments":{"x":2,"y":3}}},)"
            R"({"type":"function","function":{"name":"shot","arguments":{}}}]},)"
            R"({"role":"tool","content":"5","tool_name":"add"},)"
            R"({"role":"tool","content":"taken","tool_name":"shot"},)"
            R"({"role":"user","content":"Images in the results of: shot","images":["UE5H"]}]})");
}

TEST(OllamaRequest, ReasoningOfAnotherModel_IsOmitted) {
  EXPECT_THAT(body_of(request_of(conversation("gemma"))), Not(HasSubstr("Easy.")));
}

TEST(OllamaRequest, Images_AreSentAsBytesAndUrlsAsText) {
  const auto request =
      request_of({of_parts(Role::kUser, {TextPart{"What?"}, ImagePart{{"image/png", "PNG", ""}, nullptr},
                                         ImagePart{{"image/png", "", "https://x.test/a.png"}, nullptr},
                                         FilePart{{"application/pdf", "%PDF", ""}, "a.pdf", nullptr}})});
  EXPECT_THAT(body_of(request),
              HasSubstr(R"("content":"What?[Image: https://x.test/a.png][File a.pdf]","images":["UE5H"]})"));
}

TEST(OllamaRequest, Settings_AreSent) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  request.instructions = "Be brief.";
  request.stream = false;
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(
      std::vector<ToolDefinition>{{.name = "now", .description = "The time", .parameters = JsonObject{}}});
  request.options.temperature = 0.5;
  request.options.max_output_tokens = 50;
  request.options.stop = {"END"};
  request.options.reasoning_effort = "low";
  request.options.output_schema = JsonObject{{"type", "object"}};
  request.options.extra = JsonObject{{"keep_alive", "5m"}, {"options", JsonObject{{"top_k", 3}}}};
  EXPECT_EQ(
      body_of(request, target_of(nullptr, {.context_window = 8192})),
      R"({"model":"qwen3","stream":false,"options":{"num_ctx":8192,"num_predict":50,"temperature":0.5,)"
      R"("stop":["END"],"top_k":3},"think":"low","format":{"type":"object"},"tools":[{"type":"function",)"
      R"("function":{"name":"now","description":"The time","parameters":{}}}],"keep_alive":"5m",)"
      R"("messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]})");
  request.options.tool_choice = "none";
  EXPECT_THAT(body_of(request), Not(HasSubstr("\"tools\"")));
}

TEST(OllamaRequest, Effort_IsMappedToTheModelsLevels) {
  ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  const auto sent = [&](const std::string& effort, const std::map<std::string, std::string>& levels = {}) {
    request.options.reasoning_effort = effort;
    const Json body = parse_json(body_of(request, target_of(nullptr, {.reasoning_levels = levels}))).value();
    return to_json_text(json_at(body, "think"));
  };
  EXPECT_EQ(sent("off"), "false");
  EXPECT_EQ(sent("minimal"), R"("low")");
  EXPECT_EQ(sent("medium"), R"("medium")");
  EXPECT_EQ(sent("max"), R"("high")");
  EXPECT_EQ(sent("max", {{"max", "true"}}), "true");
  EXPECT_EQ(sent("off", {{"off", ""}}), "null") << "not offered, not sent";
}

TEST(OllamaRequest, ContextSize_IsTheFlagsElseTheModels) {
  const ModelRequest request = request_of({text_message(Role::kUser, "hi")});
  const ModelFacts facts{.context_window = 8192};
  EXPECT_THAT(body_of(request, target_of(JsonObject{{"num_ctx", 512}}, facts)),
              HasSubstr(R"("num_ctx":512)"));
  EXPECT_THAT(body_of(request, target_of(JsonObject{{"num_ctx", 0}}, facts)), Not(HasSubstr("num_ctx")));
  EXPECT_THAT(body_of(request), Not(HasSubstr("num_ctx")));
}

TEST(OllamaRequest, NextStep_ExtendsTheBytesOfThePrevious) {
  std::vector<Message> messages = conversation("qwen3");
  const std::string all = body_of(request_of(messages));
  messages.pop_back();
  std::string before = body_of(request_of(messages));
  before.resize(before.size() - 2);
  EXPECT_THAT(all, StartsWith(before));
}

TEST(OllamaDialect, UnknownFlagsAndWrongTypes_AreRefused) {
  EXPECT_FALSE(ollama_codec(target_of(JsonObject{{"num_ctz", 1}})));
  EXPECT_FALSE(ollama_codec(target_of(JsonObject{{"num_ctx", "many"}})));
  EXPECT_FALSE(ollama_codec(target_of(JsonObject{{"num_ctx", -1}})));
}

}  // namespace
}  // namespace praxis
