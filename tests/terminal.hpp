// A program at a pseudo-terminal, whose output a terminal emulator (libvterm) turns into the screen that the
// user sees. Every wait has a deadline, after which the program is killed and the test fails.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <vterm.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "process.hpp"

namespace praxis::testing {

struct TerminalShape {
  int columns = 80, rows = 24;
};

/// The emulated screen with all lines that have left it at the top.
class EmulatedScreen {
 public:
  explicit EmulatedScreen(TerminalShape shape)
      : shape_(shape), terminal_(vterm_new(shape.rows, shape.columns)) {
    vterm_set_utf8(terminal_.get(), 1);
    screen_ = vterm_obtain_screen(terminal_.get());
    vterm_screen_set_callbacks(screen_, &kCallbacks, this);
    vterm_screen_reset(screen_, 1);
  }

  /// Another size; what does not fit is cut or pushed out at the top, as terminals without reflow do.
  void resize(TerminalShape shape) {
    shape_ = shape;
    vterm_set_size(terminal_.get(), shape.rows, shape.columns);
  }
  /// The titles that were set, and the screens that were changed to: what a program must not do to a user.
  const std::string& tampering() const { return tampering_; }
  bool is_cursor_visible() const { return cursor_visible_; }

  /// Keeps the beginning of a character until its rest has come: libvterm takes another decoder for a write
  /// that begins with an ASCII character, so that it would show U+FFFD where a read cut a character.
  void write(std::string_view bytes) {
    unfinished_ += bytes;
    const std::size_t whole = unfinished_.size() - cut_character(unfinished_);
    vterm_input_write(terminal_.get(), unfinished_.data(), whole);
    unfinished_.erase(0, whole);
  }

  /// All lines without the blanks at their ends, and without empty lines at the end. `styled`: bold, italic,
  /// underlined and coloured text is marked: `{b}`, `{i}`, `{u}`, `{red}`, and `{}` at its end.
  std::string text(bool styled = false) const {
    std::string all;
    for (const auto& line : above_) all += line_text(line, styled) + '\n';
    for (int row = 0; row < shape_.rows; ++row) {
      Line line;
      for (int column = 0; column < shape_.columns; ++column) {
        VTermScreenCell cell;
        vterm_screen_get_cell(screen_, {row, column}, &cell);
        line.push_back(cell);
      }
      all += line_text(line, styled) + '\n';
    }
    while (all.ends_with("\n\n")) all.pop_back();
    return all == "\n" ? "" : all;
  }

 private:
  using Line = std::vector<VTermScreenCell>;

  /// How many bytes at the end begin a character without ending it.
  static std::size_t cut_character(std::string_view bytes) {
    for (std::size_t n = 1; n <= std::min<std::size_t>(3, bytes.size()); ++n) {
      const auto c = static_cast<unsigned char>(bytes[bytes.size() - n]);
      if ((c & 0xC0U) == 0x80U) continue;
      const std::size_t length = c >= 0xF0U ? 4 : c >= 0xE0U ? 3 : c >= 0xC0U ? 2 : 1;
      return length > n ? n : 0;
    }
    return 0;
  }
  static int push_line(int columns, const VTermScreenCell* cells, void* self) {
    static_cast<EmulatedScreen*>(self)->above_.emplace_back(cells, cells + columns);
    return 1;
  }
  static int set_property(VTermProp property, VTermValue* value, void* self) {
    auto* screen = static_cast<EmulatedScreen*>(self);
    if (property == VTERM_PROP_CURSORVISIBLE) screen->cursor_visible_ = value->boolean != 0;
    if (property == VTERM_PROP_TITLE || property == VTERM_PROP_ICONNAME)
      screen->tampering_ += "title:" + std::string(value->string) + '\n';
    if (property == VTERM_PROP_ALTSCREEN && value->boolean != 0) screen->tampering_ += "other screen\n";
    if (property == VTERM_PROP_MOUSE && value->number != 0) screen->tampering_ += "mouse\n";
    return 1;
  }
  static inline const VTermScreenCallbacks kCallbacks{.damage = nullptr,
                                                      .moverect = nullptr,
                                                      .movecursor = nullptr,
                                                      .settermprop = set_property,
                                                      .bell = nullptr,
                                                      .resize = nullptr,
                                                      .sb_pushline = push_line,
                                                      .sb_popline = nullptr};

  static void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out.append({static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))});
    } else if (c < 0x10000) {
      out.append({static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
                  static_cast<char>(0x80 | (c & 0x3F))});
    } else {
      out.append({static_cast<char>(0xF0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 0x3F)),
                  static_cast<char>(0x80 | ((c >> 6) & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))});
    }
  }

  static std::string style_of(const VTermScreenCell& cell) {
    static const std::array<const char*, 8> kColors{"black", "red",     "green", "yellow",
                                                    "blue",  "magenta", "cyan",  "white"};
    std::string style;
    if (cell.attrs.bold) style += "b";
    if (cell.attrs.italic) style += "i";
    if (cell.attrs.underline) style += "u";
    if (VTERM_COLOR_IS_INDEXED(&cell.fg) && cell.fg.indexed.idx < kColors.size())
      style += std::string(style.empty() ? "" : " ") + kColors.at(cell.fg.indexed.idx);
    return style;
  }

  static std::string line_text(const Line& line, bool styled) {
    std::string out, style;
    for (const VTermScreenCell& cell : line) {
      constexpr auto kRestOfWide = static_cast<std::uint32_t>(-1);
      if (cell.chars[0] == kRestOfWide) continue;
      const std::string now = styled && cell.chars[0] != 0 ? style_of(cell) : "";
      if (now != style) out += '{' + now + '}';
      style = now;
      if (cell.chars[0] == 0) out += ' ';
      for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i] != 0; ++i)
        append_utf8(out, cell.chars[i]);
    }
    if (!style.empty()) out += "{}";
    const auto end = out.find_last_not_of(' ');
    return end == std::string::npos ? "" : out.substr(0, end + 1);
  }

  struct Free {
    void operator()(VTerm* terminal) const { vterm_free(terminal); }
  };

  TerminalShape shape_;
  std::unique_ptr<VTerm, Free> terminal_;
  VTermScreen* screen_ = nullptr;
  std::vector<Line> above_;
  std::string tampering_;
  std::string unfinished_;  ///< the beginning of a character
  bool cursor_visible_ = true;
};

