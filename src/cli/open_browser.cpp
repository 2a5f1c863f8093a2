#include "cli/open_browser.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace praxis::cli {
namespace {

// The shell ends at once and leaves the program to the system, so that Ctrl-C does not reach it.
constexpr const char* kOpen =
    "command -v xdg-open >/dev/null 2>&1 || exit 127; xdg-open \"$1\" </dev/null >/dev/null 2>&1 &";

}  // namespace

bool open_browser(const std::string& address) {
  std::string shell = "sh", flag = "-c", program = kOpen, name = "praxis", argument = address;
  const std::array<char*, 6> arguments{shell.data(), flag.data(),     program.data(),
                                       name.data(),  argument.data(), nullptr};
  posix_spawnattr_t attributes;
  if (posix_spawnattr_init(&attributes) != 0) return false;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace praxis::cli
