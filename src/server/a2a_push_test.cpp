// The push notifications of A2A 1.0, with a receiver of our own on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "net/testing/test_server.hpp"
#include "server/testing/a2a_client.hpp"
#include "server/testing/a2a_shapes.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace testing;

constexpr auto kLongAgo = std::chrono::milliseconds(1);

/// Takes notifications, or does what the test says instead.
class Receiver {
 public:
  enum class Mood : std::uint8_t { kTakes, kFails, kRedirects, kSilent };

  std::string url(const std::string& target = "/hook?key=SECRET-PATH") const { return server_.url(target); }
  std::string host() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  void be(Mood mood) { mood_ = mood; }
  std::size_t count() const { return server_.requests().size(); }
  void wait_for(std::size_t count) const { server_.wait_for_requests(count); }
  std::vector<TestRequest> requests() const { return server_.requests(); }

  /// The requests so far, once the last one has this state.
  std::vector<TestRequest> until(std::string_view state) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      const auto all = taken();
      if (!all.empty() && all.back().body.find(state) != std::string::npos) return all;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "no notification had " << state;
    return taken();
  }
  /// Those that it took.
  std::vector<TestRequest> taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  void answer(const TestRequest& request, TestConnection& to) {
    switch (mood_.load()) {
      case Mood::kSilent:
        return to.wait_for_close();
      case Mood::kFails:
        to.write(http_reply(503, ""));
        return;
      case Mood::kRedirects:
        to.write(http_reply(307, "", "Location: /elsewhere\r\n"));
        return;
      case Mood::kTakes:
        break;
    }
    {
      const std::lock_guard lock(mutex_);
      taken_.push_back(request);
    }
    to.write(http_reply(200, ""));
  }

  std::atomic<Mood> mood_ = Mood::kTakes;
  mutable std::mutex mutex_;
  std::vector<TestRequest> taken_;
  TestServer server_{[this](const TestRequest& request, TestConnection& to) { answer(request, to); }};
};

class A2aPushes : public A2aClientTest {
 protected:
  ~A2aPushes() override { server_.reset(); }  // before the receiver

  void start_pushing() {
    ServerOptions options;
    options.push = {.hosts = {receiver_.host()},
                    .first_pause = kLongAgo,
                    .longest_pause = kLongAgo,
                    .attempts = SIZE_MAX};
    options.push.answer = answer_;
    options.push.between_looks = std::chrono::milliseconds(1);
    options.warn = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      warnings_ += text + '\n';
    };
    start(std::move(options));
  }
  /// Begins a task, which the answer does not wait for, and returns its id.
  std::string begin(const std::string& agent, const std::string& push = {},
                    std::string_view token = kOwner) const {
    const Answer sent =
        rest("POST", agent + "/message:send",
             R"({"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":)"
             R"({"returnImmediately":true)" +
                 (push.empty() ? "" : R"(,"taskPushNotificationConfig":)" + push) + "}}",
             token);
    EXPECT_EQ(sent.status, 200) << sent.body;
    return json_string(json_at(sent.json, "task"), "id");
  }
  std::string config(const std::string& more = {}) const {
    return R"({"url":")" + receiver_.url() + "\"" + more + "}";
  }
  static std::string configs_of(const std::string& agent, const std::string& task) {
    return agent + "/tasks/" + task + "/pushNotificationConfigs";
  }
  void cancel(const std::string& agent, const std::string& task) const {
    EXPECT_EQ(rest("POST", agent + "/tasks/" + task + ":cancel").status, 200);
  }
  /// Kind and state of each notification, after a look at its form.
  static std::vector<std::string> kinds_of(const std::vector<TestRequest>& requests) {
    std::vector<std::string> all;
    for (const TestRequest& request : requests) {
      const Json body = parse_json(request.body).value_or(nullptr);
      EXPECT_EQ(a2a_mistakes("StreamResponse", body), "") << request.body;
      if (!body.is_object() || body.get_object().empty()) continue;
      const auto& [kind, value] = *body.get_object().begin();
      const std::string state = json_string(json_at(value, "status"), "state");
      all.push_back(std::string(kind) + (state.empty() ? "" : " " + state.substr(11)));
    }
    return all;
  }
  /// The configuration goes soon after the end was delivered.
  void wait_until_empty(const std::string& agent, const std::string& task) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      if (json_at(rest("GET", configs_of(agent, task)).json, "configs").as_array().empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "the configurations of " << task << " stay";
  }
  std::string warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

  Receiver receiver_;
  std::chrono::milliseconds answer_ = std::chrono::minutes(1);
  mutable std::mutex mutex_;
  std::string warnings_;
};

