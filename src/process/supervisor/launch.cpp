#include "process/supervisor/launch.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

namespace praxis::supervisor {

namespace {

struct Pipe {
  FileDescriptor read_end, write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool set_limit(__rlimit_resource resource, std::uint64_t value) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max = value < limit.rlim_max ? static_cast<rlim_t>(value) : limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Duplicates `from` to `to`, which stays open across exec.
void hand_over(int from, int to) {
  if (from == to) {
    fcntl(to, F_SETFD, 0);
  } else {
    dup2(from, to);
  }
}

bool become_user(std::uint32_t user) {
  return user == 0 ||
         (setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void become_bubblewrap(const Request& request, int status) {
  hand_over(status, kSandboxStatus);
  for (const int fd : {kImage, kRequest, kBubblewrapArguments}) hand_over(fd, fd);
  if (!become_user(request.settings.sandbox_user)) {
    report(status, {Stage::kProcess, errno});
    _exit(1);
  }
  const std::string arguments = std::to_string(kBubblewrapArguments);
  const std::string image = "/proc/self/fd/" + std::to_string(kImage);
  execle("/usr/bin/bwrap", "bwrap", "--args", arguments.c_str(), "--", image.c_str(), "inside", nullptr,
         static_cast<char**>(std::array<char*, 1>{nullptr}.data()));
  report(status, {Stage::kSandbox, errno});
  _exit(1);
}

[[noreturn]] void run_child(const Request& request, pid_t supervisor, int out, int err, int status) {
  setsid();
  reset_signals();
  hand_over(err, STDERR_FILENO);
  if (request.settings.channel_is_stdio) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) hand_over(kChannel, fd);
  } else {
    hand_over(out, STDOUT_FILENO);
    if (request.settings.channel) hand_over(kChannel, kControl);
  }
  // If the supervisor is killed, at least the command itself is killed with it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(1);
  if (request.settings.sandboxed) become_bubblewrap(request, status);
  if (chdir(request.folder.c_str()) != 0) {
    report(status, {Stage::kFolder, errno});
  } else if (!set_limits(request.settings.limits)) {
    report(status, {Stage::kLimits, errno});
  } else {
    become_command(request, status);
  }
  _exit(1);
}

}  // namespace

void report(int status, Progress progress) {
  [[maybe_unused]] const ssize_t written = write(status, &progress, sizeof progress);
}

bool set_limits(const Limits& limits) {
  const auto set = [](__rlimit_resource resource, std::uint64_t value) {
    return value == 0 || set_limit(resource, value);
  };
  return set_limit(RLIMIT_CORE, 0) && set(RLIMIT_CPU, limits.cpu_seconds) &&
         set(RLIMIT_AS, limits.memory_bytes) && set(RLIMIT_NPROC, limits.processes) &&
         set(RLIMIT_FSIZE, limits.file_bytes) && set(RLIMIT_NOFILE, limits.open_files);
}

void become_command(const Request& request, int status) {
  auto arguments = pointers(request.arguments);
  auto variables = pointers(request.environment);
  environ = variables.data();
  report(status, {});
  execvp(arguments[0], arguments.data());
  report(status, {Stage::kExec, errno});
}

Launched launch(const Request& request) {
  Pipe out = make_pipe(), err = make_pipe(), status = make_pipe();
  if (status.write_end.get() < 0) return {};
  const pid_t supervisor = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    run_child(request, supervisor, out.write_end.get(), err.write_end.get(), status.write_end.get());
  }
  for (const Pipe* pipe : {&out, &err, &status}) fcntl(pipe->read_end.get(), F_SETFL, O_NONBLOCK);
  return {pid, std::move(out.read_end), std::move(err.read_end), std::move(status.read_end)};
}

}  // namespace praxis::supervisor
