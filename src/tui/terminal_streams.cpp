#include "tui/terminal_streams.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace praxis::tui {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Terminal Terminal::detect() {
  Terminal terminal;
  terminal.out = isatty(STDOUT_FILENO) == 1;
  terminal.err = isatty(STDERR_FILENO) == 1;
  const std::string kind = variable("TERM");
  const bool able = !kind.empty() && kind != "dumb";
  const bool wants_color = variable("NO_COLOR").empty();
  terminal.live = terminal.err && able;
  terminal.color = terminal.live && wants_color;
  terminal.out_live = terminal.out && able;
  terminal.out_color = terminal.out_live && wants_color;
  return terminal;
}

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace praxis::tui
