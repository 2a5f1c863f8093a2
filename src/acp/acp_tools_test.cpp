// The client of ACP against the scripted agent tests/acp/agent.py, which is hostile on request.
#include "acp/acp_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A session in which a call is judged by the kind of the action: `read` is allowed, `edit` is allowed after
/// a person has changed it, all others are denied.
class JudgingScope final : public CallScope {
 public:
  explicit JudgingScope(Tool permission) : permission_(std::move(permission)) {}

  Result<ToolOutput> call(std::string tool, std::string arguments) override {
    asked.push_back(tool + ' ' + arguments);
    auto action = *parse_json(arguments);
    const std::string kind = json_string(action, "kind");
    if (on_question) on_question();
    if (kind != "read" && kind != "edit") return fail(ErrorCode::kPolicy, "denied");
    if (kind == "edit") action.get_object()["title"] = "Something harmless";
    ToolContext context;
    return permission_.handler(context, action);
  }
  void progress(std::string text, std::optional<double>) override {
    said.push_back(text);
    if (on_progress) on_progress(text);
  }
  Result<std::shared_ptr<ChildSession>> spawn(AgentSpec, std::vector<Tool>) override { return nothing(); }
  Result<std::shared_ptr<ChildSession>> clone(const std::string&) override { return nothing(); }
  Result<SessionId> detach(AgentSpec, std::vector<Tool>, std::string) override { return nothing(); }
  const std::vector<Tool>& tools() const override { return tools_; }
  void call_all(std::vector<InnerCall>, InnerCallDone) override {}
  bool continue_after(const std::vector<SubAgent>&) override { return false; }
  Status read_memory(std::string_view, const std::function<void(const MemoryStore&)>&) const override {
    return {};
  }

  std::vector<std::string> asked, said;
  std::function<void()> on_question;
  std::function<void(const std::string&)> on_progress;

 private:
  static std::unexpected<Error> nothing() { return fail(ErrorCode::kInput, "only permissions"); }

  Tool permission_;
  std::vector<Tool> tools_;
};

class AcpToolsTest : public ::testing::Test {
 protected:
  AcpToolsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_acp_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    bounds_.total_bytes = 4'000'000;
    bounds_.message_bytes = 1'000'000;
  }
  ~AcpToolsTest() override { std::filesystem::remove_all(folder_); }

  std::string log_file() const { return (folder_ / "log").string(); }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(log_file()).rdbuf();
    return text.str();
  }
  /// Gives the scripted agent a prompt.
  Result<ToolOutput> ask(const std::string& behaviour, const std::string& prompt = "Hi") {
    AcpAgent agent;
    agent.name = "coder";
    agent.folder = folder_;
    agent.program.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/acp/agent.py", behaviour, log_file()};
    agent.program.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"PRAXIS_MARK", log_file()}};
    agent.start = start_;
    agent.timeout = timeout_;
    agent.bounds = bounds_;
    if (prepare_) prepare_(agent.program);
    auto tools = acp_tools(std::move(agent));
    if (!tools) return fail(std::move(tools.error()));
    scope_ = std::make_shared<JudgingScope>(tools->at(1));
    scope_->on_question = on_question_;
    scope_->on_progress = on_progress_;
    ToolContext context;
    context.stop = stop_.get_token();
    context.scope = scope_;
    return tools->at(0).handler(context, JsonObject{{"prompt", prompt}});
  }
  /// The number of processes of this test's agents.
  std::size_t processes() const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ostringstream environment;
      environment << std::ifstream(entry.path() / "environ").rdbuf();
      found += environment.str().contains("PRAXIS_MARK=" + log_file()) ? 1U : 0U;
    }
    return found;
  }

  std::filesystem::path folder_;
  AcpBounds bounds_;
  Millis start_{60'000};
  Millis timeout_{60'000};
  std::stop_source stop_;
  std::function<void()> on_question_;
  std::function<void(const std::string&)> on_progress_;
  std::function<void(McpProgram&)> prepare_;
  std::shared_ptr<JudgingScope> scope_;
};

TEST_F(AcpToolsTest, Answer_IsTheTextOfTheSessionWithWhatIsLeftOut) {
  for (const char* behaviour : {"usual", "greeting"}) {
    const auto answer = ask(behaviour);
    ASSERT_TRUE(answer) << behaviour << answer.error().message;
    EXPECT_EQ(answer->text, "Hello.\n\n\n[image that is not passed on]\n\n\nYou said: Hi");
    EXPECT_THAT(scope_->said, AllOf(Contains("You said: Hi"), Not(Contains("not for you"))));
  }
  EXPECT_THAT(log(),
              AllOf(HasSubstr(R"("protocolVersion":1)"), HasSubstr(R"("terminal":false)"),
                    HasSubstr("\"cwd\":\"" + folder_.string() + '"'), HasSubstr(R"("mcpServers":[])")));
  EXPECT_EQ(processes(), 0U);
}

TEST_F(AcpToolsTest, Permission_IsJudgedAndNeverGivenForGood) {
  const auto answer = ask("permissions", "read execute edit read");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "read=once execute=no edit=no read=once ");
  ASSERT_EQ(scope_->asked.size(), 4U);
  EXPECT_EQ(scope_->asked[0],
            R"(coder__permission {"kind":"read","title":"Run make","paths":["/project/make"],)"
            R"("input":{"command":"make"}})");
}