// ---- configurations

TEST_F(A2aPushes, Configurations_AreCreatedGivenListedAndDeletedInBothBindings) {
  start_pushing();
  const Answer card = call("GET", "/.well-known/agent-card.json", {}, "");
  EXPECT_TRUE(json_bool(json_at(card.json, "capabilities"), "pushNotifications"));
  const std::string task = begin("slow");
  const std::string more =
      R"(,"authentication":{"scheme":"Bearer","credentials":"SECRET-A"},"token":"SECRET-B")";
  const Answer one = rest("POST", configs_of("slow", task), config(more));
  ASSERT_EQ(one.status, 200) << one.body;
  const Answer two = rpc("slow", "CreateTaskPushNotificationConfig",
                         R"({"id":"mine","taskId":")" + task + R"(","url":")" + receiver_.url() + "\"}");
  EXPECT_EQ(json_string(json_at(two.json, "result"), "id"), "mine") << two.body;

  const std::string by_id = R"({"taskId":")" + task + R"(","id":")" + one.text("id") + R"("})";
  EXPECT_EQ(to_json_text(json_at(rpc("slow", "GetTaskPushNotificationConfig", by_id).json, "result")),
            to_json_text(one.json));
  EXPECT_EQ(rest("GET", configs_of("slow", task) + "/" + one.text("id")).body, one.body);
  EXPECT_EQ(one.text("url"), receiver_.url());
  EXPECT_THAT(one.body, AllOf(HasSubstr("Bearer"), Not(HasSubstr("SECRET-A")), Not(HasSubstr("SECRET-B"))));
  EXPECT_THAT(json_at(rest("GET", configs_of("slow", task)).json, "configs").as_array(), SizeIs(2));

  EXPECT_EQ(rest("DELETE", configs_of("slow", task) + "/mine").status, 200);
  EXPECT_EQ(rest("DELETE", configs_of("slow", task) + "/mine").status, 200) << "once more is the same";
  EXPECT_EQ(rest("GET", configs_of("slow", task) + "/mine").status, 404);
  EXPECT_TRUE(json_at(rpc("slow", "DeleteTaskPushNotificationConfig", by_id).json, "result").is_object());
  const Answer none = rpc("slow", "ListTaskPushNotificationConfigs", R"({"taskId":")" + task + "\"}");
  EXPECT_THAT(json_at(json_at(none.json, "result"), "configs").as_array(), IsEmpty()) << none.body;
}

TEST_F(A2aPushes, HostThatIsNotAllowed_IsRefused_AndTheMessageIsNotSent) {
  start_pushing();
  const std::string task = begin("slow");
  for (const char* url : {"https://example.com/SECRET-PATH", "http://169.254.169.254/", "http://127.0.0.1:1/",
                          "file:///etc/passwd", "http://user:SECRET-PATH@127.0.0.1/"}) {
    const std::string body = R"({"url":")" + std::string(url) + "\"}";
    const Answer refused = rest("POST", configs_of("slow", task), body);
    EXPECT_EQ(refused.status, 400) << url;
    EXPECT_THAT(refused.body, AllOf(HasSubstr(R"(\"url\")"), Not(HasSubstr("SECRET-PATH"))));
    const Answer message = rest("POST", "chat/message:send",
                                R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},)"
                                R"("configuration":{"taskPushNotificationConfig":)" +
                                    body + "}}");
    EXPECT_EQ(message.status, 400) << url;
    EXPECT_THAT(message.body, HasSubstr("configuration.taskPushNotificationConfig.url"));
  }
  EXPECT_THAT(rest("POST", configs_of("slow", task), R"({"url":"https://example.com/"})").body,
              AllOf(HasSubstr("example.com"), HasSubstr("--push-host")));
  EXPECT_THAT(json_at(rest("GET", "chat/tasks").json, "tasks").as_array(), IsEmpty()) << "no run began";
}

