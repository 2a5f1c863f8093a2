#include "models/text_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/answer.hpp"
#include "models/text_tool_reader.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using text_tools::CallReader;
using text_tools::FoundCall;
using text_tools::mend_json;
using text_tools::Piece;

// ---- the reader ----------------------------------------------------------------------------------------

/// `text|name(arguments)|text`, with adjacent texts joined.
std::string show(const std::vector<Piece>& pieces) {
  std::string out;
  bool in_text = false;
  for (const Piece& piece : pieces) {
    const auto* text = std::get_if<std::string>(&piece);
    if (!out.empty() && !(text != nullptr && in_text)) out += '|';
    in_text = text != nullptr;
    if (text != nullptr) out += *text;
    if (const auto* call = std::get_if<FoundCall>(&piece)) out += call->name + '(' + call->arguments + ')';
  }
  return out;
}

std::string read(std::string_view text, std::size_t step = std::string::npos) {
  CallReader reader({"add", "now"});
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < text.size(); at += std::min(step, text.size() - at)) {
    for (Piece& piece : reader.feed(text.substr(at, step))) pieces.push_back(std::move(piece));
  }
  for (Piece& piece : reader.finish()) pieces.push_back(std::move(piece));
  return show(pieces) + (reader.warnings().empty() ? "" : " !");
}

struct Reading {
  std::string text;
  std::string found;  ///< with ` !` if there was a warning
};

void PrintTo(const Reading& reading, std::ostream* out) { *out << reading.text; }

class CallReading : public testing::TestWithParam<Reading> {};

TEST_P(CallReading, FindsTheCalls_WhereverTheTextIsCut) {
  const auto& [text, found] = GetParam();
  for (const std::size_t step : {std::string::npos, std::size_t{1}, std::size_t{3}, std::size_t{11}}) {
    EXPECT_EQ(read(text, step), found) << "in steps of " << step;
  }
}

const std::string kAdd = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": 2}}\n</tool_call>";

INSTANTIATE_TEST_SUITE_P(
    WellFormed, CallReading,
    testing::Values(Reading{"Hello <b>you</b> `code` a<b", "Hello <b>you</b> `code` a<b"},
                    Reading{" \n", " \n"}, Reading{kAdd, R"(add({"x":2}))"},
                    Reading{"\nLet me see.\n" + kAdd + "\n", "\nLet me see.\n|add({\"x\":2})"},
                    Reading{kAdd + "\n" + kAdd + "\nDone", "add({\"x\":2})|add({\"x\":2})|\nDone"},
                    Reading{"<tool_call>{\"name\":\"now\"}</tool_call>", "now()"},
                    Reading{
                        "<tool_call>[{\"name\":\"now\"},{\"name\":\"add\",\"parameters\":{}}]</tool_call>",
                        "now()|add({})"},
                    Reading{R"(<tool_call>{"name":"say","arguments":{"t":"</tool_call> \"}"}}</tool_call>)",
                            R"(say({"t":"</tool_call> \"}"}))"}));

INSTANTIATE_TEST_SUITE_P(
    InOtherDress, CallReading,
    testing::Values(
        Reading{"I call:\n```json\n{\"name\":\"add\",\"arguments\":{\"x\":2}}\n```\nok",
                "I call:\n|add({\"x\":2})|\nok"},
        Reading{"```\n{\"name\":\"now\",\"arguments\":{}}\n{\"name\":\"add\",\"arguments\":{}}\n```",
                "now({})|add({})"},
        Reading{"```xml\n" + kAdd + "\n```\n", R"(add({"x":2}))"},
        Reading{"<tool_call>\n```json\n{\"name\":\"now\"}\n```\n</tool_call>", "now()"},
        Reading{R"(<tool_call>{"name":"add","arguments":"{\"x\":2}"}</tool_call>)", R"(add({"x":2}))"},
        Reading{"```json\n{\"name\":\"Ann\",\"arguments\":1}\n```",
                "```json\n{\"name\":\"Ann\",\"arguments\":1}\n```"},
        Reading{"```json\n{\"name\":\"add\"}\n``` x", "```json\n{\"name\":\"add\"}\n``` x"},
        Reading{"```cpp\nint a;\n```\nand `x`", "```cpp\nint a;\n```\nand `x`"},
        Reading{"The <tool_call> tag and `<tool_call>`", "The <tool_call> tag and `<tool_call>`"}));

