// A process that dies while it writes a file leaves neither a part of it nor a draft.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "praxis/tools/file_tool.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

/// Lets a process write a file until the kernel kills it for the size of its files; returns the signal.
int die_writing(const Tool& tool, const std::string& content) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit little{1024, 1024};
    setrlimit(RLIMIT_FSIZE, &little);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGXFSZ, SIG_DFL);
    std::ignore = call_with(tool, {{"path", "a.txt"}, {"content", content}});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(FileDraft, KilledWriterLeavesNothing) {
  const ScratchFolder scratch;
  scratch.write("root/a.txt", "old");
  const Tool tool = file_write_tool({scratch.str("root")});
  EXPECT_EQ(die_writing(tool, std::string(4096, 'x')), SIGXFSZ);
  EXPECT_EQ(scratch.read("root/a.txt"), "old");
  const auto files = std::distance(std::filesystem::directory_iterator(scratch.str("root")), {});
  EXPECT_EQ(files, 1) << "a draft was left behind";
}

}  // namespace
}  // namespace praxis