TEST_F(A2aPushes, ConfigurationThatIsNotValid_IsRefusedWithItsField) {
  start_pushing();
  const std::string task = begin("slow");
  const std::pair<const char*, const char*> wrong[] = {
      {R"(,"token":"a\r\nX-Evil: SECRET")", "token"},
      {R"(,"id":7)", "id"},
      {R"(,"authentication":"Bearer")", "authentication"},
      {R"(,"authentication":{"scheme":"Bearer"})", "authentication.credentials"},
      {R"(,"authentication":{"credentials":"SECRET"})", "authentication.scheme"},
      {R"(,"authentication":{"scheme":"Bearer SECRET","credentials":"x"})", "authentication.scheme"}};
  for (const auto& [more, field] : wrong) {
    const Answer refused = rest("POST", configs_of("slow", task), config(more));
    EXPECT_EQ(refused.status, 400) << more;
    EXPECT_THAT(refused.body,
                AllOf(HasSubstr(R"(\")" + std::string(field) + R"(\")"), Not(HasSubstr("SECRET"))));
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rest("POST", configs_of("slow", task), config()).status, 200);
  EXPECT_EQ(rest("POST", configs_of("slow", task), config()).status, 429) << "ten of a task at most";
}

TEST_F(A2aPushes, OthersNeitherSeeNorDeleteThem) {
  start_pushing();
  const std::string task = begin("slow", {}, kAnna);
  const Answer made = rest("POST", configs_of("slow", task), config(R"(,"id":"annas")"), kAnna);
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(rest("GET", configs_of("slow", task), {}, kBert).status, 404);
  EXPECT_EQ(rest("GET", configs_of("slow", task) + "/annas", {}, kBert).status, 404);
  EXPECT_EQ(rest("DELETE", configs_of("slow", task) + "/annas", {}, kBert).status, 404);
  EXPECT_EQ(rest("POST", configs_of("slow", task), config(R"(,"id":"annas")"), kBert).status, 404);
  EXPECT_EQ(rest("GET", configs_of("slow", task) + "/annas", {}, kAnna).status, 200);
}

// ---- delivery

TEST_F(A2aPushes, ChangesAreDeliveredInOrder_WithCredentials_UntilTheTaskEnds) {
  asking_agent();
  start_pushing();
  const std::string task = begin(
      "ask", config(R"(,"authentication":{"scheme":"Bearer","credentials":"SECRET-A"},"token":"SECRET-B")"));
  receiver_.until("TASK_STATE_INPUT_REQUIRED");
  const Answer sent = rest("POST", "ask/message:send",
                           R"({"message":{"messageId":"m2","role":"ROLE_USER","taskId":")" + task +
                               R"(","parts":[{"text":"allow"}]}})");
  EXPECT_EQ(sent.status, 200) << sent.body;
  const auto all = receiver_.until("TASK_STATE_COMPLETED");
  auto kinds = kinds_of(all);
  EXPECT_THAT(kinds.front(), HasSubstr("task "));
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  ASSERT_GE(kinds.size(), 4U);
  kinds.erase(kinds.begin(), kinds.end() - 4);
  EXPECT_THAT(kinds, ElementsAre(HasSubstr("INPUT_REQUIRED"), "statusUpdate WORKING", "artifactUpdate",
                                 "statusUpdate COMPLETED"));
  EXPECT_THAT(all[all.size() - 2].body, HasSubstr("Done."));
  for (const TestRequest& request : all) {
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/hook?key=SECRET-PATH");
    EXPECT_EQ(find_header(request.headers, "Content-Type"), "application/a2a+json");
    EXPECT_EQ(find_header(request.headers, "Authorization"), "Bearer SECRET-A");
    EXPECT_EQ(find_header(request.headers, "X-A2A-Notification-Token"), "SECRET-B");
    EXPECT_THAT(request.body, AllOf(HasSubstr(task), Not(HasSubstr("SECRET"))));
  }
  wait_until_empty("ask", task);
  EXPECT_EQ(kinds_of(receiver_.requests()).back(), "statusUpdate COMPLETED") << "nothing follows the end";
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(A2aPushes, ReceiverThatIsDown_GetsAllInOrderOnceItIsUp_AndTheRunDoesNotWait) {
  for (const auto mood : {Receiver::Mood::kFails, Receiver::Mood::kRedirects}) {
    receiver_.be(mood);
    if (!server_) start_pushing();
    const std::string task = begin("chat", config());
    wait_for(task.substr(0, task.find('~')), "completed");
    const std::size_t before = receiver_.count();
    receiver_.wait_for(before + 2);
    EXPECT_THAT(json_at(rest("GET", configs_of("chat", task)).json, "configs").as_array(), SizeIs(1));
    const std::size_t taken = receiver_.taken().size();
    receiver_.be(Receiver::Mood::kTakes);
    auto all = receiver_.until("TASK_STATE_COMPLETED");
    wait_until_empty("chat", task);
    all = receiver_.taken();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(taken));
    ASSERT_FALSE(all.empty());
    EXPECT_THAT(kinds_of(all).front(), HasSubstr("task "));
    EXPECT_THAT(kinds_of(all).back(), HasSubstr("COMPLETED"));
    for (const TestRequest& request : receiver_.requests()) EXPECT_NE(request.target, "/elsewhere");
  }
}

