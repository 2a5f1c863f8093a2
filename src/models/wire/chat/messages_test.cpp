#include "models/wire/chat/messages.hpp"

#include <gtest/gtest.h>

#include "models/request_writer.hpp"
#include "models/testing/messages.hpp"
#include "models/wire/chat/reasoning.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

VendorStatePtr state(std::string raw, std::string model = "m") {
  return std::make_shared<const VendorState>(VendorState{"p", std::move(model), std::move(raw)});
}

ReasoningPart thought(std::string text, std::string raw = R"({"field":"reasoning"})") {
  return {std::move(text), "", state(std::move(raw))};
}

ToolCallPart call(std::string id) { return {CallId(std::move(id)), "add", "{}", true, nullptr}; }

ToolResultPart result(std::string id, std::vector<ImagePart> images = {}, std::vector<FilePart> files = {}) {
  return {CallId(std::move(id)), "add", ToolStatus::kOk, "ok", std::move(images), std::move(files)};
}

ImagePart png() { return {{"image/png", "\x89PNG", ""}, nullptr}; }
FilePart pdf() { return {{"application/pdf", "%PDF", ""}, "a.pdf", nullptr}; }

/// The messages of a conversation as they are sent.
std::string written(const std::vector<Message>& messages, JsonObject flags, ModelFacts facts = {}) {
  RequestWriter writer(
      chat_codec({.provider = "p", .model = "m", .dialect = std::move(flags), .facts = std::move(facts)})
          .value());
  ModelRequest request;
  request.history = normalise(messages).history;
  const Json body = parse_json(*writer.write(request)).value();
  return to_json_text(json_at(body, "messages"));
}

/// The JSON of an assistant message between user messages.
std::string assistant(std::vector<Part> parts, JsonObject flags) {
  const bool has_call = std::holds_alternative<ToolCallPart>(parts.back());
  std::vector<Message> messages{text_message(Role::kUser, "go"),
                                message_of(Role::kAssistant, std::move(parts))};
  if (has_call) messages.push_back(message_of(Role::kTool, {result("c")}));
  return to_json_text(parse_json(written(messages, std::move(flags))).value().at(1));
}

const std::string kCallText =
    R"("tool_calls":[{"id":"c","type":"function","function":{"name":"add","arguments":"{}"}}])";

struct EchoCase {
  JsonObject flags;
  std::string text_turn;  ///< expected fields of the message "so"
  std::string tool_turn;  ///< expected fields of a call without text
};

TEST(ChatMessages, Reasoning_IsSentBackAccordingToTheDialect) {
  const std::string field = R"("reasoning":"hm",)";
  const std::vector<EchoCase> cases{
      {{}, "", ""},
      {{{"reasoning_echo", "tool_turns"}}, "", field},
      {{{"reasoning_echo", "always"}}, field, field},
      {{{"reasoning_echo", "required"}}, field, field},
      {{{"reasoning_echo", "details"}}, field, field},
      {{{"reasoning_echo", "always"}, {"reasoning_field", "thoughts"}},
       R"("thoughts":"hm",)",
       R"("thoughts":"hm",)"},
  };
  for (const EchoCase& c : cases) {
    std::string text = R"({"role":"assistant","content":"so",)" + c.text_turn;
    text.back() = '}';
    EXPECT_EQ(assistant({thought("hm"), TextPart{"so"}}, c.flags), text);
    EXPECT_EQ(assistant({thought("hm"), call("c")}, c.flags),
              R"({"role":"assistant","content":null,)" + c.tool_turn + kCallText + "}");
  }
}

TEST(ChatMessages, ReasoningOfAnotherModel_IsOmitted) {
  const ReasoningPart foreign{"hm", "", state(R"({"field":"reasoning","extra_content":1})", "other")};
  EXPECT_EQ(assistant({foreign, TextPart{"so"}}, {{"reasoning_echo", "always"}}),
            R"({"role":"assistant","content":"so"})");
  EXPECT_EQ(assistant({foreign, TextPart{"so"}}, {{"reasoning_echo", "required"}}),
            R"({"role":"assistant","content":"so","reasoning_content":""})");
}