TEST_F(AcpToolsTest, Question_IsAboutTheWholeCall_AsFarAsItIsKnown) {
  const auto answer = ask("in_pieces");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "no");
  EXPECT_THAT(scope_->asked, ::testing::ElementsAre(AllOf(HasSubstr("Run deploy"), HasSubstr("execute"))));
}

TEST_F(AcpToolsTest, QuestionThatCannotBeAnsweredOnce_IsRefusedUnasked) {
  const auto few = ask("few_options");
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_EQ(few->text, "never cancelled");
  EXPECT_TRUE(scope_->asked.empty());
  const auto much = ask("too_much");
  ASSERT_TRUE(much) << much.error().message;
  EXPECT_EQ(much->text, "no");
  EXPECT_TRUE(scope_->asked.empty());
}

TEST_F(AcpToolsTest, OtherRequests_AreAnsweredWithAnError) {
  const auto answer = ask("curious");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "-32601 -32601 -32601 ");
}

TEST_F(AcpToolsTest, AnswersToOtherRequests_AreIgnored) {
  const auto answer = ask("wrong_ids");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "right");
}

TEST_F(AcpToolsTest, LongAnswer_IsCutAtItsBound) {
  bounds_.result_bytes = 1500;
  const auto answer = ask("wordy");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, std::string(1500, 'x') + "\n[98500 bytes left out]");
}

TEST_F(AcpToolsTest, Stop_CancelsTheTurnAndEndsAllProcesses) {
  for (const char* behaviour : {"patient", "deaf"}) {
    stop_ = {};
    on_progress_ = [this](const std::string& text) {
      if (text == "working") stop_.request_stop();
    };
    const auto answer = ask(behaviour);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(reach_of(answer.error()), Reach::kSent);
    EXPECT_EQ(processes(), 0U);
  }
  EXPECT_THAT(log(), AllOf(HasSubstr(R"("method":"session/cancel")"), HasSubstr("\ncancelled\n")));
}

TEST_F(AcpToolsTest, StopDuringAQuestion_CancelsTheQuestion) {
  on_question_ = [this] { stop_.request_stop(); };
  ASSERT_FALSE(ask("cancelled_while_asking"));
  EXPECT_THAT(log(), HasSubstr("got cancelled"));
}

TEST_F(AcpToolsTest, AgentThatNeverAnswers_IsEndedInTime) {
  timeout_ = Millis{300};
  const auto answer = ask("deaf");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("did not answer in time"));
  EXPECT_EQ(reach_of(answer.error()), Reach::kSent);
  EXPECT_EQ(processes(), 0U);
}

TEST_F(AcpToolsTest, ProgramThatIsNotThere_IsNotSentAnything) {
  prepare_ = [](McpProgram& program) { program.argv = {"no-such-agent"}; };
  const auto answer = ask("usual");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no-such-agent"));
  EXPECT_EQ(reach_of(answer.error()), Reach::kNotSent);
}

struct HostileCase {
  const char* behaviour;
  const char* message;
  Reach reach;
};
class HostileAcpAgent : public AcpToolsTest, public ::testing::WithParamInterface<HostileCase> {};

TEST_P(HostileAcpAgent, EndsWithinItsBounds_WithItsReason) {
  const auto& [behaviour, message, reach] = GetParam();
  const auto answer = ask(behaviour);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr(message), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(reach_of(answer.error()), reach);
  EXPECT_EQ(processes(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileAcpAgent,
    ::testing::Values(
        HostileCase{"old", "version 0 of the Agent Client Protocol", Reach::kNotSent},
        HostileCase{"words", "version \"1\" of the", Reach::kNotSent},
        HostileCase{"nameless", "gave its session no id", Reach::kNotSent},
        HostileCase{"login", "log in with the program itself first", Reach::kNotSent},
        HostileCase{"dies", "the agent has ended with status 3; it reported: out of luck", Reach::kSent},
        HostileCase{"endless", "the agent wrote more than 4000000 bytes", Reach::kSent},
        HostileCase{"noisy", "what is no message of the protocol", Reach::kSent},
        HostileCase{"questions", "asks without reading the answers", Reach::kSent},
        HostileCase{"garbled", "a message that cannot be read", Reach::kSent},
        HostileCase{"deep", "a message that cannot be read", Reach::kSent},
        HostileCase{"huge", "a message of more than 1000000 bytes", Reach::kSent},
        HostileCase{"fails", "the agent reports error -32603: no", Reach::kAnswered},
        HostileCase{"no_result", "a reason that the protocol does not know: \"\"", Reach::kAnswered},
        HostileCase{"refusal", "refuses to continue: So far.", Reach::kAnswered},
        HostileCase{"gave_up", "cancelled its turn: So far.", Reach::kAnswered},
        HostileCase{"strange", "does not know: \"tea_time\"", Reach::kAnswered}),
    [](const auto& tested) { return std::string(tested.param.behaviour); });

TEST_F(AcpToolsTest, TurnThatEndsEarly_SaysSo) {
  const auto answer = ask("short");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "So far.\n[The agent stopped early: max_tokens]");
}

}  // namespace
}  // namespace praxis