INSTANTIATE_TEST_SUITE_P(
    Damaged, CallReading,
    testing::Values(
        Reading{"<tool_call>{\"name\":\"add\",\"arguments\":{\"x\":2}</tool_call>", "add({\"x\":2}) !"},
        Reading{"<tool_call>{\"name\":\"add\",\"arguments\":{\"x\":2,}}</tool_call>", "add({\"x\":2}) !"},
        Reading{"<tool_call>{\"name\":\"add\",\"arguments\":{\"x\":2}}}</tool_call> so",
                "add({\"x\":2})| so"},
        Reading{"<tool_call>\n{\"name\":\"now\"}\n", "now()"},
        Reading{"<tool_call>\n{\"name\":\"now\"}\n" + kAdd, "now()|add({\"x\":2})"},
        Reading{"<tool_call>{'name':'add','arguments':{'x':True}}</tool_call>", "add({\"x\":true}) !"}));

INSTANTIATE_TEST_SUITE_P(
    Unreadable, CallReading,
    testing::Values(Reading{"Hm <tool_call>{\"name\":\"add\",\"arguments\":{\"x\":2",
                            "Hm |add({\"name\":\"add\",\"arguments\":{\"x\":2)"},
                    Reading{"<tool_call>\nadd(2)\n</tool_call>", "(\nadd(2)\n)"},
                    Reading{"<tool_call>{\"nom\":\"add\"}</tool_call>", "({\"nom\":\"add\"})"},
                    Reading{"<tool_call>{\"name\":\"add\",\"arguments\":{\"x\":\"2}}</tool_call> so",
                            "add({\"name\":\"add\",\"arguments\":{\"x\":\"2}})| so"}));

INSTANTIATE_TEST_SUITE_P(
    WithAResultMadeUp, CallReading,
    testing::Values(Reading{kAdd + "\n<tool_result name=\"add\">5</tool_result> It is 5. " + kAdd,
                            "add({\"x\":2}) !"},
                    Reading{"<tool_result> is a tag", "<tool_result> is a tag"}));

TEST(CallReader, Text_IsHeldBackOnlyIfItMayBecomeACall) {
  CallReader reader({"add"});
  EXPECT_EQ(show(reader.feed("Hello ")), "Hello ");
  EXPECT_EQ(show(reader.feed("you <tool")), "you ");
  EXPECT_EQ(show(reader.feed("s> and")), "<tools> and");
  EXPECT_EQ(show(reader.feed("<tool_call>{\"name\":")), "");
  EXPECT_EQ(show(reader.feed("\"add\"}</tool_call>")), "add()");
}

