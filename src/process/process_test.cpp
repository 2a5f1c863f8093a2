#include "praxis/process/process.hpp"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/exhausted.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;
using Clock = std::chrono::steady_clock;

ProcessSpec spec_of(std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}
ProcessSpec shell(const std::string& command) { return spec_of({"sh", "-c", command}); }

ProcessResult run(const ProcessSpec& spec) {
  auto process = start_process(spec);
  if (!process) {
    ADD_FAILURE() << process.error().message;
    return {};
  }
  auto result = process->wait({});
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return std::move(*result);
}

/// A mark in the environment of a program, by which a test finds all its processes.
class Mark {
 public:
  Mark() : text_("PRAXIS_MARK=" + std::to_string(getpid()) + "." + std::to_string(++count)) {}

  void put_on(ProcessSpec& spec) const { spec.environment["PRAXIS_MARK"] = text_.substr(12); }
  /// Returns how many processes have the mark. A zombie has no environment.
  std::size_t bearers() const {
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ostringstream environment;  // reading fails for a process that ends meanwhile
      environment << std::ifstream(entry.path() / "environ").rdbuf();
      found += environment.str().find(text_) != std::string::npos;
    }
    return found;
  }
  /// Waits until `number` processes have the mark, at most half a minute.
  bool reaches(std::size_t number) const {
    const auto end = Clock::now() + std::chrono::seconds(30);
    while (bearers() != number) {
      if (Clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  static inline int count = 0;
  std::string text_;
};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// Returns how many children this process has, including zombies.
std::size_t children() {
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(") ");
    if (name_end == std::string::npos) continue;
    found += std::stoi(text.substr(name_end + 4)) == getpid();
  }
  return found;
}

/// Sleepers that try to escape in every way: a new session, a second fork, ignoring SIGTERM.
constexpr const char* kFugitives =
    "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000') & (setsid -f sleep 1000); echo "
    "ready; "
    "sleep 1000";
constexpr std::size_t kFugitiveCount = 6;  ///< two of them shells

/// Forks a process that starts `spec` and waits to be killed; with `fork_too`, a fork of it waits as well.
pid_t start_owner(const ProcessSpec& spec, bool fork_too) {
  const pid_t owner = fork();
  if (owner != 0) return owner;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto process = start_process(spec);
  if (fork_too && fork() == 0) {
    close(STDOUT_FILENO);  // so that no reader waits for this process
    close(STDERR_FILENO);
    alarm(60);
  }
  pause();
  _exit(process ? 0 : 1);
}

TEST(Process, ReceivesItsArgumentsUnchanged) {
  const auto result = run(spec_of({"printf", "%s|", "a b", "", "$HOME", "*", "\"'\n"}));
  EXPECT_EQ(result.out.text(), "a b||$HOME|*|\"'\n|");
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Process, InheritsNoEnvironment) {
  setenv("PRAXIS_TEST_SECRET", "hidden", 1);
  auto spec = spec_of({"env"});
  spec.environment["GREETING"] = "hello = world";
  EXPECT_EQ(run(spec).out.text(), "GREETING=hello = world\nPATH=/usr/bin:/bin\n");
}

TEST(Process, RunsInItsFolderAndReadsItsInput) {
  auto spec = shell("pwd; cat; echo err >&2; exit 7");
  spec.folder = "/usr/lib";
  spec.input = "line\n";
  const auto result = run(spec);
  EXPECT_EQ(result.out.text(), "/usr/lib\nline\n");
  EXPECT_EQ(result.err.text(), "err\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(run(spec_of({"cat"})).out.text(), "") << "no input: standard input is empty";
}

TEST(Process, InheritsNoDescriptors) {
  EXPECT_EQ(run(spec_of({"ls", "-m", "/proc/self/fd"})).out.text(), "0, 1, 2, 3\n")
      << "3 is the descriptor of the listing itself";
}

TEST(Process, EndedBySignal_ReportsTheSignal) {
  const auto result = run(shell("kill -SEGV $$"));
  EXPECT_EQ(result.end, ProcessEnd::kSignalled);
  EXPECT_EQ(result.signal, SIGSEGV);
}

TEST(Process, StartFailure_IsAnErrorWithTheReason) {
  struct Case {
    const char* about;
    ProcessSpec spec;
    ErrorCode code;
    const char* message;
  };
  auto no_folder = shell("true");
  no_folder.folder = "/nonexistent/folder";
  auto relative = shell("true");
  relative.folder = "here";
  auto bad_name = shell("true");
  bad_name.environment["A=B"] = "1";
  const std::vector<Case> cases{
      {"program", spec_of({"no-such-program"}), ErrorCode::kTool,
       "\"no-such-program\" cannot be started: No such"},
      {"not executable", spec_of({"/etc/passwd"}), ErrorCode::kTool,
       "\"/etc/passwd\" cannot be started: Perm"},
      {"folder", no_folder, ErrorCode::kTool, "/nonexistent/folder cannot be used: No such"},
      {"relative folder", relative, ErrorCode::kInput, "absolute"},
      {"nothing", spec_of({}), ErrorCode::kInput, "argv must name a program"},
      {"NUL", spec_of({"echo", std::string("a\0b", 3)}), ErrorCode::kInput, "NUL"},
      {"name", bad_name, ErrorCode::kInput, "environment variable"},
      {"too long", spec_of({"echo", std::string(1 << 22, 'x')}), ErrorCode::kTool, "Argument list too long"},
  };
  for (const Case& one : cases) {
    const auto process = start_process(one.spec);
    ASSERT_FALSE(process) << one.about;
    EXPECT_EQ(process.error().code, one.code) << one.about;
    EXPECT_THAT(process.error().message, HasSubstr(one.message)) << one.about;
  }
  EXPECT_EQ(children(), 0U);
}

TEST(Process, KeepsHeadAndTailOfMuchOutput) {
  auto spec = shell("echo first; i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo last");
  spec.limits.output_bytes = 1000;
  const auto result = run(spec);
  EXPECT_THAT(result.out.head, SizeIs(500));
  EXPECT_THAT(result.out.tail, SizeIs(500));
  EXPECT_TRUE(result.out.head.starts_with("first\nline 0\n"));
  EXPECT_TRUE(result.out.tail.ends_with("line 2999\nlast\n"));
  EXPECT_EQ(result.out.total_bytes, result.out.left_out() + 1000);
  EXPECT_THAT(result.out.text(), HasSubstr("[" + std::to_string(result.out.left_out()) + " bytes left out]"));
}

TEST(Process, IsNotBlockedByOutputBeyondTheLimit) {
  auto spec = shell("head -c 200000000 /dev/zero & head -c 200000000 /dev/zero >&2; wait; echo done");
  spec.limits.output_bytes = 10;
  const auto result = run(spec);
  EXPECT_EQ(result.out.total_bytes, 200'000'005U);
  EXPECT_EQ(result.err.total_bytes, 200'000'000U);
  EXPECT_EQ(result.out.tail, "done\n");
}

TEST(Process, ObeysItsLimits) {
  auto cpu = shell("while :; do :; done");
  cpu.limits.cpu = std::chrono::seconds(1);
  EXPECT_EQ(run(cpu).signal, SIGKILL);

  auto memory = spec_of({"/usr/bin/python3", "-c", "x = bytearray(300 << 20)"});
  memory.limits.memory_bytes = 200 << 20;
  EXPECT_THAT(run(memory).err.text(), HasSubstr("MemoryError"));

  const fs::path file = fs::temp_directory_path() / ("praxis_process_" + std::to_string(getpid()));
  auto size = shell("head -c 100000 /dev/zero > " + file.string());
  size.limits.file_bytes = 5000;
  run(size);
  EXPECT_EQ(fs::file_size(file), 5000U);
  fs::remove(file);

  auto files = shell("ulimit -n; ulimit -c");
  files.limits.open_files = 77;
  EXPECT_EQ(run(files).out.text(), "77\n0\n");
}

TEST(Process, PastItsTimeLimit_EndsWithAllItsDescendants) {
  Mark mark;
  auto spec = shell(kFugitives);
  mark.put_on(spec);
  spec.limits.wall_time = Millis(300);
  EXPECT_EQ(run(spec).end, ProcessEnd::kTimedOut);
  EXPECT_EQ(mark.bearers(), 0U);

  spec.limits.wall_time = Millis(0);
  auto process = start_process(spec);
  ASSERT_TRUE(process);
  const auto result = process->wait({}, Clock::now() + Millis(100));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kTimedOut);
  EXPECT_EQ(mark.bearers(), 0U);
}

TEST(Process, Cancellation_LeavesNoProcess) {
  Mark mark;
  auto spec = shell(kFugitives);
  mark.put_on(spec);
  auto process = start_process(spec);
  ASSERT_TRUE(process);
  ASSERT_TRUE(mark.reaches(kFugitiveCount)) << mark.bearers();
  std::stop_source stop;
  std::jthread canceller([&] { stop.request_stop(); });
  const auto result = process->wait(stop.get_token());
  EXPECT_EQ(mark.bearers(), 0U);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kCancelled);
  EXPECT_EQ(result->out.text(), "ready\n");
  EXPECT_EQ(children(), 0U);
}

