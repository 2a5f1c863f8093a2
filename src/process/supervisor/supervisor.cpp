#include "process/supervisor/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "process/supervisor/captured_output.hpp"
#include "process/supervisor/descendants.hpp"
#include "process/supervisor/guards.hpp"
#include "process/supervisor/launch.hpp"
#include "process/supervisor/loans.hpp"
#include "process/supervisor/memory_group.hpp"
#include "process/supervisor/memory_use.hpp"

namespace praxis::supervisor {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Time between two rounds of killing: a process may have forked between them.
constexpr milliseconds kRound{2};
/// Time between two measurements of the memory of a sandbox.
constexpr milliseconds kMeasure{250};
/// How much is still read from a pipe that a process outside holds open.
constexpr std::size_t kLastBytes = 4 * 1024 * 1024;

void send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(kControl, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return;  // the library is gone
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void send_message(const Message& message) {
  send_all({reinterpret_cast<const char*>(&message), sizeof message});
}

class Supervisor {
 public:
  Supervisor(const Request& request, Launched launched, const MemoryGroup& group)
      : settings_(request.settings),
        group_(group),
        child_(launched.pid),
        out_{std::move(launched.out), CapturedOutput(settings_.output_bytes)},
        err_{std::move(launched.err), CapturedOutput(settings_.output_bytes)},
        status_(std::move(launched.status)),
        // Signals our owner's death even if a fork of it still holds a copy of its end of the control socket.
        owner_(static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0))) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    children_ = FileDescriptor(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    if (settings_.sandboxed && settings_.limits.memory_bytes != 0) measure_at_ = started_ + kMeasure;
    if (settings_.wall_ms > 0) wall_end_ = started_ + milliseconds(settings_.wall_ms);
  }

  void run() {
    while (!reap()) {
      wait_for_something();
      if (Clock::now() >= wall_end_) stop(End::kTimedOut);
      check_memory();
      if (phase_ == Phase::kStopping && Clock::now() >= grace_end_) phase_ = Phase::kKilling;
      if (phase_ == Phase::kKilling) signal_all(SIGKILL);
    }
    finish();
  }

 private:
  enum class Phase { kRunning, kStopping, kKilling };
  struct Stream {
    FileDescriptor pipe;
    CapturedOutput kept;
  };