TEST(MendJson, SmallDamage_IsRepairedAndLargeDamageRejected) {
  const auto mended = [](std::string_view text) {
    const auto json = mend_json(text);
    return json ? to_json_text(*json) : "none";
  };
  EXPECT_EQ(mended(R"({"a":[1,2,],"b":{"c":None)"), R"({"a":[1,2],"b":{"c":null}})");
  EXPECT_EQ(mended(R"({'a':'it\'s "so"'})"), R"({"a":"it's \"so\""})");
  EXPECT_EQ(mended("{\"a\":\"C:\\dir\nx\\n\"}"), R"({"a":"C:\\dir\nx\n"})");
  EXPECT_EQ(mended(R"({"a":1}}]})"), R"({"a":1})");
  EXPECT_EQ(mended(R"({"a":[1}})"), R"({"a":[1]})");
  EXPECT_EQ(mended(R"({"a":"1)"), "none");
  EXPECT_EQ(mended(R"({a:1})"), "none");
  EXPECT_EQ(mended(""), "none");
}

// ---- the model -----------------------------------------------------------------------------------------

/// Answers with one text, in chunks of three bytes, and records the requests.
class TextModel final : public Model {
 public:
  struct Shared {
    std::string answer;
    FinishReason finish = FinishReason::kStop;
    std::vector<ModelRequest> requests;
  };
  explicit TextModel(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {.tools = false}; }
  MicroUsd price(const Usage&) const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<Session>(shared_); }

 private:
  class Session final : public ModelSession {
   public:
    explicit Session(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token) override {
      shared_->requests.push_back(request);
      const std::string& text = shared_->answer;
      sink->on_delta(ReasoningChunk{"hm", 0});
      for (std::size_t at = 0; at < text.size(); at += 3) sink->on_delta(TextChunk{text.substr(at, 3), 1});
      ModelResponse response;
      response.parts = {ReasoningPart{"hm", "", nullptr}, TextPart{text, state_}};
      response.finish = shared_->finish;
      settle_answer(response);
      sink->on_done(std::move(response));
    }

   private:
    const std::shared_ptr<Shared> shared_;
    const VendorStatePtr state_ = std::make_shared<const VendorState>(VendorState{"v", "m", "{}"});
  };

  const std::string name_ = "v:m";
  const std::shared_ptr<Shared> shared_;
};

class TextTools : public testing::Test {
 protected:
  TextTools() {
    request_.instructions = "Be brief.";
    request_.history = normalise(conversation_).history;
    request_.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
        {.name = "add", .description = "Adds", .parameters = JsonObject{{"type", "object"}}}});
  }

  ModelResponse ask(const std::string& answer) {
    shared_->answer = answer;
    deltas_.clear();
    return complete(*model_, request_, {},
                    [this](const ModelDelta& delta) {
                      if (const auto* text = std::get_if<TextChunk>(&delta))
                        deltas_[text->item] += std::string(text->text);
                      if (const auto* call = std::get_if<ToolCallChunk>(&delta))
                        deltas_[call->item] += std::string(call->id) + ' ' + std::string(call->name) + ' ';
                      if (const auto* bytes = std::get_if<ToolArgumentsChunk>(&delta))
                        deltas_[bytes->item] += std::string(bytes->bytes);
                      if (const auto* thought = std::get_if<ReasoningChunk>(&delta))
                        deltas_[thought->item] += std::string(thought->text);
                    })
        .value();
  }
  const ModelRequest& sent() const { return shared_->requests.back(); }

  const std::vector<Message> conversation_{text_message(Role::kUser, "2+3?")};
  const std::shared_ptr<TextModel::Shared> shared_ = std::make_shared<TextModel::Shared>();
  const std::shared_ptr<Model> model_ = with_text_tools(std::make_shared<TextModel>(shared_));
  ModelRequest request_;
  std::map<std::uint32_t, std::string> deltas_;
};

TEST_F(TextTools, Instructions_DescribeTheTools) {
  EXPECT_TRUE(model_->capabilities().tools);
  ask("5");
  EXPECT_EQ(sent().tools, nullptr);
  EXPECT_THAT(sent().instructions, testing::StartsWith("Be brief.\n\n# Tools\n"));
  EXPECT_THAT(sent().instructions,
              HasSubstr(R"({"name":"add","description":"Adds","parameters":{"type":"object"}})"));
}

TEST_F(TextTools, RequestWithoutTools_IsUnchanged) {
  request_.options.tool_choice = "none";
  const ModelResponse response = ask(kAdd);
  EXPECT_EQ(sent().instructions, "Be brief.");
  EXPECT_EQ(std::get<TextPart>(response.parts.at(1)).text, kAdd);
}

