// The client against a server that behaves well, and against servers that do not (tests/mcp/server.py).
#include "praxis/mcp/mcp_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Clock = std::chrono::steady_clock;

class McpClientTest : public ::testing::Test {
 protected:
  McpClientTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_mcp_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~McpClientTest() override { std::filesystem::remove_all(folder_); }

  std::string notes_file() const { return (folder_ / "notes").string(); }
  std::string notes() const {
    std::ostringstream text;
    text << std::ifstream(notes_file()).rdbuf();
    return text.str();
  }
  McpProgram program(const std::string& behaviour) const {
    McpProgram made;
    made.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/mcp/server.py", behaviour, notes_file()};
    made.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"PRAXIS_MARK", notes_file()}};
    return made;
  }
  static McpBounds quick() {
    McpBounds bounds;
    bounds.start = std::chrono::milliseconds(3'000);
    bounds.probe = std::chrono::milliseconds(300);
    return bounds;
  }
  static McpCallOptions within(std::chrono::milliseconds time) {
    McpCallOptions options;
    options.deadline = Clock::now() + time;
    return options;
  }
  static Result<McpResult> call(McpClient& client, const std::string& tool,
                                const Json& arguments = JsonObject{}) {
    return client.call(tool, arguments, within(std::chrono::seconds(20)));
  }
  static std::vector<std::string> names(const McpToolList& list) {
    std::vector<std::string> all;
    for (const McpTool& tool : list.tools) all.push_back(tool.name);
    return all;
  }
  /// The number of processes of this test's servers.
  std::size_t servers() const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ostringstream environment;
      environment << std::ifstream(entry.path() / "environ").rdbuf();
      found += environment.str().contains("PRAXIS_MARK=" + notes_file()) ? 1U : 0U;
    }
    return found;
  }

  std::filesystem::path folder_;
};

TEST_F(McpClientTest, ListsAllPagesAndCallsTools) {
  McpClient client(program("usual"));
  const auto info = client.info();
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->protocol, "2025-11-25");
  EXPECT_THAT(info->name, AllOf(HasSubstr("ture"), Not(HasSubstr("\x1b"))));
  const auto list = client.tools();
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(names(*list),
              ElementsAre("echo", "sum", "picture", "break", "wait", "mark", "turn", "environment", "die"));
  EXPECT_EQ(call(client, "echo", {{"text", "hello"}}).value().text, "hello");
  EXPECT_EQ(json_int(call(client, "sum", {{"a", 2}, {"b", 5}}).value().value, "sum"), 7);
  const McpResult failed = call(client, "break").value();
  EXPECT_TRUE(failed.is_error);
  EXPECT_THAT(failed.text, HasSubstr("it broke"));
}

TEST_F(McpClientTest, ContentOfSeveralKinds_BecomesTextAndImages) {
  McpClient client(program("usual"));
  const McpResult result = call(client, "picture").value();
  ASSERT_THAT(result.images, SizeIs(2));
  EXPECT_EQ(result.images.front().source.mime, "image/png");
  EXPECT_THAT(result.text, AllOf(HasSubstr("A dot."), HasSubstr("\"audio\""), HasSubstr("file:///a.txt"),
                                 HasSubstr("inside b")));
}

TEST_F(McpClientTest, ServerOfTheStatelessVersion_IsAskedWithoutAHandshake) {
  McpClient client(program("modern"));
  EXPECT_EQ(client.info().value().protocol, "2026-07-28");
  ASSERT_THAT(client.tools().value().tools, Not(IsEmpty()));
  EXPECT_EQ(call(client, "echo", {{"text", "x"}}).value().text, "x");
  EXPECT_THAT(notes(), HasSubstr("listens")) << "for changes of the list";
}

TEST_F(McpClientTest, ChangedList_IsFetchedAgain) {
  McpClient client(program("usual"));
  ASSERT_THAT(client.tools().value().tools, SizeIs(9));
  ASSERT_TRUE(call(client, "turn"));
  EXPECT_THAT(names(client.tools().value()), ElementsAre("echo", "added"));
}

TEST_F(McpClientTest, CancelledCall_IsCancelledOnTheServerToo_AfterItsProgress) {
  McpClient client(program("usual"));
  std::stop_source stop;
  std::vector<std::string> progress;
  McpCallOptions options;
  options.stop = stop.get_token();
  options.on_progress = [&](const std::string& text, std::optional<double> fraction) {
    progress.push_back(text);
    if (fraction == 0.75) stop.request_stop();
  };
  const auto result = client.call("wait", JsonObject{}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(result.error()), Reach::kSent);
  EXPECT_THAT(progress, Contains("step 3"));
  EXPECT_EQ(call(client, "echo", {{"text", "still here"}}).value().text, "still here");
  EXPECT_THAT(notes(), HasSubstr("cancelled"));
}