TEST(Process, HandlerOfSigterm_MayCleanUp) {
  auto spec = shell("trap 'echo bye; exit' TERM; echo ready >&3; while :; do sleep 0.01; done");
  spec.limits.grace = Millis(5000);
  spec.channel = true;
  auto process = start_process(spec);
  ASSERT_TRUE(process);
  std::array<char, 6> ready;
  ASSERT_EQ(read(process->channel(), ready.data(), ready.size()), 6);
  process->kill();
  const auto result = process->wait({});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kCancelled);
  EXPECT_EQ(result->out.text(), "bye\n");
}

TEST(Process, NormalEnd_KillsDescendantsLeftRunning) {
  Mark mark;
  auto spec = shell("(setsid sleep 1000 &) ; sleep 1000 & echo done");
  mark.put_on(spec);
  const auto result = run(spec);
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.out.text(), "done\n");
  EXPECT_EQ(mark.bearers(), 0U);
}

TEST(Process, Destructor_LeavesNoProcess) {
  Mark mark;
  auto spec = shell(kFugitives);
  mark.put_on(spec);
  {
    auto process = start_process(spec);
    ASSERT_TRUE(process);
    ASSERT_TRUE(mark.reaches(kFugitiveCount));
  }
  EXPECT_EQ(mark.bearers(), 0U);
  EXPECT_EQ(children(), 0U);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 64> buffer;
  for (ssize_t got = 0; (got = read(fd, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  return text;
}

TEST(Process, CommunicatesOverItsChannel) {
  auto spec = shell("read line <&3; echo \"got $line\" >&3");
  spec.channel = true;
  auto process = start_process(spec);
  ASSERT_TRUE(process);
  ASSERT_EQ(write(process->channel(), "hello\n", 6), 6);
  EXPECT_EQ(read_to_end(process->channel()), "got hello\n") << "followed by the end of the stream";
  EXPECT_TRUE(process->wait({}));
}

TEST(Process, ChannelCanBeStandardInputAndOutput) {
  auto spec = shell("read line; echo \"got $line\"; echo log >&2");
  spec.channel_is_stdio = true;
  auto process = start_process(spec);
  ASSERT_TRUE(process);
  ASSERT_EQ(write(process->channel(), "hello\n", 6), 6);
  EXPECT_EQ(read_to_end(process->channel()), "got hello\n");
  const auto result = process->wait({});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->err.text(), "log\n");
  EXPECT_EQ(result->out.text(), "");
}

TEST(Process, DeathOfTheOwner_LeavesNoProcess) {
  Mark mark;
  auto spec = shell(kFugitives);
  mark.put_on(spec);
  const pid_t owner = start_owner(spec, false);
  EXPECT_TRUE(mark.reaches(kFugitiveCount));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(mark.reaches(0));
}

TEST(Process, DeathOfAnOwnerWithALivingFork_LeavesNoProcess) {
  Mark mark;
  auto spec = shell(kFugitives);
  mark.put_on(spec);
  const pid_t owner = start_owner(spec, true);  // the fork has a copy of every descriptor
  EXPECT_TRUE(mark.reaches(kFugitiveCount));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(mark.reaches(0));
}

TEST(Process, AThousandProcesses_LeaveNoZombieAndNoDescriptor) {
  run(spec_of({"true"}));  // creates everything that is created only once
  const auto before = open_descriptors();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 250; ++i) {
        auto process = start_process(spec_of({i % 50 == 0 ? "no-such-program" : "true"}));
        if (!process || i % 3 == t % 3) continue;  // some are destroyed without a wait
        EXPECT_TRUE(process->wait({}));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(children(), 0U);
}

TEST(Process, ProgramThatNoDescriptorIsLeftFor_IsNotAFailureOfTheProgram) {
  if (PRAXIS_SANITIZED) GTEST_SKIP() << "the sanitizers need descriptors of their own";
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{3, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto refused = start_process(spec_of({"true"}));
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is_exhausted(refused.error())) << refused.error().message;
  EXPECT_TRUE(start_process(spec_of({"true"})));
}

}  // namespace
}  // namespace praxis