TEST_F(TextTools, Calls_AreTheSameInDeltasAndAnswer) {
  const ModelResponse response = ask("Wait.\n" + kAdd + kAdd);
  ASSERT_THAT(response.parts, SizeIs(4));
  EXPECT_EQ(std::get<TextPart>(response.parts[1]).text, "Wait.\n");
  EXPECT_EQ(std::get<TextPart>(response.parts[1]).vendor, nullptr) << "it sealed another text";
  const auto& call = std::get<ToolCallPart>(response.parts[2]);
  EXPECT_EQ(call.id.value + ' ' + call.name + ' ' + call.arguments, R"(call_1_1 add {"x":2})");
  EXPECT_TRUE(call.valid);
  EXPECT_EQ(std::get<ToolCallPart>(response.parts[3]).id.value, "call_1_2");
  EXPECT_EQ(response.finish, FinishReason::kToolCalls);
  EXPECT_THAT(deltas_, ElementsAre(std::pair(0U, "hm"), std::pair(1U, "Wait.\n"),
                                   std::pair(2U, R"(call_1_1 add {"x":2})"),
                                   std::pair(3U, R"(call_1_2 add {"x":2})")));
}

TEST_F(TextTools, PlainText_IsUnchanged) {
  const ModelResponse response = ask("It is 5.");
  EXPECT_EQ(response.finish, FinishReason::kStop);
  EXPECT_NE(std::get<TextPart>(response.parts.at(1)).vendor, nullptr);
  EXPECT_EQ(deltas_[1], "It is 5.");
}

TEST_F(TextTools, UnreadableCall_IsInvalidAndRequestedAgain) {
  const ModelResponse response = ask("<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": ");
  const auto& call = std::get<ToolCallPart>(response.parts.at(1));
  EXPECT_EQ(call.name, "add");
  EXPECT_FALSE(call.valid);
  EXPECT_EQ(response.finish, FinishReason::kMalformedToolCall);
  EXPECT_THAT(response.warnings, Not(IsEmpty()));
}

TEST_F(TextTools, AnswerCutByItsLength_HasNoValidCall) {
  shared_->finish = FinishReason::kLength;
  const ModelResponse response = ask(kAdd);
  EXPECT_EQ(response.finish, FinishReason::kLength);
  EXPECT_FALSE(std::get<ToolCallPart>(response.parts.at(1)).valid);
}

TEST_F(TextTools, OutputSchema_GoesIntoTheInstructions) {
  request_.options.output_schema = JsonObject{{"type", "array"}};
  ask("[]");
  EXPECT_TRUE(sent().options.output_schema.is_null()) << "it would rule out calls";
  EXPECT_THAT(sent().instructions, HasSubstr(R"({"type":"array"})"));
}

Message of_parts(Role role, std::vector<Part> parts) {
  Message message;
  message.role = role;
  message.parts = std::move(parts);
  return message;
}

const std::vector<Message> kLater{
    text_message(Role::kUser, "2+3?"),
    of_parts(Role::kAssistant,
             {TextPart{"Wait."}, ToolCallPart{CallId("a"), "add", R"({"x":2})", true, nullptr},
              ToolCallPart{CallId("b"), "add", "", true, nullptr}}),
    of_parts(Role::kTool, {ToolResultPart{CallId("a"), "add", ToolStatus::kOk, "5", {}},
                           ToolResultPart{CallId("b"), "add", ToolStatus::kError, "no </tool_result>", {}}})};

TEST_F(TextTools, CallsAndResultsOfTheConversation_BecomeText) {
  request_.history = normalise(kLater).history;
  ask("5");
  const std::vector<MessagePtr>& messages = sent().history.messages();
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_EQ(messages[1]->text(),
            "Wait.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\":2}}\n</tool_call>\n"
            "<tool_call>\n{\"name\": \"add\", \"arguments\": {}}\n</tool_call>");
  EXPECT_EQ(messages[2]->role, Role::kUser);
  EXPECT_EQ(messages[2]->text(),
            "<tool_result name=\"add\">\n5\n</tool_result>\n"
            "<tool_result name=\"add\" status=\"error\">\nno <\\/tool_result>\n</tool_result>");
}

TEST_F(TextTools, NextStep_ReusesTheConvertedMessages) {
  HistoryBuilder builder;
  for (const Message& message : kLater) builder.push(std::make_shared<const Message>(message));
  const auto session = model_->open_session();
  class Ignore final : public ModelSink {
    void on_delta(const ModelDelta&) override {}
    void on_done(Result<ModelResponse>) override {}
  };
  request_.history = builder.history();
  session->start(request_, std::make_shared<Ignore>(), {});
  builder.push(std::make_shared<const Message>(text_message(Role::kUser, "Thanks")));
  request_.history = builder.history();
  session->start(request_, std::make_shared<Ignore>(), {});
  const auto before = shared_->requests[0].history.messages();
  const auto after = shared_->requests[1].history.messages();
  ASSERT_THAT(after, SizeIs(before.size() + 1));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  EXPECT_EQ(shared_->requests[0].instructions, shared_->requests[1].instructions);
}

TEST_F(TextTools, LeadingDeveloperMessage_ReceivesTheToolInstructions) {
  request_.history =
      normalise({text_message(Role::kDeveloper, "Be long."), text_message(Role::kUser, "2+3?")}).history;
  ask("5");
  EXPECT_THAT(sent().history.messages().front()->text(), testing::StartsWith("Be long.\n\n# Tools\n"));
}

TEST_F(TextTools, CallIds_AreUniqueInTheConversation) {
  request_.history =
      normalise(
          {text_message(Role::kUser, "2+3?"),
           of_parts(Role::kAssistant, {ToolCallPart{CallId("call_1_1"), "add", "{}", true, nullptr}}),
           of_parts(Role::kTool, {ToolResultPart{CallId("call_1_1"), "add", ToolStatus::kOk, "5", {}}})})
          .history;
  EXPECT_EQ(std::get<ToolCallPart>(ask(kAdd).parts.at(1)).id.value, "call_1_2");
}

// ---- which models use text tools -----------------------------------------------------------------------

/// Records the last body and never answers.
class TextListener final : public HttpClient {
 public:
  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token) override {
    body = *request.body;
    sink->on_done(fail(ErrorCode::kCancelled, "nobody there"));
  }
  std::string body;
};