TEST_F(A2aPushes, ReceiverThatNeverAnswers_HoldsNothingUp) {
  receiver_.be(Receiver::Mood::kSilent);
  start_pushing();
  const std::string task = begin("chat", config());
  wait_for(task.substr(0, task.find('~')), "completed");
  receiver_.wait_for(1);
  server_.reset();
  EXPECT_EQ(receiver_.count(), 1U) << "one request at a time";
}

TEST_F(A2aPushes, ReceiverThatDoesNotAnswerInTime_IsAskedAgain) {
  answer_ = std::chrono::milliseconds(20);
  receiver_.be(Receiver::Mood::kSilent);
  start_pushing();
  const std::string task = begin("chat", config());
  receiver_.wait_for(3);
  server_.reset();
  receiver_.be(Receiver::Mood::kTakes);
  answer_ = std::chrono::minutes(1);
  start_pushing();
  receiver_.until("TASK_STATE_COMPLETED");
  wait_until_empty("chat", task);
}

TEST_F(A2aPushes, DeletionStopsDelivery) {
  start_pushing();
  const std::string task = begin("slow", config(R"(,"id":"mine")"));
  receiver_.wait_for(1);
  EXPECT_EQ(rest("DELETE", configs_of("slow", task) + "/mine").status, 200);
  const std::size_t before = receiver_.count();
  // This one gets the end after the deleted one would have got it.
  EXPECT_EQ(rest("POST", configs_of("slow", task), config(R"(,"id":"other","token":"other")")).status, 200);
  cancel("slow", task);
  receiver_.until("TASK_STATE_CANCELED");
  const auto all = receiver_.requests();
  for (std::size_t i = before; i < all.size(); ++i)
    EXPECT_EQ(find_header(all[i].headers, "X-A2A-Notification-Token"), "other") << all[i].body;
}

TEST_F(A2aPushes, ConfigurationsSurviveARestart_AndAreDelivered) {
  asking_agent();
  start_pushing();
  const std::string task = begin("ask", config(R"(,"id":"mine","token":"kept")"));
  receiver_.until("TASK_STATE_INPUT_REQUIRED");
  server_.reset();
  const std::size_t before = receiver_.taken().size();
  start_pushing();
  EXPECT_EQ(rest("GET", configs_of("ask", task) + "/mine").status, 200);
  const Answer stopped = rest("POST", "ask/tasks/" + task + ":cancel");
  EXPECT_EQ(stopped.status, 200) << stopped.body;
  const auto all = receiver_.until("TASK_STATE_CANCELED");
  ASSERT_GT(all.size(), before);
  EXPECT_THAT(kinds_of({all[before]}).front(), HasSubstr("task ")) << "first the task";
  EXPECT_EQ(find_header(all.back().headers, "X-A2A-Notification-Token"), "kept");
  wait_until_empty("ask", task);
  server_.reset();
  start();
  EXPECT_EQ(rest("GET", configs_of("ask", task)).status, 400) << "without hosts the server sends nothing";
}

