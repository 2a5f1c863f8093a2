#include "snapshots/restore.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "snapshots/testing/kept_folder.hpp"

namespace praxis {
namespace {

using Verdict = RestoreVerdict;

using RestoreTest = KeptFolder;

TEST_F(RestoreTest, Undo_MakesFilesLinksAndFoldersWhatTheyWere) {
  by_hand("bin/run.sh", "#!/bin/sh\n");
  by_hand("gone/x.txt", "x");
  std::filesystem::create_symlink("a.txt", work("/link"));
  const auto before = tree();
  write("new/deep/b.txt", "b");
  program([&] {
    by_hand("a.txt", "two\n");
    std::filesystem::remove_all(work("/gone"));
    by_hand("gone", "now a file");
    std::filesystem::remove(work("/link"));
    std::filesystem::create_directory(work("/link"));
    chmod(work("/bin/run.sh").c_str(), 0700);
  });
  const auto after = tree();
  undo();
  EXPECT_EQ(tree(), before);
  struct stat about{};
  ASSERT_EQ(stat(work("/bin/run.sh").c_str(), &about), 0);
  EXPECT_NE(about.st_mode & 0777U, 0700U);

  auto redo = plan_undo(*history_, {operations().back()}).value();
  ASSERT_TRUE(carry_out(*history_, undo_operation(), redo));
  EXPECT_EQ(tree(), after);
}

TEST_F(RestoreTest, FileChangedSince_IsAConflictAndStays) {
  write("a.txt", "two\n");
  write("b.txt", "b\n");
  by_hand("a.txt", "mine\n");
  EXPECT_EQ(undo(), (std::map<std::string, Verdict>{{"a.txt", Verdict::kChangedSince},
                                                    {"b.txt", Verdict::kRestore}}));
  EXPECT_EQ(tree(), (std::map<std::string, std::string>{{"a.txt", "mine\n"}}));
}

TEST_F(RestoreTest, FileChangedInBetween_IsAConflictAndStays) {
  write("a.txt", "two\n");
  by_hand("a.txt", "mine\n");
  write("a.txt", "three\n");
  EXPECT_EQ(undo().at("a.txt"), Verdict::kChangedBetween);
  EXPECT_EQ(scratch_.read("work/a.txt"), "three\n");
  EXPECT_EQ(undo(1).at("a.txt"), Verdict::kRestore) << "back to what the person wrote";
  EXPECT_EQ(scratch_.read("work/a.txt"), "mine\n");
}

TEST_F(RestoreTest, FileThatOthersMade_IsNotTouched) {
  write("a.txt", "two\n");
  by_hand("mine.txt", "mine");
  undo();
  EXPECT_EQ(scratch_.read("work/mine.txt"), "mine");
}

TEST_F(RestoreTest, NewFolderWithAFileOfOthers_Stays) {
  write("new/b.txt", "b");
  by_hand("new/mine.txt", "mine");
  undo();
  EXPECT_EQ(scratch_.read("work/new/mine.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(work("/new/b.txt")));
}

TEST_F(RestoreTest, ContentThatWasNotKept_IsNamedAndStays) {
  by_hand("large", std::string((std::size_t{4} << 20) + 1, 'x'));
  program([&] { by_hand("large", "small"); });
  EXPECT_EQ(undo().at("large"), Verdict::kUnkept);
  EXPECT_EQ(scratch_.read("work/large"), "small");
}

TEST_F(RestoreTest, LinkInThePlaceOfAFolder_IsNotFollowed) {
  by_hand("sub/x.txt", "x");
  scratch_.write("outside/x.txt", "new");
  program([&] { by_hand("sub/x.txt", "new"); });
  std::filesystem::remove_all(work("/sub"));
  std::filesystem::create_directory_symlink(scratch_.str("outside"), work("/sub"));
  undo();
  EXPECT_EQ(scratch_.read("outside/x.txt"), "new");
}

TEST_F(RestoreTest, CallsThatOverlap_CountAsOne) {
  program([&] {
    write("a.txt", "two\n");
    write("a.txt", "three\n");
    by_hand("a.txt", "four\n");
  });
  EXPECT_EQ(undo().at("a.txt"), Verdict::kRestore);
  EXPECT_EQ(scratch_.read("work/a.txt"), "one\n");
}

TEST_F(RestoreTest, UndoTwice_ChangesNothingMore) {
  write("a.txt", "two\n");
  undo();
  EXPECT_EQ(undo().at("a.txt"), Verdict::kSame);
  EXPECT_EQ(operations().size(), 2U);
}

/// A restore that is killed after `done` of its paths.
TEST_F(RestoreTest, KilledAfterAnyPath_IsCompletedTheSame) {
  for (int i = 0; i < 4; ++i) by_hand("f" + std::to_string(i), "old");
  const auto before = tree();
  program([&] {
    for (int i = 0; i < 4; ++i) by_hand("f" + std::to_string(i), "new");
    by_hand("extra/file", "x");
  });
  for (int done = 0; done <= 4; ++done) {
    auto plan = plan_undo(*history_, {operations().front()}).value();
    std::vector<PathChange> changes;
    for (const RestoreStep& step : plan)
      changes.push_back({step.change.path, step.change.after, step.change.before});
    FileOperation operation = undo_operation();
    operation.places = plan.front().places;
    ASSERT_TRUE(history_->begin_restore(operation, changes));
    for (int i = 0; i < done; ++i) by_hand("f" + std::to_string(i), "old");
    history_ = FileHistory::open(scratch_.str("journal.db.files"), false).value();
    ASSERT_TRUE(finish_restores(*history_, operations()));
    EXPECT_EQ(tree(), before) << done;
    EXPECT_TRUE(history_->open_operations(SessionId{"s"}).value().empty());
    for (const PathChange& change : history_->changes(operations().back().id).value())
      EXPECT_NE(change.before, change.after);
    auto redo = plan_undo(*history_, {operations().back()}).value();
    ASSERT_TRUE(carry_out(*history_, undo_operation(), redo));
  }
}

TEST_F(RestoreTest, FileChangedWhileARestoreWasBroken_Stays) {
  write("a.txt", "two\n");
  auto plan = plan_undo(*history_, operations()).value();
  FileOperation operation = undo_operation();
  operation.places = plan.front().places;
  const auto& change = plan.front().change;
  ASSERT_TRUE(history_->begin_restore(operation, {{change.path, change.after, change.before}}));
  by_hand("a.txt", "mine\n");
  ASSERT_TRUE(finish_restores(*history_, operations()));
  EXPECT_EQ(scratch_.read("work/a.txt"), "mine\n");
  EXPECT_TRUE(history_->changes(operations().back().id).value().empty());
}

// ---- 20 runs of random work, taken back to every point

class RandomWork : public KeptFolder, public testing::WithParamInterface<std::uint32_t> {
 protected:
  std::string name() { return "d" + pick(3) + "/f" + pick(4); }
  std::string pick(std::uint32_t below) { return std::to_string(random_() % below); }

  void change_by_program() {
    program([&] {
      for (std::uint32_t i = random_() % 4; i-- > 0;) {
        const std::string path = name();
        std::error_code ignored;
        if (random_() % 3 == 0) {
          std::filesystem::remove(work("/" + path), ignored);
        } else {
          by_hand(path, "p" + pick(1000) + '\n');
        }
      }
      std::error_code ignored;
      if (random_() % 4 == 0) std::filesystem::remove_all(work("/d" + pick(3)), ignored);
    });
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(RandomWork, EveryPointIsRestoredByteForByte_AndFilesOfAPersonStay) {
  std::vector<std::map<std::string, std::string>> points{tree()};
  for (int step = 0; step < 10; ++step) {
    if (random_() % 2 == 0) {
      write(name(), "w" + pick(1000) + '\n');
    } else {
      change_by_program();
    }
    points.push_back(tree());
  }
  by_hand("mine/notes.txt", "kept");
  const std::map<std::string, std::string> own{{"mine", "/"}, {"mine/notes.txt", "kept"}};
  for (std::size_t point = points.size(); point-- > 0;) {
    for (const auto& [path, verdict] : undo(point)) EXPECT_FALSE(is_conflict(verdict)) << path;
    auto expected = points[point];
    expected.insert(own.begin(), own.end());
    EXPECT_EQ(tree(), expected) << point;
  }
}

TEST_P(RandomWork, FileThatAPersonEdited_IsNeverLost) {
  write("d0/f0", "agent\n");
  change_by_program();
  by_hand("d0/f0", "person\n");
  for (int step = 0; step < 3; ++step) write("d" + pick(3) + "/f" + std::to_string(1 + step), "w\n");
  undo();
  EXPECT_EQ(scratch_.read("work/d0/f0"), "person\n");
}

INSTANTIATE_TEST_SUITE_P(Runs, RandomWork, testing::Range(0U, 20U));

}  // namespace
}  // namespace praxis
