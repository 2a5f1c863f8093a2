#include "snapshots/kept_tool.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <stop_token>

#include "snapshots/testing/kept_folder.hpp"

namespace praxis {
namespace {

using Kind = FileState::Kind;

using KeptToolTest = KeptFolder;

TEST_F(KeptToolTest, CallThatWritesAFile_KeepsBothContents) {
  EXPECT_EQ(write("a.txt", "two\n"), "wrote \"a.txt\" (4 bytes)");
  const auto changes = last_changes();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, real_work() + "/a.txt");
  EXPECT_EQ(history_->content(changes[0].before.digest).value(), "one\n");
  EXPECT_EQ(history_->content(changes[0].after.digest).value(), "two\n");
  EXPECT_EQ(operations().back().effect, "e1");
}

TEST_F(KeptToolTest, NewFile_IsKeptWithItsFolders) {
  write("new/deep/b.txt", "b");
  const auto changes = last_changes();
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].after.kind, Kind::kFolder);
  EXPECT_EQ(changes[2].before.kind, Kind::kMissing);
  EXPECT_EQ(changes[2].path, real_work() + "/new/deep/b.txt");
}

TEST_F(KeptToolTest, ContentBefore_IsKeptBeforeTheProgramStarts) {
  program([&] {
    const auto open = history_->open_operations(SessionId{"s"}).value();
    ASSERT_EQ(open.size(), 1U);
    const auto states = history_->states_before(open[0].id).value();
    const auto& state = states.at(real_work() + "/a.txt");
    EXPECT_EQ(history_->content(state.digest).value(), "one\n");
  });
  EXPECT_TRUE(history_->open_operations(SessionId{"s"}).value().empty());
}

TEST_F(KeptToolTest, Program_ChangesOfAllKindsAreNoted) {
  by_hand("gone.txt", "gone");
  by_hand("run.sh", "#!/bin/sh\n");
  std::filesystem::create_symlink("a.txt", work("/link"));
  program([&] {
    by_hand("a.txt", "two\n");
    by_hand("sub/new.txt", std::string("\0binary", 7));
    std::filesystem::remove(work("/gone.txt"));
    std::filesystem::remove(work("/link"));
    chmod(work("/run.sh").c_str(), 0755);
  });
  std::vector<std::string> paths;
  for (const PathChange& change : last_changes())
    paths.push_back(std::filesystem::relative(change.path, real_work()));
  EXPECT_EQ(paths, (std::vector<std::string>{"a.txt", "gone.txt", "link", "run.sh", "sub", "sub/new.txt"}));
}

TEST_F(KeptToolTest, IgnoredAndLargeFiles_AreNamedAndNotKept) {
  by_hand(".gitignore", "*.o\nbuild/\n");
  program([&] {
    by_hand("x.o", "object");
    by_hand("build/out", "out");
    by_hand("large", std::string((std::size_t{4} << 20) + 1, 'x'));
  });
  const auto changes = last_changes();
  ASSERT_EQ(changes.size(), 3U);
  for (const PathChange& change : changes) EXPECT_EQ(change.after.kind, Kind::kUnkept) << change.path;
}

TEST_F(KeptToolTest, FilesOfGitAndSecrets_AreNotLookedAt) {
  program([&] {
    by_hand(".git/config", "x");
    by_hand(".env", "KEY=1");
  });
  EXPECT_TRUE(last_changes().empty());
}

TEST_F(KeptToolTest, LinkToAFolder_IsNotEntered) {
  scratch_.write("outside/secret", "s");
  program([&] { std::filesystem::create_directory_symlink(scratch_.str("outside"), work("/out")); });
  const auto changes = last_changes();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].after.kind, Kind::kLink);
}

TEST_F(KeptToolTest, SameSizeAndTime_IsSeenAsAChange) {
  const auto time = std::filesystem::last_write_time(work("/a.txt"));
  program([] {});
  program([&] {
    by_hand("a.txt", "two\n");
    std::filesystem::last_write_time(work("/a.txt"), time);
  });
  EXPECT_EQ(last_changes().size(), 1U);
}

TEST_F(KeptToolTest, CallOfAKilledProcess_EndsWithTheNextCallOfItsSession) {
  const std::string killed = scratch_.str("killed.db.files");
  program([&] {
    by_hand("a.txt", "half");
    // What the process leaves behind if it is killed here.
    for (const char* part : {"", "-wal"})
      std::filesystem::copy_file(scratch_.str("journal.db.files") + part, killed + part);
  });
  history_ = FileHistory::open(killed, false).value();
  ASSERT_EQ(history_->open_operations(SessionId{"s"}).value().size(), 1U);
  write("b.txt", "b");
  EXPECT_TRUE(history_->open_operations(SessionId{"s"}).value().empty());
  const auto changes = history_->changes(operations().front().id).value();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(history_->content(changes[0].before.digest).value(), "one\n");
  EXPECT_EQ(history_->content(changes[0].after.digest).value(), "half");
}

TEST_F(KeptToolTest, HistoryThatCannotBeOpened_StopsTheCallBeforeItChangesAnything) {
  const OpenHistory broken = []() -> Result<FileHistoryPtr> {
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kFull, "the disk is full"));
  };
  const Tool tool = kept_tool(file_write_tool({work()}), broken, {{work()}, {}}, "path");
  EXPECT_NE(call_in(tool, {{"path", "a.txt"}, {"content", "x"}}).find("nothing was changed"),
            std::string::npos);
  EXPECT_EQ(scratch_.read("work/a.txt"), "one\n");
}

TEST_F(KeptToolTest, InvalidPath_IsReportedByTheToolItself) {
  EXPECT_NE(write("../b", "x").find("lies outside"), std::string::npos);
  EXPECT_TRUE(operations().empty());
}

TEST_F(KeptToolTest, ForgottenSession_LeavesNoContents) {
  write("a.txt", "two\n");
  const Digest digest = last_changes()[0].before.digest;
  ASSERT_TRUE(history_->forget({SessionId{"s"}}));
  EXPECT_TRUE(operations().empty());
  EXPECT_FALSE(history_->content(digest));
}

}  // namespace
}  // namespace praxis
