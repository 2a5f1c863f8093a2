#include "store/sqlite_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file_descriptor.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

constexpr SqliteFileForm kForm{"test file", 0x54455354, 1, "CREATE TABLE t (a INTEGER);"};

class SqliteFile : public ::testing::Test {
 protected:
  SqliteFile() {
    std::string name = (fs::temp_directory_path() / "sqlite-file-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SqliteFile() override { fs::remove_all(folder_); }
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void make(const std::string& name) const { std::ofstream(file(name)) << "x"; }
  bool has(const std::string& name) const { return fs::exists(file(name)); }

  fs::path folder_;
};

TEST_F(SqliteFile, LeftoversOfAKilledCreationAreRemovedAndNothingElse) {
  const std::vector<std::string> left{"a.db.new-aB3xY9", "a.db.new-aB3xY9-wal", "a.db.new-aB3xY9-shm",
                                      "a.db.new-zzzzzz-wal"};
  const std::vector<std::string> others{"a.db.new-abc", "a.db.new-abcdefg", "b.db.new-abcdef", "a.db.newest",
                                        "a.db.new-ab.def"};
  for (const auto* names : {&left, &others}) {
    for (const std::string& name : *names) make(name);
  }
  fs::create_symlink(file("b.db.new-abcdef"), file("a.db.new-liNked"));
  ASSERT_TRUE(open_sqlite_file(file("a.db"), kForm, true));
  for (const std::string& name : left) EXPECT_FALSE(has(name)) << name;
  for (const std::string& name : others) EXPECT_TRUE(has(name)) << name;
  EXPECT_TRUE(fs::is_symlink(file("a.db.new-liNked")));
  EXPECT_TRUE(has("a.db"));
}

TEST_F(SqliteFile, CreationInProgressIsLeftAlone) {
  make("a.db.new-abcdef");
  make("a.db.new-abcdef-wal");
  const FileDescriptor creator(open(file("a.db.new-abcdef").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(creator.get(), LOCK_EX), 0);
  ASSERT_TRUE(open_sqlite_file(file("a.db"), kForm, true));
  EXPECT_TRUE(has("a.db.new-abcdef"));
  EXPECT_TRUE(has("a.db.new-abcdef-wal"));
}

TEST_F(SqliteFile, LeftoversOfAFileThatExistsAreRemovedToo) {
  ASSERT_TRUE(open_sqlite_file(file("a.db"), kForm, true));
  make("a.db.new-abcdef");
  ASSERT_TRUE(open_sqlite_file(file("a.db"), kForm, false));
  EXPECT_TRUE(has("a.db.new-abcdef")) << "who only reads removes nothing";
  ASSERT_TRUE(open_sqlite_file(file("a.db"), kForm, true));
  EXPECT_FALSE(has("a.db.new-abcdef"));
}

}  // namespace
}  // namespace praxis