TEST(ChatMessages, ReasoningDetails_AreSentBackUnchanged) {
  const std::string raw = R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]})";
  EXPECT_EQ(assistant({thought("", raw), TextPart{"so"}}, {{"reasoning_echo", "details"}}),
            R"({"role":"assistant","content":"so",)" + raw.substr(1));
}

TEST(ChatMessages, ThinkingParts_AreSentBackInTheContent) {
  EXPECT_EQ(assistant({thought("hm", R"({"field":"content"})"), TextPart{"so"},
                       OpaquePart{"reference", state(R"({"type":"reference","ids":[1]})")}},
                      {{"reasoning_echo", "always"}}),
            R"({"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},)"
            R"({"type":"text","text":"so"},{"type":"reference","ids":[1]}]})");
}

TEST(ChatMessages, Signatures_AreSentBackInTheirPlace) {
  ToolCallPart signed_call = call("c");
  signed_call.vendor = state(R"({"extra_content":{"google":{"thought_signature":"s"}}})");
  EXPECT_EQ(
      assistant({thought("", R"({"extra_content":{"google":{"thought_signature":"t"}}})"), signed_call}, {}),
      R"({"role":"assistant","content":null,"extra_content":{"google":{"thought_signature":"t"}},)"
      R"("tool_calls":[{"id":"c","type":"function","function":{"name":"add","arguments":"{}"},)"
      R"("extra_content":{"google":{"thought_signature":"s"}}}]})");
}

TEST(ChatMessages, NullContent_BecomesAnEmptyStringForServersThatRefuseIt) {
  EXPECT_EQ(assistant({call("c")}, {{"content_null", false}}),
            R"({"role":"assistant","content":"",)" + kCallText + "}");
}

TEST(ChatMessages, CallIds_AreTheServersOwnOrInItsFormat) {
  const auto pair = [](VendorStatePtr vendor) {
    ToolCallPart made = call("functions.add:0");
    made.vendor = std::move(vendor);
    const std::vector<Message> messages{text_message(Role::kUser, "go"), message_of(Role::kAssistant, {made}),
                                        message_of(Role::kTool, {result("functions.add:0")})};
    const Json all = parse_json(written(messages, {{"call_ids", "mistral9"}})).value();
    const std::string id = json_string(json_at(all.at(1), "tool_calls").at(0), "id");
    EXPECT_EQ(json_string(all.at(2), "tool_call_id"), id);
    return id;
  };
  const std::string raw = R"({"id":"functions.add:0"})";
  EXPECT_EQ(pair(state(raw)), "functions.add:0");
  EXPECT_EQ(pair(nullptr).size(), 9U);
  EXPECT_EQ(pair(state(raw, "other")), pair(nullptr));
}

std::vector<Message> with_results(std::vector<ToolResultPart> results, bool and_user) {
  std::vector<Part> calls, answers;
  for (ToolResultPart& one : results) {
    calls.emplace_back(call(one.id.value));
    answers.emplace_back(std::move(one));
  }
  std::vector<Message> out{text_message(Role::kUser, "go"), message_of(Role::kAssistant, std::move(calls)),
                           message_of(Role::kTool, std::move(answers))};
  if (and_user) out.push_back(text_message(Role::kUser, "and?"));
  return out;
}

/// The messages after the assistant's message.
std::string behind_calls(const std::vector<Message>& messages, JsonObject flags, ModelFacts facts = {}) {
  const Json all = parse_json(written(messages, std::move(flags), std::move(facts))).value();
  std::string out;
  for (std::size_t i = 2; i < all.as_array().size(); ++i) out += to_json_text(all.at(i));
  return out;
}

TEST(ChatMessages, Results_NameTheirToolIfRequired) {
  EXPECT_EQ(behind_calls(with_results({result("a")}, false), {{"result_names", true}}),
            R"({"role":"tool","tool_call_id":"a","name":"add","content":"ok"})");
}

