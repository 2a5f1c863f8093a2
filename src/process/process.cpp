#include "praxis/process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/exhausted.hpp"
#include "process/sandbox_plan.hpp"
#include "process/supervisor_image.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

namespace {

using Clock = std::chrono::steady_clock;

/// How long the supervisor may take beyond the grace time before we kill it.
constexpr Millis kPatience{5'000};

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Status check(const ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return fail(ErrorCode::kInput, "argv must name a program");
  }
  if (std::ranges::any_of(spec.argv, has_nul)) return fail(ErrorCode::kInput, "argv must not hold NUL bytes");
  if (!spec.folder.starts_with('/') || has_nul(spec.folder)) {
    return fail(ErrorCode::kInput, "the folder of a process must be an absolute path");
  }
  for (const auto& [name, value] : spec.environment) {
    if (name.empty() || has_nul(name) || name.find('=') != std::string::npos || has_nul(value)) {
      return fail(ErrorCode::kInput, "\"" + name + "\" is not a valid environment variable");
    }
  }
  return {};
}

supervisor::Request request_of(const ProcessSpec& spec) {
  const ProcessLimits& limits = spec.limits;
  supervisor::Request request;
  request.settings = {.limits = {.cpu_seconds = static_cast<std::uint64_t>(limits.cpu.count()),
                                 .memory_bytes = limits.memory_bytes,
                                 .processes = spec.sandbox ? limits.processes : 0,
                                 .file_bytes = limits.file_bytes,
                                 .open_files = limits.open_files},
                      .output_bytes = limits.output_bytes,
                      .wall_ms = limits.wall_time.count(),
                      .grace_ms = limits.grace.count(),
                      .channel = spec.channel || spec.channel_is_stdio,
                      .channel_is_stdio = spec.channel_is_stdio,
                      .sandboxed = spec.sandbox.has_value()};
  request.folder = spec.folder;
  request.arguments = spec.argv;
  for (const auto& [name, value] : spec.environment) request.environment.push_back(name + "=" + value);
  return request;
}

/// Both descriptors are above those that the supervisor is started with.
struct SocketPair {
  FileDescriptor ours, theirs;
};

std::unexpected<Error> no_resources(int error) {
  return fail(with_exhaustion(
      make_error(ErrorCode::kTool, ErrorKind::kMachine,
                 "no program can be started: " + std::generic_category().message(error), true),
      error));
}

Result<SocketPair> make_sockets() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return no_resources(errno);
  const FileDescriptor first(ends[0]), second(ends[1]);
  SocketPair pair{FileDescriptor(fcntl(first.get(), F_DUPFD_CLOEXEC, 16)),
                  FileDescriptor(fcntl(second.get(), F_DUPFD_CLOEXEC, 16))};
  if (pair.ours.get() < 0 || pair.theirs.get() < 0) return no_resources(errno);
  return pair;
}

/// The descriptors that the supervisor is started with; -1 leaves one out.
struct Descriptors {
  int input = -1, control = -1, channel = -1, image = -1, request = -1, bubblewrap_arguments = -1;
};

/// posix_spawn is safe in a process with threads: none of our code runs between its fork and its exec.
Result<pid_t> spawn_supervisor(const Descriptors& fds) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const auto place = [&](int fd, int at) {
    if (fd >= 0) posix_spawn_file_actions_adddup2(&actions, fd, at);
  };
  if (fds.input < 0) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  place(fds.input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  place(fds.control, supervisor::kControl);
  place(fds.channel, supervisor::kChannel);
  place(fds.image, supervisor::kImage);
  place(fds.request, supervisor::kRequest);
  place(fds.bubblewrap_arguments, supervisor::kBubblewrapArguments);
  posix_spawn_file_actions_addclosefrom_np(&actions, supervisor::kFirstFree);
  // A session of its own shields it from the terminal's signals; it must not inherit our thread's signal
  // mask.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  const std::string image = "/proc/self/fd/" + std::to_string(supervisor::kImage);
  std::array<char*, 3> arguments{const_cast<char*>("praxis-supervisor"), const_cast<char*>("supervise"),
                                 nullptr};
  std::array<char*, 1> environment{nullptr};
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, image.c_str(), &actions, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return no_resources(error);
  return pid;
}

/// False if the other end is closed before `size` bytes have arrived.
bool receive(int fd, void* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = recv(fd, static_cast<char*>(to) + done, size - done, MSG_WAITALL);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return true;
}

bool receive(int fd, ProcessOutput& out, const supervisor::StreamSizes& stream) {
  out.total_bytes = stream.total;
  out.head.resize(stream.head);
  out.tail.resize(stream.tail);
  return receive(fd, out.head.data(), stream.head) && receive(fd, out.tail.data(), stream.tail);
}

Error killed_supervisor() {
  return make_error(ErrorCode::kInternal,
                    "the supervisor of a program was killed from outside, and the program "
                    "with it");
}

