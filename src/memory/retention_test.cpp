// Retention: the sweep removes the oldest notes, and nothing else.
#include "praxis/memory/retention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "memory/testing/store_folder.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::StoreFolder;

/// A clock that tests set.
class SetClock final : public Environment {
 public:
  UnixMillis now() override { return {time}; }
  std::chrono::nanoseconds monotonic() override { return {}; }
  std::uint64_t random() override { return 1; }
  std::int64_t time = 1'700'000'000'000;
};

/// Calls `after` after each change of several notes.
class WatchedClient final : public DatabaseClient {
 public:
  WatchedClient(DatabaseClient& client, std::function<void()> after)
      : client_(client), after_(std::move(after)) {}

  Status write(const std::string& collection, const std::string& key, Json value,
               const ChangeOptions& options) override {
    return client_.write(collection, key, std::move(value), options);
  }
  Result<std::optional<Note>> read(const std::string& collection, const std::string& key) override {
    return client_.read(collection, key);
  }
  Result<std::vector<Note>> query(const std::string& collection, const Filter& filter,
                                  const QueryOptions& options) override {
    return client_.query(collection, filter, options);
  }
  Result<std::vector<Hit>> search(std::string_view text, const SearchOptions& options) override {
    return client_.search(text, options);
  }
  Result<bool> remove(const std::string& collection, const std::optional<std::string>& key,
                      const ChangeOptions& options) override {
    return client_.remove(collection, key, options);
  }
  Status change(const std::string& collection, NoteChanges changes, const ChangeOptions& options) override {
    auto changed = client_.change(collection, std::move(changes), options);
    after_();
    return changed;
  }
  Status purge() override { return client_.purge(); }
  Result<std::vector<CollectionInfo>> collections() override { return client_.collections(); }

 private:
  DatabaseClient& client_;
  const std::function<void()> after_;
};

class RetentionTest : public ::testing::TestWithParam<bool> {
 protected:
  std::string path() const { return folder_.file("memory.db"); }
  MemoryClients open() const {
    const MemoryOptions options{clock_, {}};
    return GetParam() ? sqlite_memory(path(), MemoryUse::kCreate, options).value()
                      : memory_in_process(options);
  }
  DatabaseClient& memory() { return *clients_.database; }
  /// Notes `0` to `count - 1`, an hour apart, with keys in another order than their age.
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(memory().write("c", key(i), Json("canary" + std::to_string(i) + std::string(50, 'x'))));
      clock_->time += 3'600'000;
    }
  }
  static std::string key(int i) {
    return std::string(1, static_cast<char>('a' + (i * 7) % 26)) + std::to_string(i);
  }
  std::vector<std::string> oldest() {
    QueryOptions options;
    options.oldest_first = true;
    std::vector<std::string> keys;
    for (const Note& note : memory().query("c", {}, options).value()) keys.push_back(note.key);
    return keys;
  }

  StoreFolder folder_;
  std::shared_ptr<SetClock> clock_ = std::make_shared<SetClock>();
  MemoryClients clients_ = open();
};

TEST_P(RetentionTest, Age_RemovesWhatIsOlder) {
  fill(10);
  ASSERT_TRUE(memory().write("other", "k", "kept"));
  const SweepReport report = sweep(memory(), "c", {Millis{3'600'000 * 3}, {}, {}}, {clock_}).value();
  EXPECT_EQ(report.removed, 7U);
  EXPECT_TRUE(report.finished);
  EXPECT_THAT(oldest(), ElementsAre(key(7), key(8), key(9)));
  EXPECT_THAT(memory().query("other").value(), SizeIs(1));
}

TEST_P(RetentionTest, Number_RemovesTheFirstWritten) {
  fill(9);
  ASSERT_TRUE(memory().write("c", key(0), "again, so that it is the newest"));
  EXPECT_EQ(sweep(memory(), "c", {{}, 3, {}}, {clock_, {}, 2}).value().removed, 6U);
  EXPECT_THAT(oldest(), ElementsAre(key(7), key(8), key(0)));
  EXPECT_EQ(sweep(memory(), "c", {{}, 3, {}}, {clock_}).value().removed, 0U);
  EXPECT_EQ(sweep(memory(), "nothing", {{}, 0, {}}, {clock_}).value().removed, 0U);
}

