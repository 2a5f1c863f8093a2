#include "tui/raw_terminal.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "base/write_all.hpp"

namespace praxis::tui {
namespace {

constexpr std::string_view kEnter =
    "\x1b[?2004h\x1b[?1004h";  // marks pastes, says when it gets and loses the focus
/// Ends what a killed process may have left: marked pastes, reports of the focus, a frame, no line wrap, a
/// hidden cursor, a style.
constexpr std::string_view kLeave = "\x1b[?2026l\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m";

void show(std::string_view bytes) { std::ignore = write_all(STDOUT_FILENO, bytes); }

/// Whether the terminal is still as we set it: otherwise a shell has set it for itself.
bool is_set_to(const termios& raw) {
  termios now{};
  return tcgetattr(STDIN_FILENO, &now) == 0 && now.c_lflag == raw.c_lflag && now.c_iflag == raw.c_iflag;
}

/// What the watcher does; calls only functions that are safe after a fork of a process with threads.
[[noreturn]] void watch(int pipe, const termios& before, const termios& raw) {
  setpgid(0, 0);  // a signal for the chat's group is not for the watcher
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTTOU, SIGTTIN, SIGTSTP, SIGPIPE})
    std::signal(number, SIG_IGN);
  dup2(pipe, 3);
  syscall(SYS_close_range, 4U, ~0U, 0U);  // it must hold no lock and no file of the chat
  char word = 0;
  ssize_t got = 0;
  do got = read(3, &word, 1);
  while (got < 0 && errno == EINTR);
  if (got == 0 && is_set_to(raw)) {
    show(kLeave);
    show("\x1b[J\r\n");
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
  _exit(0);
}

}  // namespace

Result<RawTerminal> RawTerminal::open() {
  termios before{};
  if (tcgetattr(STDIN_FILENO, &before) != 0)
    return fail(ErrorCode::kInput, std::string("cannot use the terminal: ") + std::strerror(errno));
  termios raw = before;
  raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  RawTerminal terminal(before, raw);
  terminal.start_watcher();
  terminal.enter();
  return terminal;
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept
    : before_(other.before_),
      raw_(other.raw_),
      watched_(std::exchange(other.watched_, -1)),
      watcher_(std::exchange(other.watcher_, -1)),
      is_raw_(std::exchange(other.is_raw_, false)) {}

RawTerminal::~RawTerminal() {
  leave();
  if (watched_ >= 0) {
    [[maybe_unused]] const auto said = write(watched_, "x", 1);
    close(watched_);
  }
  if (watcher_ > 0) waitpid(watcher_, nullptr, 0);
}

/// Without a watcher the chat works as well; only a kill then leaves the terminal raw.
void RawTerminal::start_watcher() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  watcher_ = fork();
  if (watcher_ == 0) {
    close(ends[1]);
    watch(ends[0], before_, raw_);
  }
  close(ends[0]);
  watched_ = ends[1];
}

void RawTerminal::enter() {
  if (is_raw_) return;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw_);
  show(kEnter);
  is_raw_ = true;
}

void RawTerminal::leave() {
  if (!is_raw_) return;
  show(kLeave);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  is_raw_ = false;
}

}  // namespace praxis::tui