/// Whether an operator must repair what failed: neither the call nor a program that exchanges folders while a
/// sandbox is built has caused it.
bool is_of_machine(const supervisor::Progress& failure) {
  using supervisor::Stage;
  switch (failure.stage) {
    case Stage::kRequest:
    case Stage::kProcess:
    case Stage::kLimits:
    case Stage::kForwarder:
    case Stage::kLandlock:
    case Stage::kSeccomp:
      return true;
    case Stage::kGuard:
    case Stage::kLoan:
      return failure.error != ENOENT && failure.error != ENOTDIR && failure.error != ELOOP;
    default:
      return false;
  }
}

/// Whether a sandbox without any folder can be built now.
bool can_build_sandbox() {
  ProcessSpec spec;
  spec.argv = {"/usr/bin/true"};
  spec.sandbox.emplace();
  auto process = start_process(spec);
  return process && process->wait({}).has_value();
}

Error not_started(const ProcessSpec& spec, const supervisor::Progress& failure, std::string text) {
  using supervisor::Stage;
  const std::string why = failure.error == 0 ? "" : ": " + std::generic_category().message(failure.error);
  const auto error = [&](ErrorCode code, const std::string& message) { return make_error(code, message); };
  while (text.ends_with('\n')) text.pop_back();
  switch (failure.stage) {
    case Stage::kExec:
      return error(ErrorCode::kTool, "\"" + spec.argv.front() + "\" cannot be started" + why);
    case Stage::kFolder:
      return error(ErrorCode::kTool, "the folder " + spec.folder + " cannot be used" + why);
    case Stage::kLimits:
      return error(ErrorCode::kTool, "the limits of a process cannot be set" + why);
    case Stage::kProcess:
    case Stage::kRequest:
      return error(ErrorCode::kTool, "no program can be started" + why);
    case Stage::kGuard:
      return error(ErrorCode::kPolicy, "the sandbox cannot be built: " + text + " cannot be protected" + why);
    case Stage::kLoan:
      return error(ErrorCode::kPolicy, "the sandbox cannot be built: " + text +
                                           " belongs to root and cannot be lent to an ordinary user" + why +
                                           ". Run as an ordinary user, or give the folder to uid 65534");
    case Stage::kMount:
      return error(ErrorCode::kPolicy,
                   "the sandbox cannot be built: a folder or file in it was replaced meanwhile" + why);
    case Stage::kForwarder:
      return error(ErrorCode::kPolicy, "the sandbox cannot be built: the proxy cannot be reached" + why);
    case Stage::kLandlock:
      return error(ErrorCode::kPolicy, "the sandbox cannot be built: Landlock" + why);
    case Stage::kSeccomp:
      return error(ErrorCode::kPolicy, "the sandbox cannot be built: seccomp" + why);
    default:
      return error(ErrorCode::kPolicy,
                   "the sandbox cannot be built" + why + (text.empty() ? "" : ": " + text));
  }
}

}  // namespace

std::string_view to_string(ProcessEnd end) {
  switch (end) {
    case ProcessEnd::kExited:
      return "exited";
    case ProcessEnd::kSignalled:
      return "signalled";
    case ProcessEnd::kTimedOut:
      return "timed_out";
    case ProcessEnd::kOutOfMemory:
      return "out_of_memory";
    default:
      return "cancelled";
  }
}

std::string ProcessOutput::text() const {
  if (left_out() == 0) return head + tail;
  return head + "\n[" + std::to_string(left_out()) + " bytes left out]\n" + tail;
}

struct Process::State {
  pid_t supervisor = -1;
  FileDescriptor control, channel;
  Millis grace{0};

  ~State() {
    control.reset();
    reap();
  }

  /// No-op once the supervisor has sent its last message.
  void stop() const { send(control.get(), &supervisor::kStop, 1, MSG_NOSIGNAL); }

