// The files of an open journal are opened by SQLite alone: another descriptor in this process, closed again,
// would drop the locks that keep other processes from removing its log.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/held_files.hpp"
#include "base/open_beneath.hpp"
#include "base/regular_file.hpp"
#include "journal/testing/journals.hpp"
#include "journal/testing/locks.hpp"

namespace praxis::testing {
namespace {

class HeldFilesTest : public ::testing::Test {
 protected:
  int opened(const std::string& name, int flags = O_RDONLY) const {
    const FileDescriptor folder(open((folder_ / ".").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const auto file = open_beneath(folder.get(), name, flags);
    const auto by_steps = open_beneath_by_steps(folder.get(), name, flags);
    EXPECT_EQ(file ? 0 : file.error(), by_steps ? 0 : by_steps.error());
    return file ? 0 : file.error();
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  TemporaryFolder folder_;
};

TEST_F(HeldFilesTest, FilesOfAnOpenJournal_AreNotOpenedByOthers) {
  auto journal = open_journal(path("j"));
  const auto lease = make_session(*journal, SessionId{"s"});
  std::filesystem::create_hard_link(path("j"), path("other-name"));
  ASSERT_TRUE(keeps_locks(path("j")));
  for (const char* name : {"j", "j-shm", "other-name"}) {
    EXPECT_EQ(opened(name), EBUSY) << name;
    EXPECT_EQ(opened(name, O_WRONLY), EBUSY) << name;
    EXPECT_EQ(opened(name, O_PATH), 0) << name;
    const auto read = read_regular_file(path(name), 1'000'000);
    ASSERT_FALSE(read) << name;
    EXPECT_TRUE(read.error().message.contains("busy")) << read.error().message;
  }
  EXPECT_EQ(opened("j-wal"), 0) << "which has no locks";
  EXPECT_EQ(opened("absent-shm"), ENOENT);
  EXPECT_TRUE(keeps_locks(path("j")));
  journal.reset();
  EXPECT_FALSE(keeps_locks(path("j")));
  EXPECT_EQ(opened("j"), 0);
  EXPECT_TRUE(read_regular_file(path("j"), 1'000'000));
}

TEST_F(HeldFilesTest, DescriptorThatIsClosed_WouldDropTheLocks) {
  const auto journal = open_journal(path("j"));
  ASSERT_TRUE(keeps_locks(path("j")));
  close(open(path("j").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(keeps_locks(path("j"))) << "or these tests prove nothing";
}

}  // namespace
}  // namespace praxis::testing
