// The server carries out schedules; a process that dies before it notes a firing does not make it twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "app/schedule_file.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using namespace testing;

class ScheduleThreadTest : public ServerTest {
 protected:
  std::shared_ptr<app::ScheduleStore> store() {
    auto workspace = app::open_workspace({.folder = "", .journal = journal()});
    return *app::ScheduleStore::open(*workspace, true);
  }
  std::string journal() const { return (folder_ / "runs.db").string(); }
  /// A schedule whose last time has passed an hour ago.
  void add_missed(const std::string& agent = "chat") {
    const UnixMillis past = system_environment()->now() + -std::chrono::hours(2);
    ASSERT_TRUE(store()->add({.id = "hourly",
                              .times = "0 * * * *",
                              .zone = "UTC",
                              .agent = agent,
                              .prompt = "Good morning",
                              .missed = app::Missed::kOnce,
                              .done = past}));
    // Without its log the file is whole, so that a copy of it is what a process finds after a crash.
    std::filesystem::copy_file(path(), path() + ".before");
  }
  std::string path() const { return app::schedules_path(journal()); }
  /// Waits until the schedule's missed time was noted.
  bool is_noted() {
    const UnixMillis recent = system_environment()->now() + -std::chrono::minutes(61);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      if (const auto found = store()->find("hourly"); found && found->done > recent) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  std::vector<std::string> runs() {
    server_.reset();
    auto workspace = app::open_workspace({.folder = "", .journal = journal()});
    auto opened = app::open_journal(*workspace, app::JournalUse::kLook);
    std::vector<std::string> titles;
    const auto rows = (*opened)->sessions();
    for (const SessionRow& row : *rows) titles.push_back(row.title);
    return titles;
  }
};

TEST_F(ScheduleThreadTest, FiringThatACrashLeftUnnoted_IsTheSameRun) {
  add_missed();
  start();
  ASSERT_TRUE(is_noted());
  EXPECT_THAT(runs(), ::testing::ElementsAre("Good morning"));
  for (const char* log : {"-wal", "-shm"}) std::filesystem::remove(path() + log);
  std::filesystem::rename(path() + ".before", path());
  start();
  ASSERT_TRUE(is_noted());
  EXPECT_THAT(runs(), ::testing::ElementsAre("Good morning")) << "found again by its id";
}

TEST_F(ScheduleThreadTest, PresetOfTheProgram_IsRunByItsName) {
  add_missed("reviewer");
  std::ofstream(folder_ / "config/praxis/config.toml")
      << "model = \"script:" << (folder_ / "chat.jsonl").string() << "\"\n";
  start();
  ASSERT_TRUE(is_noted());
  const Answer asked = call("POST", "/api/v1/runs", R"({"agent":"reviewer","prompt":"hi"})");
  EXPECT_EQ(asked.status, 404) << "clients reach what the user set up for them; " << asked.body;
  EXPECT_THAT(runs(), ::testing::ElementsAre("Good morning"));
}

}  // namespace
}  // namespace praxis::server
