// Runs examples/nightly: a run that sleeps for days, over several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "app/schedules.hpp"
#include "example_folder.hpp"
#include "example_tree.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/runtime/runtime.hpp"
#include "process.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Millis kDay{24 * 3'600'000};

/// The clocks of the machine at a later date.
class LaterDate final : public Environment {
 public:
  explicit LaterDate(Millis later) : later_(later) {}
  UnixMillis now() override { return system_->now() + later_; }
  std::chrono::nanoseconds monotonic() override { return system_->monotonic(); }
  std::uint64_t random() override { return system_->random(); }

 private:
  const std::shared_ptr<Environment> system_ = system_environment();
  const Millis later_;
};

/// Waits at most a minute.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class NightlyExample : public ExampleFolder {
 protected:
  NightlyExample() : ExampleFolder("nightly") { fs::create_directories(root_ / "build/nightly/out"); }

  fs::path example() const { return root_ / "examples/nightly"; }
  std::string script() const { return "script:" + (example() / "model.jsonl").string(); }
  std::string written(const std::string& name) const {
    return content_of(root_ / "build/nightly/out" / name);
  }
  /// The log of the service is from now on that of this night.
  void begin_night(const std::string& name) const {
    fs::create_directories(root_ / "build/nightly/log");
    fs::copy_file(example() / "log" / name, root_ / "build/nightly/log/service.log",
                  fs::copy_options::overwrite_existing);
  }

  /// A process of the run, so many days after the first one.
  std::shared_ptr<Runtime> runtime_after(Millis later) const {
    RuntimeOptions options;
    options.journal = *sqlite_journal(journal().string());
    options.environment = std::make_shared<LaterDate>(later);
    return Runtime::create(std::move(options));
  }
  Agent agent() const {
    AgentFileOptions options;
    options.folder = root_.string();
    options.default_model = script();
    return *load_agent_file((example() / "nightly.toml").string(), options);
  }
  /// Starts `praxis schedule run` where the example is, with its agents.
  Process service() const {
    ProcessOptions options;
    options.folder = root_.string();
    options.env = {{"HOME", (root_ / "home").string()},
                   {"XDG_CONFIG_HOME", ""},
                   {"PRAXIS_AGENTS_FOLDER", example().string()},
                   {"PRAXIS_MODEL", script()}};
    return Process({kPraxis, "schedule", "run", "--journal", journal().string()}, options);
  }
  /// What `praxis tree` says of the newest run.
  std::string tree() {
    run(std::string(kPraxis) + " tree last --journal " + journal().string());
    return printed_;
  }
};

TEST_F(NightlyExample, RunWhoseProcessEnds_WakesUpInAnotherOne) {
  ASSERT_EQ(play("--sleep 8000"), 0) << told_;
  EXPECT_THAT(printed_,
              AllOf(HasSubstr("T03:00:00.000Z  0 3 * * * UTC  nightly"), HasSubstr("waits: timer")));
  EXPECT_THAT(written("report.md"), AllOf(HasSubstr("disk /var is 97 %"), HasSubstr("certificate of mail")));
  EXPECT_THAT(written("reminder.md"), AllOf(HasSubstr("Please look at the disk /var"),
                                            HasSubstr("disk /var is 98 %"), Not(HasSubstr("certificate"))));
  EXPECT_EQ(unfinished_nodes(journal()), "");
  EXPECT_EQ(run(std::string(kPraxis) + " replay last --journal " + journal().string()), 0) << told_;
}

TEST_F(NightlyExample, ThreeDays_PassWhileNoProcessLives) {
  begin_night("night.log");
  SessionId id;
  {
    const auto runtime = runtime_after(Millis{0});
    auto session = runtime->create_session(agent());
    ASSERT_TRUE(session) << session.error().message;
    id = session->session_id();
    const auto turn = session->send_user_message("Look through the log");
    ASSERT_TRUE(comes_true([&] {
      const auto nodes = runtime->agent_tree();
      return !nodes.empty() && nodes[0].waits && nodes[0].waits->reason == "timer";
    }));
  }
  begin_night("three-days-later.log");
  {
    const auto runtime = runtime_after(3 * kDay);
    auto session = runtime->open_session(id, agent());
    ASSERT_TRUE(session) << session.error().message;
    auto turn = session->resume();
    ASSERT_TRUE(turn.wait(std::chrono::minutes(1))) << "it sleeps again for three days";
    EXPECT_THAT(turn.result()->text, HasSubstr("Please look at the disk /var"));
    EXPECT_THAT(written("reminder.md"), HasSubstr("disk /var is 98 %"));
  }
  EXPECT_TRUE(await_closed_journals(std::chrono::minutes(1)));  // their files are removed next
}

TEST_F(NightlyExample, MissedNight_IsMadeUpForAndSleepsOnInTheNextProcess) {
  begin_night("night.log");
  app::Workspace workspace;
  workspace.journal = journal().string();
  ASSERT_TRUE((*app::ScheduleStore::open(workspace, true))
                  ->add({.id = "nights",
                         .times = "0 3 * * *",
                         .zone = "UTC",
                         .agent = "nightly",
                         .prompt = "Look through the log",
                         .missed = app::Missed::kOnce,
                         .done = system_environment()->now() + -kDay}));
  {
    Process first = service();
    ASSERT_TRUE(comes_true([&] { return tree().contains("waits: timer"); })) << printed_;
    EXPECT_THAT(written("report.md"), HasSubstr("disk /var is 97 %"));
    first.signal(SIGTERM);
    EXPECT_EQ(first.finish(), 0) << first.errors;
  }
  EXPECT_THAT(tree(), AllOf(HasSubstr("  interrupted  "), Not(HasSubstr("waits: timer"))));
  Process second = service();
  EXPECT_TRUE(comes_true([&] { return tree().contains("waits: timer"); })) << printed_;
  second.signal(SIGKILL);
  second.finish();
}

TEST_F(NightlyExample, Readme_ShowsWhatIsPrinted) { expect_readme_holds(); }

}  // namespace
}  // namespace praxis::testing