/// A program whose standard streams are a pseudo-terminal.
class TerminalSession {
 public:
  TerminalSession(const std::vector<std::string>& command, const ProcessOptions& options,
                  TerminalShape shape = {})
      : screen_(shape) {
    master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0)
      throw std::runtime_error("no terminal");
    const winsize size{static_cast<unsigned short>(shape.rows), static_cast<unsigned short>(shape.columns), 0,
                       0};
    ioctl(master_, TIOCSWINSZ, &size);
    const std::string name = ptsname(master_);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no fork");
    if (pid_ == 0) become(command, options, name);
  }
  ~TerminalSession() {
    if (!ended_) {
      kill(-pid_, SIGKILL);
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(master_);
  }
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;

  /// Waits until the screen, or what has left it, contains `text`; fails if it does not within a minute.
  bool shows(const std::string& text) {
    const bool shown = pump([&] { return screen_.text().find(text) != std::string::npos; });
    EXPECT_TRUE(shown) << "not shown: " << text << "\nthe screen:\n" << screen_.text();
    return shown;
  }
  void type(const std::string& keys) const {
    if (write(master_, keys.data(), keys.size()) < 0) ADD_FAILURE() << "cannot type";
  }
  /// Types `keys` once `prompt` stands at the end of the screen.
  void answer(const std::string& prompt, const std::string& keys) {
    const bool asked = pump([&] {
      std::string text = screen_.text();
      while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
      return text.ends_with(prompt);
    });
    ASSERT_TRUE(asked) << "not asked: " << prompt << "\nthe screen:\n" << screen_.text();
    type(keys);
  }
  /// Changes the size of the terminal, once all output so far is on the screen.
  void resize(TerminalShape shape) {
    pump_for(std::chrono::milliseconds(50));
    screen_.resize(shape);
    const winsize size{static_cast<unsigned short>(shape.rows), static_cast<unsigned short>(shape.columns), 0,
                       0};
    ioctl(master_, TIOCSWINSZ, &size);
  }
  /// Whether the terminal echoes and reads lines, as a shell needs it.
  bool reads_lines() const {
    termios now{};
    return tcgetattr(master_, &now) == 0 && (now.c_lflag & ICANON) != 0 && (now.c_lflag & ECHO) != 0;
  }
  /// Reads output until `enough`; false after a minute.
  bool wait_until(const std::function<bool()>& enough) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!enough()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      pump_for(std::chrono::milliseconds(20));
    }
    return true;
  }
  /// All bytes of the program so far.
  const std::string& output() const { return output_; }
  const EmulatedScreen& emulated() const { return screen_; }
  void signal(int number) const { kill(pid_, number); }
  /// Waits for the end; returns the exit status, or 128 plus the signal that ended it.
  int finish() {
    EXPECT_FALSE(pump([] { return false; }));
    if (timed_out_) {
      ADD_FAILURE() << "the program did not end; the screen:\n" << screen_.text();
      kill(pid_, SIGKILL);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string screen(bool styled = false) const { return screen_.text(styled); }

 private:
  [[noreturn]] static void become(const std::vector<std::string>& command, const ProcessOptions& options,
                                  const std::string& name) {
    setsid();
    const int slave = open(name.c_str(), O_RDWR);
    ioctl(slave, TIOCSCTTY, 0);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(slave, fd);
    if (slave > STDERR_FILENO) close(slave);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) std::signal(number, SIG_DFL);
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
    for (const auto& [key, value] : options.env) setenv(key.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }

  /// Reads what comes within a time.
  void pump_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    for (auto left = time; left.count() >= 0; left = std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  end - std::chrono::steady_clock::now())) {
      pollfd ready{master_, POLLIN, 0};
      if (poll(&ready, 1, static_cast<int>(left.count())) <= 0 || !take()) return;
    }
  }

  /// Reads what is there; false at the end.
  bool take() {
    std::array<char, 65536> buffer;
    const auto got = read(master_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;  // EIO: the program has closed the terminal
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    screen_.write(bytes);
    output_ += bytes;
    return true;
  }

  bool pump(const std::function<bool()>& enough) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!enough()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd ready{master_, POLLIN, 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
        timed_out_ = true;
        return false;
      }
      if (!take()) return false;
    }
    return true;
  }

  EmulatedScreen screen_;
  std::string output_;
  int master_ = -1;
  pid_t pid_ = -1;
  bool timed_out_ = false;
  bool ended_ = false;
};

}  // namespace praxis::testing
