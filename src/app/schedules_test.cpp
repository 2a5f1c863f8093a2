// Schedules: the times of cron lines over daylight saving, missed times, and runs that are started once.
#include "app/schedules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "app/cron_times.hpp"
#include "journal/testing/postgres_server.hpp"
#include "praxis/base/dates.hpp"
#include "store/sqlite.hpp"

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

UnixMillis at(const char* time) { return from_iso8601(time).value(); }

/// The next times after `from`, as text without seconds.
std::vector<std::string> times_after(const char* line, const char* zone, const char* from, int count) {
  const auto times = CronTimes::parse(line);
  std::vector<std::string> found;
  UnixMillis last = at(from);
  for (int i = 0; i < count && times; ++i) {
    const auto next = times->next(last, **TimeZone::find(zone));
    if (!next) break;
    found.push_back(to_iso8601(last = *next).substr(0, 16));
  }
  return found;
}

TEST(CronTimesTest, Line_SelectsMinutesHoursDaysMonthsAndWeekdays) {
  EXPECT_THAT(times_after("0 6 * * 1-5", "UTC", "2026-11-27T06:00:00Z", 2),
              ElementsAre("2026-11-30T06:00", "2026-12-01T06:00"));
  EXPECT_THAT(times_after("*/20 8,12 1 jan-feb *", "UTC", "2026-12-31T00:00:00Z", 7),
              ElementsAre("2027-01-01T08:00", "2027-01-01T08:20", "2027-01-01T08:40", "2027-01-01T12:00",
                          "2027-01-01T12:20", "2027-01-01T12:40", "2027-02-01T08:00"));
  EXPECT_THAT(times_after("0 0 13 * FRI", "UTC", "2026-11-01T00:00:00Z", 3),
              ElementsAre("2026-11-06T00:00", "2026-11-13T00:00", "2026-11-20T00:00"))
      << "either of two restricted days";
  EXPECT_THAT(times_after("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1), ElementsAre("2104-02-29T00:00"));
  EXPECT_THAT(times_after("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1), IsEmpty());
  EXPECT_THAT(times_after("@weekly", "+05:30", "2026-11-27T00:00:00Z", 1), ElementsAre("2026-11-28T18:30"));
}

TEST(CronTimesTest, WrongLine_IsRefusedByField) {
  const auto problem = [](const char* line) {
    const auto read = CronTimes::parse(line);
    return read ? std::string("valid") : read.error().message;
  };
  EXPECT_THAT(problem("0 24 * * *"), HasSubstr("the hour \"24\""));
  EXPECT_THAT(problem("60 * * * *"), HasSubstr("the minute \"60\""));
  EXPECT_THAT(problem("* * 0 * *"), HasSubstr("the day \"0\""));
  EXPECT_THAT(problem("* * * may-jan *"), HasSubstr("the month"));
  EXPECT_THAT(problem("* * * * 1,,2"), HasSubstr("the weekday"));
  EXPECT_THAT(problem("*/0 * * * *"), HasSubstr("the minute"));
  EXPECT_THAT(problem("0 6 * *"), HasSubstr("the times \"0 6 * *\""));
}

class BerlinTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TimeZone::find("Europe/Berlin")) GTEST_SKIP() << "tzdata is not installed";
  }
};

// 2026-03-29 has no 02:00 to 03:00 in Berlin; 2026-10-25 has it twice.
TEST_F(BerlinTest, TimeThatADayDoesNotHave_IsMovedByTheGap) {
  EXPECT_THAT(times_after("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3),
              ElementsAre("2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"));
}

TEST_F(BerlinTest, TimeThatADayHasTwice_CountsOnce) {
  EXPECT_THAT(times_after("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
              ElementsAre("2026-10-25T00:30", "2026-10-26T01:30"));
}

TEST_F(BerlinTest, LineForEveryHour_FollowsElapsedTime) {
  EXPECT_THAT(times_after("30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 3),
              ElementsAre("2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"));
  EXPECT_THAT(times_after("30 * * * *", "Europe/Berlin", "2026-03-28T23:45:00Z", 3),
              ElementsAre("2026-03-29T00:30", "2026-03-29T01:30", "2026-03-29T02:30"));
}

// ---- missed times

TEST(SchedulesTest, MissedTimes_AreHandledAsTheScheduleSays) {
  Schedule schedule{.id = "s", .times = "0 * * * *", .zone = "UTC", .agent = "a", .prompt = "p"};
  schedule.done = at("2026-11-27T06:30:00Z");
  const UnixMillis late = at("2026-11-27T09:10:00Z");
  const auto due = [&](Missed missed, UnixMillis now) {
    schedule.missed = missed;
    return due_times(schedule, now).value();
  };
  EXPECT_THAT(due(Missed::kSkip, late).times, IsEmpty());
  EXPECT_EQ(due(Missed::kSkip, late).decided, at("2026-11-27T09:00:00Z"));
  EXPECT_THAT(due(Missed::kOnce, late).times, ElementsAre(at("2026-11-27T09:00:00Z")));
  EXPECT_THAT(
      due(Missed::kAll, late).times,
      ElementsAre(at("2026-11-27T07:00:00Z"), at("2026-11-27T08:00:00Z"), at("2026-11-27T09:00:00Z")));
  EXPECT_THAT(due(Missed::kSkip, at("2026-11-27T07:00:30Z")).times, SizeIs(1)) << "half a minute is not late";
  EXPECT_THAT(due(Missed::kAll, at("2027-11-27T00:00:00Z")).times, SizeIs(kMostMissed));
  EXPECT_THAT(due(Missed::kAll, at("2026-11-27T06:59:59Z")).times, IsEmpty());
  schedule.paused = true;
  EXPECT_THAT(due(Missed::kAll, late).times, IsEmpty());
}

// ---- where they are kept, and the scheduler

class ScheduleClock final : public Environment {
 public:
  UnixMillis now() override { return now_; }
  std::chrono::nanoseconds monotonic() override { return std::chrono::milliseconds{now_.value}; }
  std::uint64_t random() override { return 7; }

  UnixMillis now_ = at("2026-11-27T06:30:00Z");
};

class SchedulerTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_schedules_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    place_.journal = (folder_ / "runs.db").string();
    if (GetParam() == std::string("Postgres")) {
      PRAXIS_NEED_POSTGRES();
      place_.journal = ::praxis::testing::PostgresServer::shared()->new_schema();
    }
    EXPECT_EQ(ScheduleStore::open(place_, false).error().kind(), ErrorKind::kNotFound);
    auto store = ScheduleStore::open(place_, true);
    ASSERT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    schedule_.done = clock_->now();
  }
  ~SchedulerTest() override {
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// One pass of a process of its own.
  void pass() {
    Scheduler scheduler(
        *ScheduleStore::open(place_, false), clock_,
        [&](const Schedule& schedule, UnixMillis time) {
          started_.push_back(schedule.id + " " + to_iso8601(time).substr(11, 5));
          return answer_;
        },
        [&](const std::string& text) { warnings_.push_back(text); });
    scheduler.pass();
  }

  std::filesystem::path folder_;
  Workspace place_;
  std::shared_ptr<ScheduleClock> clock_ = std::make_shared<ScheduleClock>();
  std::shared_ptr<ScheduleStore> store_;
  Schedule schedule_{.id = "first", .times = "0 * * * *", .zone = "UTC", .agent = "a", .prompt = "p"};
  Status answer_;
  std::vector<std::string> started_, warnings_;
};

INSTANTIATE_TEST_SUITE_P(In, SchedulerTest, ::testing::Values("file", "Postgres"),
                         [](const auto& place) { return std::string(place.param); });

TEST_P(SchedulerTest, EachTime_IsStartedOnceByAllProcesses) {
  ASSERT_TRUE(store_->add(schedule_));
  pass();
  EXPECT_THAT(started_, IsEmpty());
  clock_->now_ = at("2026-11-27T07:00:00Z");
  pass();
  pass();
  EXPECT_THAT(started_, ElementsAre("first 07:00"));
  clock_->now_ = at("2026-11-27T08:00:01Z");
  pass();
  EXPECT_THAT(started_, ElementsAre("first 07:00", "first 08:00"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_P(SchedulerTest, StartThatMayWorkLater_IsTriedAgain_AndAWrongOneGivenUp) {
  ASSERT_TRUE(store_->add(schedule_));
  clock_->now_ = at("2026-11-27T07:00:00Z");
  answer_ = fail(ErrorCode::kLimit, "too many turns");
  pass();
  pass();
  EXPECT_THAT(started_, SizeIs(2));
  answer_ = fail(ErrorCode::kInput, "no such agent");
  pass();
  pass();
  EXPECT_THAT(started_, SizeIs(3));
  EXPECT_THAT(warnings_.back(), HasSubstr("no such agent"));
}

TEST_P(SchedulerTest, PausedSchedule_StartsNothing_AndContinuesWithTheNextTime) {
  schedule_.missed = Missed::kAll;
  ASSERT_TRUE(store_->add(schedule_));
  ASSERT_TRUE(store_->pause("first", true, clock_->now()));
  clock_->now_ = at("2026-11-27T09:30:00Z");
  pass();
  ASSERT_TRUE(store_->pause("first", false, clock_->now()));
  pass();
  EXPECT_THAT(started_, IsEmpty());
  clock_->now_ = at("2026-11-27T10:00:00Z");
  pass();
  EXPECT_THAT(started_, ElementsAre("first 10:00"));
}

TEST_P(SchedulerTest, Schedules_AreFoundByPartsOfTheirIds_AndRemoved) {
  ASSERT_TRUE(store_->add(schedule_));
  Schedule other = schedule_;
  other.id = "first-too";
  other.missed = Missed::kSkip;
  ASSERT_TRUE(store_->add(other));
  EXPECT_EQ(store_->find("first")->id, "first");
  EXPECT_EQ(store_->find("-too")->missed, Missed::kSkip);
  EXPECT_THAT(store_->find("firs").error().message, HasSubstr("several schedules"));
  EXPECT_THAT(store_->find("none").error().message, HasSubstr("no schedule \"none\""));
  ASSERT_TRUE(store_->remove("first"));
  EXPECT_THAT(*store_->list(), SizeIs(1));
  place_.journal = "memory";
  EXPECT_THAT(ScheduleStore::open(place_, true).error().message, HasSubstr("a journal in memory"));
}

}  // namespace
}  // namespace praxis::app