TEST_F(A2aPushes, HostThatIsNotAllowedAnyMore_GetsNothingAfterARestart) {
  asking_agent();
  start_pushing();
  const std::string task = begin("ask", config());
  receiver_.until("TASK_STATE_INPUT_REQUIRED");
  server_.reset();
  const std::size_t before = receiver_.count();
  ServerOptions options;
  options.push.hosts = {"hooks.example.com"};
  std::string warnings;
  options.warn = [&](const std::string& text) { warnings += text; };
  start(std::move(options));
  EXPECT_THAT(warnings, AllOf(HasSubstr("127.0.0.1"), HasSubstr("--push-host"), Not(HasSubstr("SECRET"))));
  cancel("ask", task);
  server_.reset();
  EXPECT_EQ(receiver_.count(), before);
}

TEST_F(A2aPushes, ManyChangesThatWait_BecomeOne) {
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += R"({"tool_calls":[{"name":"kv","arguments":{"op":"put","key":"k","value":")" +
             std::to_string(i) + "\"}}]}\n";
  script("many", lines + R"({"text":"Done."})");
  agent("many", "[tools.kv]\n[policy]\nallow = [\"kv\"]\n[limits]\nmax_steps = 200\n");
  receiver_.be(Receiver::Mood::kFails);
  start_pushing();
  const std::string task = begin("many", config());
  wait_for(task.substr(0, task.find('~')), "completed");
  receiver_.be(Receiver::Mood::kTakes);
  receiver_.until("TASK_STATE_COMPLETED");
  wait_until_empty("many", task);
  EXPECT_THAT(receiver_.taken().size(), ::testing::Le(66U));
}

TEST_F(A2aPushes, TaskThatHasEnded_IsDeliveredOnce) {
  start_pushing();
  const std::string task = begin("chat");
  wait_for(task.substr(0, task.find('~')), "completed");
  EXPECT_EQ(rest("POST", configs_of("chat", task), config()).status, 200);
  wait_until_empty("chat", task);
  EXPECT_THAT(kinds_of(receiver_.requests()), ElementsAre("task COMPLETED"));
}

TEST_F(A2aPushes, SecretsAreOnlyInAFileOfTheirOwn_SealedIfThereIsAKey) {
  const auto telling = [this] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      const std::string name = entry.path().filename();
      if (bytes.find("SECRET-A") != std::string::npos) names.push_back(name.substr(0, name.find('-')));
    }
    return names;
  };
  const std::string secret = config(
      R"(,"id":"mine","token":"SECRET-A","authentication":{"scheme":"Basic","credentials":"SECRET-A"})");
  start_pushing();
  begin("slow", secret);
  EXPECT_THAT(telling(), AllOf(Not(IsEmpty()), ::testing::Each("runs.db.push")));
  EXPECT_EQ(std::filesystem::status(folder_ / "runs.db.push").permissions(), std::filesystem::perms(0600));
  server_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().filename().string().starts_with("runs.db")) std::filesystem::remove(entry.path());
  }
  std::ofstream(folder_ / "config/praxis/config.toml")
      << "[encryption]\njournal_key = \"env:PUSH_TEST_KEY\"\n";
  setenv("PUSH_TEST_KEY", std::string(64, '6').c_str(), 1);
  start_pushing();
  const std::string task = begin("slow", secret);
  EXPECT_THAT(telling(), IsEmpty());
  server_.reset();
  start_pushing();
  EXPECT_EQ(rest("GET", configs_of("slow", task) + "/mine").status, 200);
  server_.reset();
  unsetenv("PUSH_TEST_KEY");
}

TEST_F(A2aPushes, HostThatIsNotValid_IsNamed) {
  auto workspace = app::open_workspace({.folder = "", .journal = (folder_ / "runs.db").string()});
  ASSERT_TRUE(workspace) << workspace.error().message;
  ServerOptions options;
  options.push.hosts = {"good.example.com", "https://bad.example.com/x"};
  const auto started = Server::start(*std::move(workspace), std::move(options));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, AllOf(HasSubstr("--push-host"), HasSubstr("bad.example.com/x")));
}

TEST_F(A2aPushes, ServerWithoutAJournalInAFile_SaysWhatItNeeds) {
  auto workspace = app::open_workspace({.folder = "", .journal = "memory"});
  ASSERT_TRUE(workspace) << workspace.error().message;
  ServerOptions options;
  options.push.hosts = {"hooks.example.com"};
  const auto started = Server::start(*std::move(workspace), std::move(options));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("journal in a file"));
}

}  // namespace
}  // namespace praxis::server