TEST_F(McpClientTest, CallWithoutAnAnswer_EndsAtItsDeadline_AndMayHaveTakenEffect) {
  McpClient client(program("mute"), quick());
  ASSERT_TRUE(client.info());
  const auto result = client.call("echo", JsonObject{}, within(std::chrono::milliseconds(200)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kTimeout);
  EXPECT_EQ(reach_of(result.error()), Reach::kSent);
}

TEST_F(McpClientTest, ServerThatReadsNothing_HoldsUpNoStop) {
  McpClient client(program("deaf"), quick());
  ASSERT_TRUE(client.info());
  const Json large = JsonObject{{"text", std::string(std::size_t{4} << 20, 'x')}};
  const auto until_stopped = [](const std::stop_source& stop) {
    McpCallOptions options = within(std::chrono::minutes(5));
    options.stop = stop.get_token();
    return options;
  };
  std::stop_source stop, end;
  std::thread stuck([&] { EXPECT_FALSE(client.call("echo", large, until_stopped(end))); });
  EXPECT_FALSE(client.call("echo", JsonObject{}, within(std::chrono::milliseconds(100))));
  stop.request_stop();
  const auto result = client.call("echo", large, until_stopped(stop));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  end.request_stop();
  stuck.join();
}

TEST_F(McpClientTest, ServerThatNeverAnswers_IsGivenUpInTime_AndNotStartedForEver) {
  McpBounds bounds = quick();
  bounds.start = std::chrono::milliseconds(400);
  bounds.probe = std::chrono::milliseconds(100);
  McpClient client(program("silent"), bounds);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto list = client.tools();
    ASSERT_FALSE(list);
    EXPECT_EQ(reach_of(list.error()), Reach::kNotSent);
    EXPECT_THAT(list.error().message, HasSubstr("did not answer"));
  }
  const auto last = call(client, "echo");
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message, HasSubstr("not started again"));
}

TEST_F(McpClientTest, EndlessLists_EndAtTheBounds) {
  McpBounds bounds = quick();
  bounds.pages = 5;
  McpClient endless(program("endless"), bounds);
  const auto list = endless.tools();
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(list->tools, SizeIs(5));
  EXPECT_THAT(list->left_out, Contains(Field(&McpLeftOut::why, HasSubstr("continues"))));
  McpClient circling(program("circling"), bounds);
  const auto circle = circling.tools();
  ASSERT_FALSE(circle);
  EXPECT_THAT(circle.error().message, HasSubstr("does not end"));
}

TEST_F(McpClientTest, UnusableTools_AreLeftOutWithTheReason) {
  McpClient client(program("exploding"));
  const auto list = client.tools();
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(names(*list), ElementsAre("long", "good"));
  EXPECT_LE(list->tools.front().description.size(), 2 * client.bounds().description_bytes);
  EXPECT_THAT(list->tools.front().description, AllOf(Not(HasSubstr("\x1b")), HasSubstr("bytes left out")));
  for (const char* why :
       {"levels deep", "more than 65536 bytes", "not of type object", "invalid", "128 bytes", "twice"})
    EXPECT_THAT(list->left_out, Contains(Field(&McpLeftOut::why, HasSubstr(why)))) << why;
}

TEST_F(McpClientTest, MessageThatIsTooDeep_EndsTheConnection_WithoutAWait) {
  McpClient client(program("bottomless"));
  const auto list = client.tools();
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message, HasSubstr("cannot be read"));
}

TEST_F(McpClientTest, LongResults_AreCutOrRefused) {
  McpClient longer(program("long"));
  const McpResult cut = call(longer, "echo").value();
  EXPECT_LE(cut.text.size(), longer.bounds().result_bytes + 100);
  EXPECT_THAT(cut.text, HasSubstr("bytes left out"));
  McpClient huge(program("huge"));
  const auto refused = call(huge, "echo");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a message of more than 16777216 bytes"));
  EXPECT_EQ(reach_of(refused.error()), Reach::kSent);
}

TEST_F(McpClientTest, HalfAMessage_EndsTheCall_AndTheNextOneStartsTheServerAgain) {
  McpClient client(program("cutting"), quick());
  const auto cut = call(client, "echo");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, AllOf(HasSubstr("within a message"), HasSubstr("status 3")));
  EXPECT_EQ(reach_of(cut.error()), Reach::kSent);
  EXPECT_TRUE(client.tools()) << "a new process";
}

TEST_F(McpClientTest, AnswersToOtherRequests_AreIgnored) {
  McpClient client(program("confused"), quick());
  EXPECT_EQ(call(client, "echo", {{"text", "mine"}}).value().text, "mine");
}

TEST_F(McpClientTest, LinesThatAreNoMessages_AreSkippedUpToABound) {
  McpClient chatty(program("chatty"));
  EXPECT_EQ(call(chatty, "echo", {{"text", "x"}}).value().text, "x");
  McpClient babbling(program("babbling"), quick());
  const auto result = call(babbling, "echo");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no message of the protocol"));
}

TEST_F(McpClientTest, RequestsOfTheServer_AreAnswered) {
  McpClient client(program("asking"));
  ASSERT_TRUE(call(client, "echo", {{"text", "x"}}));
  EXPECT_THAT(notes(), AllOf(HasSubstr(R"("id": "ping-1", "result": {})"), HasSubstr("-32601"),
                             Not(HasSubstr("\"roots\""))));
}