TEST_P(RetentionTest, Bytes_AreCountedAsTheMemoryCounts) {
  fill(8);
  const std::size_t all = memory().collections().value().at(0).bytes;
  const std::size_t most = all * 3 / 8;
  const SweepReport report = sweep(memory(), "c", {{}, {}, most}, {clock_}).value();
  EXPECT_EQ(report.removed, 5U);
  EXPECT_EQ(memory().collections().value().at(0).bytes, all - report.bytes);
  EXPECT_LE(all - report.bytes, most);
  EXPECT_EQ(sweep(memory(), "c", {}, {clock_}).value().removed, 0U) << "without bounds";
}

TEST_P(RetentionTest, WhatIsSwept_IsInNoFile) {
  fill(5);
  ASSERT_EQ(folder_.holds("canary1x"), GetParam()) << "the test does not see the content";
  ASSERT_TRUE(sweep(memory(), "c", {{}, 2, {}}, {clock_}));
  for (const char* canary : {"canary0", "canary1", "canary2"}) EXPECT_FALSE(folder_.holds(canary)) << canary;
  EXPECT_THAT(memory().search("canary0xxx").value(),
              ::testing::Each(::testing::Field(
                  &Hit::note, ::testing::Field(&Note::key, ::testing::AnyOf(key(3), key(4))))));
}

TEST_P(RetentionTest, Stopped_KeepsTheRestAndContinuesLater) {
  fill(20);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(sweep(memory(), "c", {{}, 5, {}}, {clock_, stop.get_token(), 4}).value().finished, false);
  EXPECT_THAT(oldest(), SizeIs(20));
  std::stop_source later;
  WatchedClient watched(memory(), [&, batches = 0]() mutable {
    if (++batches == 2) later.request_stop();
  });
  const SweepReport half = sweep(watched, "c", {{}, 5, {}}, {clock_, later.get_token(), 4}).value();
  EXPECT_FALSE(half.finished);
  EXPECT_EQ(half.removed, 8U);
  EXPECT_THAT(oldest(), SizeIs(12));
  EXPECT_EQ(sweep(memory(), "c", {{}, 5, {}}, {clock_, {}, 4}).value().removed, 7U);
  EXPECT_THAT(oldest(), ElementsAre(key(15), key(16), key(17), key(18), key(19)));
}

TEST_P(RetentionTest, Killed_LosesNothingElseAndIsCompletedWhenItIsOpenedAgain) {
  if (!GetParam()) return;
  fill(20);
  clients_ = {};
  const pid_t child = fork();
  if (child == 0) {
    const MemoryClients clients = open();
    WatchedClient killed(*clients.database, [batches = 0]() mutable {
      if (++batches == 2) _exit(0);
    });
    (void)sweep(killed, "c", {{}, 5, {}}, {clock_, {}, 4});
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0) << "the sweep was not cut off";
  ASSERT_TRUE(folder_.holds("canary7x"));
  clients_ = open();
  EXPECT_THAT(oldest(), SizeIs(12));
  EXPECT_FALSE(folder_.holds("canary7x")) << "opening completes the removal";
  EXPECT_EQ(sweep(memory(), "c", {{}, 5, {}}, {clock_, {}, 4}).value().removed, 7U);
  EXPECT_THAT(oldest(), ElementsAre(key(15), key(16), key(17), key(18), key(19)));
  EXPECT_FALSE(folder_.holds("canary14x"));
}

INSTANTIATE_TEST_SUITE_P(Places, RetentionTest, ::testing::Bool(),
                         [](const auto& place) { return place.param ? "File" : "Process"; });

}  // namespace
}  // namespace praxis