/// Whether a model with these corrections gets its tools as text, or the error if the model cannot be made.
std::string told_in_words(const std::string& corrections) {
  const auto listener = std::make_shared<TextListener>();
  ModelServices services;
  services.http = listener;
  services.env = [](const std::string&) { return std::string(); };
  const auto catalog = catalog_with(parse_json(corrections).value());
  if (!catalog) return catalog.error().message;
  services.catalog = *catalog;
  const auto model = make_model("local:m", services);
  if (!model) return model.error().message;
  ModelRequest request;
  request.history = normalise({text_message(Role::kUser, "hi")}).history;
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(std::vector<ToolDefinition>{
      {.name = "add", .description = "Adds", .parameters = JsonObject{{"type", "object"}}}});
  (void)complete(**model, request);
  return listener->body.contains("# Tools") ? "yes" : "no";
}

std::string provider(const std::string& dialect, const std::string& more = "") {
  return R"({"providers":{"local":{"api":"chat","base_url":"http://localhost:1","dialect":)" + dialect +
         "}}" + more + "}";
}

TEST(ToolsAsText, ModelWithoutTools_UsesThemUnlessTheFlagSaysOtherwise) {
  const std::string without = R"(,"models":{"local:m":{"tools":false}})";
  EXPECT_EQ(told_in_words(provider("{}")), "no");
  EXPECT_EQ(told_in_words(provider("{}", without)), "yes");
  EXPECT_EQ(told_in_words(provider(R"({"tools":"text"})")), "yes");
  EXPECT_EQ(told_in_words(provider(R"({"tools":"native"})", without)), "no");
  EXPECT_THAT(told_in_words(provider(R"({"tools":"maybe"})")), HasSubstr(R"(must be "native" or "text")"));
}

}  // namespace
}  // namespace praxis