TEST_F(McpClientTest, ServerThatAsksForRoots_GetsTheFoldersThatItIsToWorkIn) {
  McpBounds bounds;
  bounds.roots = {"/srv/my notes", "/srv/caf\u00e9%#"};
  McpClient client(program("asking"), bounds);
  ASSERT_TRUE(call(client, "echo", {{"text", "x"}}));
  EXPECT_THAT(notes(), AllOf(HasSubstr(R"({"roots": {}})"), Not(HasSubstr("-32601")),
                             HasSubstr(R"({"roots": [{"uri": "file:///srv/my%20notes"}, )"
                                       R"({"uri": "file:///srv/caf%C3%A9%25%23"}]})")));
}

TEST_F(McpClientTest, ServerThatCannotStart_IsReportedWithWhatItWrote_SafeToDisplay) {
  McpClient client(program("failing"), quick());
  const auto info = client.info();
  ASSERT_FALSE(info);
  EXPECT_THAT(info.error().message,
              AllOf(HasSubstr("status 4"), HasSubstr("no such database"), Not(HasSubstr("\x1b"))));
  McpProgram missing = program("usual");
  missing.argv = {"no-such-program-for-praxis"};
  EXPECT_FALSE(McpClient(missing).info());
}

TEST_F(McpClientTest, UnknownVersion_IsAnError) {
  McpClient client(program("ancient"), quick());
  const auto info = client.info();
  ASSERT_FALSE(info);
  EXPECT_THAT(info.error().message, HasSubstr("1999-01-01"));
}

TEST_F(McpClientTest, ResourcesAndPrompts_AreReadInBothVersions) {
  for (const char* behaviour : {"rich", "rich-old"}) {
    McpClient client(program(behaviour));
    const auto info = client.info();
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_TRUE(info->resources && info->prompts) << behaviour;
    const auto resources = client.resources(within(std::chrono::seconds(20)));
    ASSERT_TRUE(resources) << resources.error().message;
    ASSERT_THAT(*resources, SizeIs(3)) << "two pages, then the templates";
    EXPECT_EQ(resources->front().uri, "note://a");
    EXPECT_THAT(resources->front().name, Not(HasSubstr("\x1b")));
    EXPECT_TRUE(resources->back().is_template);
    const auto read = client.read_resource("note://a", within(std::chrono::seconds(20)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(read->text, HasSubstr("inside a"));
    EXPECT_THAT(read->images, SizeIs(1));
    const auto none = client.read_resource("note://none", within(std::chrono::seconds(20)));
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message, HasSubstr("no such note"));
    const auto prompts = client.prompts(within(std::chrono::seconds(20)));
    ASSERT_TRUE(prompts) << prompts.error().message;
    ASSERT_THAT(*prompts, SizeIs(2));
    EXPECT_TRUE(prompts->front().arguments.at(0).required);
    const auto messages = client.prompt("greet", {{"who", "Ada"}}, within(std::chrono::seconds(20)));
    ASSERT_TRUE(messages) << messages.error().message;
    EXPECT_EQ(messages->at(0).second, "Greet Ada");
  }
  McpClient plain(program("usual"));
  EXPECT_FALSE(plain.info().value().resources);
  EXPECT_FALSE(plain.tools().value().resources);
}

TEST_F(McpClientTest, QuestionOfAServer_IsGivenToACallerThatAnswers) {
  McpClient silent(program("rich"));
  EXPECT_THAT(call(silent, "order").value().text, HasSubstr("the client answers no questions"));
  McpBounds bounds;
  bounds.answers_questions = true;
  McpClient client(program("rich"), bounds);
  const McpResult asked = call(client, "order").value();
  ASSERT_TRUE(asked.input);
  EXPECT_EQ(asked.input->state, "sealed:1");
  EXPECT_EQ(asked.input->requests.size(), 2U);
  McpCallOptions options = within(std::chrono::seconds(20));
  options.state = asked.input->state;
  options.answers = {{"size", JsonObject{{"action", "accept"}, {"content", JsonObject{{"size", "S"}}}}},
                     {"where", JsonObject{{"action", "accept"}, {"content", JsonObject{{"street", "A"}}}}}};
  EXPECT_EQ(client.call("order", JsonObject{}, options).value().text, "size S to A");
  bounds.state_bytes = 4;
  McpClient narrow(program("rich"), bounds);
  EXPECT_THAT(call(narrow, "order").error().message, HasSubstr("more than 4 bytes"));
}

TEST_F(McpClientTest, EndOfTheClient_LeavesNoProcess) {
  {
    McpClient client(program("stubborn"));
    ASSERT_TRUE(client.tools());
    EXPECT_EQ(servers(), 2U);
  }
  EXPECT_EQ(servers(), 0U);
}

TEST_F(McpClientTest, ManyCallsAtOnce_EachGetTheirAnswer) {
  McpClient client(program("usual"));
  std::vector<std::thread> threads;
  std::vector<std::string> answers(20);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto result = call(client, "echo", {{"text", "text " + std::to_string(i)}});
      if (result) answers[i] = result->text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], "text " + std::to_string(i));
}

}  // namespace
}  // namespace praxis