  /// Collects ended children. True when no descendant is left.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0) return errno == ECHILD;
      if (pid == 0) return false;
      if (pid != child_) continue;
      child_status_ = status;
      duration_ = Clock::now() - started_;
      if (phase_ == Phase::kRunning) phase_ = Phase::kKilling;
    }
  }

  void wait_for_something() {
    std::array<pollfd, 6> ready{{{control_, POLLIN, 0},
                                 {owner_.get(), POLLIN, 0},
                                 {children_.get(), POLLIN, 0},
                                 {status_.get(), POLLIN, 0},
                                 {out_.pipe.get(), POLLIN, 0},
                                 {err_.pipe.get(), POLLIN, 0}}};
    poll(ready.data(), ready.size(), time_left());
    if (ready[0].revents != 0) read_control();
    if (ready[1].revents != 0) {
      owner_.reset();
      stop(End::kStopped);
    }
    if (ready[2].revents != 0) {
      signalfd_siginfo ignored;
      while (read(children_.get(), &ignored, sizeof ignored) > 0) {
      }
    }
    if (ready[3].revents != 0) {
      while (status_.get() >= 0 && read_status()) {
      }
    }
    if (ready[4].revents != 0) read_some(out_);
    if (ready[5].revents != 0) read_some(err_);
  }

  bool holds_too_much() const {
    return group_.exists() ? group_.has_killed()
                           : holds_more_than(settings_.limits.memory_bytes, descendants());
  }

  /// No process can be asked to give memory back, so all are killed at once.
  void check_memory() {
    if (Clock::now() < measure_at_) return;
    measure_at_ = Clock::now() + kMeasure;
    if (phase_ == Phase::kKilling || !holds_too_much()) return;
    if (!stopped_) stopped_ = End::kOutOfMemory;
    phase_ = Phase::kKilling;
  }

  int time_left() const {
    if (phase_ == Phase::kKilling) return kRound.count();
    const auto until = std::min(phase_ == Phase::kStopping ? grace_end_ : wall_end_, measure_at_);
    if (until == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
  }

  void read_control() {
    char byte = 0;
    const ssize_t got = recv(control_, &byte, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) control_ = -1;
    stop(End::kStopped);
  }

  /// False when no further status can be read now.
  bool read_status() {
    Progress progress;
    const ssize_t got = read(status_.get(), &progress, sizeof progress);
    if (got == sizeof progress) {
      progress_ = progress;
      return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    status_.reset();
    if (progress_ && progress_->stage == Stage::kNone) started();
    return false;
  }

  void started() {
    running_ = true;
    send_message({.kind = Kind::kStarted});
  }

  /// False when no further output can be read now.
  static bool read_some(Stream& stream) {
    std::array<char, 65536> buffer;
    const ssize_t got = read(stream.pipe.get(), buffer.data(), buffer.size());
    if (got > 0) {
      stream.kept.add({buffer.data(), static_cast<std::size_t>(got)});
      return true;
    }
    if (got < 0 && errno == EINTR) return true;
    if (got == 0 || errno != EAGAIN) stream.pipe.reset();
    return false;
  }

  void stop(End reason) {
    if (phase_ != Phase::kRunning) return;
    phase_ = Phase::kStopping;
    stopped_ = reason;
    wall_end_ = Clock::time_point::max();
    grace_end_ = Clock::now() + milliseconds(settings_.grace_ms);
    signal_all(SIGTERM);
  }

  /// Spares the child that builds a sandbox the first signal: the sandbox would end with it, without the
  /// grace time.
  void signal_all(int number) const {
    for (const pid_t pid : descendants()) {
      if (settings_.sandboxed && number == SIGTERM && pid == child_) continue;
      kill(pid, number);
    }
  }

  void finish() {
    for (Stream* stream : {&out_, &err_}) {
      const std::uint64_t enough = stream->kept.total() + kLastBytes;
      while (stream->kept.total() < enough && read_some(*stream)) {
      }
      stream->kept.finish();
    }
    while (status_.get() >= 0 && read_status()) {
    }
    if (!running_ && !stopped_)
      return refuse(progress_.value_or(Progress{Stage::kSandbox, 0}), err_.kept.head());
    if (!running_) started();
    send_end();
  }

  void send_end() const {
    const auto lengths = [](const CapturedOutput& kept) {
      return StreamSizes{kept.total(), static_cast<std::uint32_t>(kept.head().size()),
                         static_cast<std::uint32_t>(kept.tail().size())};
    };
    Message message{.kind = Kind::kEnded};
    const auto killed = group_.has_killed() ? std::optional(End::kOutOfMemory) : std::nullopt;
    message.end =
        (stopped_ ? stopped_ : killed).value_or(WIFEXITED(child_status_) ? End::kExited : End::kSignalled);
    message.status = WIFEXITED(child_status_) ? WEXITSTATUS(child_status_) : WTERMSIG(child_status_);
    message.memory_group = group_.exists();
    message.duration_ms = std::chrono::duration_cast<milliseconds>(duration_).count();
    message.out = lengths(out_.kept);
    message.err = lengths(err_.kept);
    send_message(message);
    for (const CapturedOutput* kept : {&out_.kept, &err_.kept}) {
      send_all(kept->head());
      send_all(kept->tail());
    }
  }

  const Settings settings_;
  const MemoryGroup& group_;
  const pid_t child_;
  Stream out_, err_;
  FileDescriptor status_, owner_, children_;
  int control_ = kControl;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point wall_end_ = Clock::time_point::max();
  Clock::time_point grace_end_ = Clock::time_point::max();
  Clock::time_point measure_at_ = Clock::time_point::max();
  Phase phase_ = Phase::kRunning;
  std::optional<End> stopped_;
  std::optional<Progress> progress_;
  bool running_ = false;
  int child_status_ = 0;
  Clock::duration duration_{};
};

}  // namespace

void refuse(Progress progress, std::string_view text) {
  Message message{.kind = Kind::kFailed, .failure = progress};
  message.err.head = static_cast<std::uint32_t>(text.size());
  send_message(message);
  send_all(text);
}

void supervise(const Request& request) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_SETMASK, &children, nullptr);
  // Ignore signals about the terminal, a service or a closed pipe: the owner handles those.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) std::signal(number, SIG_IGN);

  if (request.settings.sandboxed && request.settings.limits.memory_bytes != 0) MemoryGroup::prepare();
  Guards guards;
  if (const std::string failed = guards.place(request.guards); !failed.empty()) {
    return refuse({Stage::kGuard, errno}, failed);
  }
  Lending lending;  // ends before the guards
  if (!request.loans.empty()) {
    const std::string failed = lend(request.loans, request.settings.sandbox_user);
    if (!failed.empty()) return refuse({Stage::kLoan, errno}, failed);
    lending.begin();
    if (const std::string moved = cover(request.loans, request.covers); !moved.empty())
      return refuse({Stage::kMount, errno}, moved);
  }
  // Outlives the sandbox, so that it can be removed.
  MemoryGroup group(request.settings.sandboxed ? request.settings.limits.memory_bytes : 0);
  Launched launched = group.run([&] { return launch(request); });
  if (launched.pid < 0) return refuse({Stage::kProcess, errno});
  // The command's ends must be the only open ones.
  close(STDIN_FILENO);
  if (request.settings.channel) close(kChannel);
  Supervisor(request, std::move(launched), group).run();
}

}  // namespace praxis::supervisor