TEST(ChatMessages, AssistantMessageAfterResults_IsInsertedIfRequired) {
  const JsonObject flags{{"assistant_after_tool", true}};
  const std::string tool = R"({"role":"tool","tool_call_id":"a","content":"ok"})";
  const std::string done = R"({"role":"assistant","content":"Done."})";
  const std::string user = R"({"role":"user","content":"and?"})";
  EXPECT_EQ(behind_calls(with_results({result("a")}, false), flags), tool);
  EXPECT_EQ(behind_calls(with_results({result("a")}, true), flags), tool + done + user);
  EXPECT_EQ(behind_calls(with_results({result("a", {png()})}, true), flags),
            tool + done +
                R"({"role":"user","content":[{"type":"text","text":"From the result of add (a):"},)" +
                R"({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]})" + user);
}

TEST(ChatMessages, MediaOfResults_FollowAfterAllResults) {
  EXPECT_EQ(
      behind_calls(with_results({result("a", {}, {pdf()}), result("b")}, false), {}),
      R"({"role":"tool","tool_call_id":"a","content":"ok"}{"role":"tool","tool_call_id":"b","content":"ok"})"
      R"({"role":"user","content":[{"type":"text","text":"From the result of add (a):"},)"
      R"({"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERg==","filename":"a.pdf"}}]})");
}

TEST(ChatMessages, ModelWithoutImages_GetsANoteInstead) {
  ModelFacts blind;
  blind.known = true;
  const std::string text = written({message_of(Role::kUser, {TextPart{"look"}, png(), pdf()})}, {}, blind);
  EXPECT_TRUE(text.contains("(An image that this model cannot see.)")) << text;
  EXPECT_TRUE(text.contains("(The file a.pdf, which this model cannot read.)")) << text;
  EXPECT_FALSE(text.contains("base64")) << text;
}

TEST(ChatMessages, Files_AreSentInTheServersFormat) {
  ModelFacts seeing;
  seeing.known = seeing.images = true;
  const auto sent = [&](const JsonObject& flags) {
    return written({message_of(Role::kUser, {pdf()})}, flags, seeing);
  };
  EXPECT_EQ(sent({}), R"([{"role":"user","content":[{"type":"file","file":)"
                      R"({"file_data":"data:application/pdf;base64,JVBERg==","filename":"a.pdf"}}]}])");
  EXPECT_EQ(sent({{"document_url", true}}),
            R"([{"role":"user","content":[{"type":"document_url",)"
            R"("document_url":"data:application/pdf;base64,JVBERg==","document_name":"a.pdf"}]}])");
}

TEST(ChatMessages, CacheMarks_AreOnTheInstructionsAndTheLastText) {
  RequestWriter writer(
      chat_codec({.provider = "p", .model = "m", .dialect = JsonObject{{"cache_marks", true}}}).value());
  HistoryBuilder builder;
  builder.push(std::make_shared<Message>(text_message(Role::kUser, "one")));
  ModelRequest request;
  request.instructions = "be brief";
  request.history = builder.history();
  const std::string mark = R"(,"cache_control":{"type":"ephemeral"})";
  const std::string first = *writer.write(request);
  const std::string open = R"("messages":[{"role":"system","content":[{"type":"text","text":"be brief")" +
                           mark + R"(}]},{"role":"user","content":[{"type":"text","text":"one")";
  EXPECT_TRUE(first.ends_with(open + mark + "}]}]}")) << first;

  builder.push(std::make_shared<Message>(message_of(Role::kAssistant, {call("a"), call("b")})));
  builder.push(std::make_shared<Message>(message_of(Role::kTool, {result("a"), result("b")})));
  request.history = builder.history();
  const std::string second = *writer.write(request);
  EXPECT_TRUE(second.contains(open + "}]},{\"role\":\"assistant\"")) << second;
  EXPECT_TRUE(
      second.ends_with(R"("tool_call_id":"b","content":[{"type":"text","text":"ok")" + mark + "}]}]}"))
      << second;
  EXPECT_TRUE(parse_json(second)) << second;
}

}  // namespace
}  // namespace praxis::wire::chat
