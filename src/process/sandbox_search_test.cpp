#include "process/sandbox_search.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <thread>

namespace praxis {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

void write(const fs::path& path) { std::ofstream(path) << "text"; }

/// Waits until the clock of the file systems has moved on, so that the next change has another time.
void wait_for_a_tick() {
  timespec before{}, now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &before);
  do {
    usleep(1000);
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
  } while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
}

class FolderIndexTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "praxis_search_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    scratch_ = name;
    for (const char* folder : {"top/a/deep/er", "top/b", "outside/with/.git"})
      fs::create_directories(scratch_ / folder);
    write(top() / "b/file");
  }

  void TearDown() override { fs::remove_all(scratch_); }

  fs::path top() const { return scratch_ / "top"; }
  std::vector<std::string> found(FolderIndex& index) const {
    const FileDescriptor folder(open(top().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto finds = index.find(folder.get(), top(), {});
    if (!finds) return {finds.error().message};
    std::ranges::sort(*finds);
    return *finds;
  }

  fs::path scratch_;
};

TEST_F(FolderIndexTest, ManyFolders_AreComparedAndEachChangeIsFound) {
  const auto place = [&](int i) { return top() / "many" / std::to_string(i / 70) / std::to_string(i % 70); };
  for (int i = 0; i < 4'900; ++i) fs::create_directories(place(i));
  FolderIndex index(0ns);
  wait_for_a_tick();
  EXPECT_THAT(found(index), IsEmpty());
  const std::uint64_t all = index.folders_read();
  EXPECT_THAT(found(index), IsEmpty());
  EXPECT_EQ(index.folders_read(), all) << "nothing has changed";
  for (const int i : {0, 69, 2'450, 4'899}) {
    SCOPED_TRACE(i);
    fs::create_directory(place(i) / ".git");
    wait_for_a_tick();
    const std::string find = "/" + fs::relative(place(i) / ".git", top()).string();
    EXPECT_THAT(found(index), ElementsAre(find));
    EXPECT_THAT(found(index), ElementsAre(find)) << "remembered";
    fs::remove(place(i) / ".git");
    wait_for_a_tick();
    EXPECT_THAT(found(index), IsEmpty());
  }
  fs::create_directory(place(7) / ".git");
  fs::rename(top() / "many/0", top() / "many/moved");
  fs::create_directory(top() / "many/0");
  wait_for_a_tick();
  EXPECT_THAT(found(index), ElementsAre("/many/moved/7/.git"));
  fs::remove_all(top() / "many");
  EXPECT_THAT(found(index), IsEmpty()) << "fewer than are compared together";
}

TEST_F(FolderIndexTest, NextSearch_ReadsOnlyFoldersThatChanged) {
  FolderIndex index(0ns);
  wait_for_a_tick();
  EXPECT_THAT(found(index), IsEmpty());
  EXPECT_EQ(index.folders_read(), 5U);
  EXPECT_THAT(found(index), IsEmpty());
  EXPECT_EQ(index.folders_read(), 5U);
  fs::create_directories(top() / "a/deep/.git");
  EXPECT_THAT(found(index), ElementsAre("/a/deep/.git"));
  EXPECT_EQ(index.folders_read(), 6U);
}

TEST_F(FolderIndexTest, FolderThatChangedAMomentAgo_IsReadAgain) {
  FolderIndex index(1h);
  found(index);
  found(index);
  EXPECT_EQ(index.folders_read(), 10U);
}

TEST_F(FolderIndexTest, EveryWayToMakeAProtectedPath_IsSeen) {
  struct Way {
    const char* about;
    std::function<void()> take;
    std::vector<std::string> finds;
  };
  const fs::path outside = scratch_ / "outside", base = top();
  const std::vector<Way> ways{
      {"a file", [&] { write(base / "b/.env.local"); }, {"/b/.env.local"}},
      {"another name", [&] { fs::rename(base / "b/.env.local", base / "b/.envrc"); }, {"/b/.envrc"}},
      {"no protected name", [&] { fs::rename(base / "b/.envrc", base / "b/plain"); }, {}},
      {"a hard link", [&] { fs::create_hard_link(base / "b/file", base / "a/deep/.env"); }, {"/a/deep/.env"}},
      {"a link in its place",
       [&] {
         fs::remove(base / "a/deep/.env");
         fs::create_symlink("/nowhere", base / "a/deep/.git");
       },
       {"/a/deep/.git"}},
      {"the folder above moves", [&] { fs::rename(base / "a/deep", base / "b/deep"); }, {"/b/deep/.git"}},
      {"a folder from outside",
       [&] { fs::rename(outside / "with", base / "a/deep"); },
       {"/a/deep/.git", "/b/deep/.git"}},
      {"an exchange",
       [&] {
         renameat2(AT_FDCWD, (base / "b/deep/er").c_str(), AT_FDCWD, (base / "a/deep").c_str(),
                   RENAME_EXCHANGE);
       },
       {"/b/deep/.git", "/b/deep/er/.git"}},
      {"a link to a folder",
       [&] {
         fs::rename(base / "b", outside / "b");
         fs::create_directory_symlink(outside / "b", base / "b");
       },
       {}}};
  FolderIndex index(0ns);
  for (const Way& way : ways) {
    wait_for_a_tick();
    found(index);
    wait_for_a_tick();
    way.take();
    EXPECT_EQ(found(index), way.finds) << way.about;
  }
}

/// Makes one change below `top` at random.
void change(const fs::path& top, std::mt19937& random) {
  const auto any = [&](std::initializer_list<const char*> all) { return all.begin()[random() % all.size()]; };
  const auto path = [&] {
    fs::path made = top;
    for (auto depth = random() % 3; depth > 0; --depth) made /= any({"x", "y", "z"});
    return made / any({"x", "y", "z", ".git", ".env", ".mcp.json"});
  };
  std::error_code failed;
  const fs::path one = path(), other = path();
  switch (random() % 6) {
    case 0:
    case 1:
      fs::create_directories(one, failed);
      return;
    case 2:
      write(one);
      return;
    case 3:
      fs::rename(one, other, failed);
      return;
    case 4:
      renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
      return;
    default:
      fs::remove_all(random() % 4 == 0 ? one : one / "x", failed);
  }
}

TEST_F(FolderIndexTest, AnyChanges_AreFoundAsByASearchWithoutMemory) {
  FolderIndex index(30ms);
  std::mt19937 random(7);
  std::uint64_t without_memory = 0;
  for (int round = 0; round < 1'500; ++round) {
    for (auto changes = random() % 3; changes > 0; --changes) change(top(), random);
    if (random() % 16 == 0) wait_for_a_tick();
    FolderIndex fresh;
    ASSERT_EQ(found(index), found(fresh)) << "round " << round;
    without_memory += fresh.folders_read();
  }
  EXPECT_LT(index.folders_read(), without_memory);
}

TEST_F(FolderIndexTest, TooManyProtectedPaths_AreRefused) {
  for (int i = 0; i < 257; ++i) write(top() / ("b/.env." + std::to_string(i)));
  FolderIndex index;
  for (int round = 0; round < 2; ++round)
    EXPECT_THAT(found(index), ElementsAre(HasSubstr("more than 256 checkouts and settings")));
}

TEST_F(FolderIndexTest, SearchesAtOnce_FindTheSame) {
  fs::create_directories(top() / "a/.praxis");
  const FileDescriptor folder(open(top().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto finds = find_below(folder.get(), top(), {top(), top() / "b"});
        EXPECT_TRUE(finds && *finds == std::vector<std::string>{"/a/.praxis"});
      }
    });
  }
}

}  // namespace
}  // namespace praxis