  void reap() const {
    const FileDescriptor gone(static_cast<int>(syscall(SYS_pidfd_open, supervisor, 0)));
    pollfd ready{gone.get(), POLLIN, 0};
    int polled = 0;
    do {
      polled = gone.get() < 0 ? 1 : poll(&ready, 1, static_cast<int>((grace + kPatience).count()));
    } while (polled < 0 && errno == EINTR);
    if (polled == 0) ::kill(supervisor, SIGKILL);
    while (waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// Waits until the supervisor sends something. On a stop request or at the deadline it tells the supervisor
  /// to stop and sets `asked` to the reason. False if the supervisor does not respond.
  bool wait_for_supervisor(const std::stop_token& token, Clock::time_point deadline, ProcessEnd& asked) const;
};

bool Process::State::wait_for_supervisor(const std::stop_token& token, Clock::time_point deadline,
                                         ProcessEnd& asked) const {
  const FileDescriptor wake(token.stop_possible() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1);
  const std::stop_callback on_stop(token, [&] { eventfd_write(wake.get(), 1); });
  std::array<pollfd, 2> ready{{{control.get(), POLLIN, 0}, {wake.get(), POLLIN, 0}}};
  bool told = false;
  for (;;) {
    const bool for_ever = deadline == Clock::time_point::max();
    const auto left = for_ever ? 0 : std::chrono::ceil<Millis>(deadline - Clock::now()).count();
    const auto timeout = for_ever ? -1 : static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
    if (poll(ready.data(), ready.size(), timeout) < 0 && errno != EINTR) return false;
    if (ready[0].revents != 0) return true;
    const bool is_late = Clock::now() >= deadline;
    if (told && is_late) return false;
    if (told || (ready[1].revents == 0 && !is_late)) continue;
    asked = is_late ? ProcessEnd::kTimedOut : ProcessEnd::kCancelled;
    told = true;
    stop();
    ready[1].fd = -1;
    deadline = Clock::now() + grace + kPatience;
  }
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;
Process::~Process() = default;

int Process::channel() const { return state_->channel.get(); }
void Process::kill() { state_->stop(); }

Result<ProcessResult> Process::wait(const std::stop_token& stop, Clock::time_point deadline) {
  ProcessResult result;
  ProcessEnd asked = ProcessEnd::kCancelled;
  supervisor::Message message;
  const int control = state_->control.get();
  const bool whole = state_->wait_for_supervisor(stop, deadline, asked) &&
                     receive(control, &message, sizeof message) &&
                     receive(control, result.out, message.out) && receive(control, result.err, message.err);
  if (!whole) return fail(killed_supervisor());
  state_->reap();
  result.duration = Millis(message.duration_ms);
  result.memory_group = message.memory_group;
  switch (message.end) {
    case supervisor::End::kExited:
      result.exit_code = message.status;
      break;
    case supervisor::End::kSignalled:
      result.end = ProcessEnd::kSignalled;
      result.signal = message.status;
      break;
    case supervisor::End::kTimedOut:
      result.end = ProcessEnd::kTimedOut;
      break;
    case supervisor::End::kStopped:
      result.end = asked;
      break;
    case supervisor::End::kOutOfMemory:
      result.end = ProcessEnd::kOutOfMemory;
      break;
  }
  return result;
}

Result<Process> start_process(const ProcessSpec& spec) {
  if (auto usable = check(spec); !usable) return fail(std::move(usable.error()));
  supervisor::Request request = request_of(spec);
  FileDescriptor bubblewrap_arguments, input;
  if (spec.sandbox) {
    auto plan = plan_sandbox(*spec.sandbox, request);
    if (!plan) return fail(std::move(plan.error()));
    std::string text;
    for (const std::string& argument : *plan) text += argument + '\0';
    auto file = memory_file("bubblewrap_arguments", text);
    if (!file) return fail(std::move(file.error()));
    bubblewrap_arguments = std::move(*file);
  }
  if (!spec.input.empty()) {
    auto file = memory_file("input", spec.input);
    if (!file) return fail(std::move(file.error()));
    input = std::move(*file);
  }
  const auto encoded = memory_file("request", supervisor::encode(request));
  if (!encoded) return fail(encoded.error());
  const auto image = supervisor_image();
  if (!image) return fail(image.error());
  auto control = make_sockets();
  if (!control) return fail(std::move(control.error()));
  auto channel = request.settings.channel ? make_sockets() : SocketPair();
  if (!channel) return fail(std::move(channel.error()));

  const auto supervisor = spawn_supervisor({.input = input.get(),
                                            .control = control->theirs.get(),
                                            .channel = channel->theirs.get(),
                                            .image = *image,
                                            .request = encoded->get(),
                                            .bubblewrap_arguments = bubblewrap_arguments.get()});
  if (!supervisor) return fail(supervisor.error());
  auto state = std::make_unique<Process::State>();
  state->supervisor = *supervisor;
  state->control = std::move(control->ours);
  state->channel = std::move(channel->ours);
  state->grace = spec.limits.grace;
  control->theirs.reset();

  supervisor::Message first;
  ProcessOutput text;
  if (!receive(state->control.get(), &first, sizeof first)) return fail(killed_supervisor());
  if (first.kind == supervisor::Kind::kStarted) return Process(std::move(state));
  receive(state->control.get(), text, first.err);
  Error refused = not_started(spec, first.failure, std::move(text.head));
  // Bubblewrap reports a folder that was moved away meanwhile as it reports a kernel that refuses it.
  const bool has_folders =
      spec.sandbox && !(spec.sandbox->writable.empty() && spec.sandbox->readable.empty());
  const bool is_unclear = first.failure.stage == supervisor::Stage::kSandbox;
  if (is_of_machine(first.failure) || (is_unclear && (!has_folders || !can_build_sandbox())))
    refused.set("kind", to_string(ErrorKind::kMachine));
  return fail(std::move(refused));
}

}  // namespace praxis
