// Tasks of servers of both eras (tests/mcp/task_server.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "praxis/base/reach.hpp"
#include "praxis/mcp/mcp_client.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

class McpTasks : public ::testing::TestWithParam<const char*> {
 protected:
  McpTasks() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_mcp_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    client_ = client();
  }
  ~McpTasks() override {
    client_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<McpClient> client(bool takes_tasks = true) const {
    McpProgram program;
    program.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/mcp/task_server.py", GetParam(),
                    (folder_ / "notes").string()};
    program.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    McpBounds bounds;
    bounds.answers_questions = true;
    bounds.takes_tasks = takes_tasks;
    return std::make_unique<McpClient>(program, bounds);
  }
  static McpCallOptions within(std::chrono::milliseconds time) {
    McpCallOptions options;
    options.deadline = Clock::now() + time;
    return options;
  }
  std::string begun(const std::string& tool) const {
    const auto made = client_->call(tool, JsonObject{}, within(kLong));
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->task : "";
  }
  Result<McpResult> awaited(const std::string& task) const {
    return client_->await_task(task, within(kLong));
  }
  void gate(bool closed) const {
    if (closed) std::ofstream(folder_ / "notes.gate") << "closed";
    if (!closed) std::filesystem::remove(folder_ / "notes.gate");
  }
  std::string notes() const {
    std::ifstream in(folder_ / "notes");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static constexpr std::chrono::seconds kLong{60};
  std::filesystem::path folder_;
  std::unique_ptr<McpClient> client_;
};

TEST_P(McpTasks, CallGivesATaskWhoseResultIsAwaited) {
  ASSERT_TRUE(client_->tools());
  EXPECT_TRUE(client_->tools()->tasks);
  const std::string task = begun("build");
  EXPECT_EQ(task, "task-1");
  const auto result = awaited(task);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "built");
  EXPECT_EQ(result->task, "");
  const auto again = client()->await_task(task, within(kLong));
  ASSERT_TRUE(again) << "another process finds the task";
  EXPECT_EQ(again->text, "built");
}

TEST_P(McpTasks, TaskThatWorksAtTheDeadlineIsNamedAgain) {
  gate(true);
  const std::string task = begun("build");
  const auto result = client_->await_task(task, within(std::chrono::milliseconds(300)));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->task, task);
  EXPECT_THAT(notes(), Not(HasSubstr("cancel")));
  gate(false);
  EXPECT_EQ(awaited(task)->text, "built");
}

TEST_P(McpTasks, StopCancelsTheTaskOnTheServer) {
  gate(true);
  const std::string task = begun("build");
  std::stop_source stop;
  McpCallOptions options = within(kLong);
  options.stop = stop.get_token();
  std::thread stopper([&] {
    const auto end = Clock::now() + kLong;
    while (!notes().contains("get " + task) && Clock::now() < end) std::this_thread::yield();
    stop.request_stop();
  });
  const auto result = client_->await_task(task, options);
  stopper.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_THAT(notes(), HasSubstr("cancel " + task));
  const auto after = awaited(task);
  ASSERT_FALSE(after);
  EXPECT_THAT(after.error().message, HasSubstr("cancelled the task"));
}

TEST_P(McpTasks, TaskAsksAndGoesOnWithTheAnswer) {
  const std::string task = begun("shirt");
  const auto asked = awaited(task);
  ASSERT_TRUE(asked) << asked.error().message;
  ASSERT_TRUE(asked->input);
  const auto& [name, request] = *asked->input->requests.begin();
  EXPECT_EQ(json_text(json_at(request, "params"), "message"), "Which size?");
  McpCallOptions options = within(kLong);
  options.answers[name] = JsonObject{{"action", "accept"}, {"content", JsonObject{{"size", "L"}}}};
  options.state = asked->input->state;
  const auto result = client_->await_task(task, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, R"(size {"action": "accept", "content": {"size": "L"}})");
}

TEST_P(McpTasks, FailureAndUnknownTaskAreErrorsThatSayWhy) {
  const auto failed = awaited(begun("broken"));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("the disk is full"));
  EXPECT_EQ(reach_of(failed.error()), Reach::kAnswered);
  const auto unknown = awaited("task-9");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("there is no task task-9"));
  EXPECT_THAT(awaited("a b").error().message, HasSubstr("must be the id of a task"));
}

TEST_P(McpTasks, ClientThatTakesNoTasksDoesNotSayThatItDoes) {
  const auto result = client(false)->call("build", JsonObject{}, within(kLong));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("the client takes no tasks"));
}

INSTANTIATE_TEST_SUITE_P(Eras, McpTasks, ::testing::Values("modern", "handshake"));

}  // namespace
}  // namespace praxis
