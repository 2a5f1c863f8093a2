#include "cli/editor.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/console.hpp"

namespace praxis::cli {
namespace {

/// A file that is removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view suffix) {
    std::error_code failed;
    path_ = std::filesystem::temp_directory_path(failed) / "praxis-XXXXXX";
    path_ += suffix;
    const int fd = mkstemps(path_.data(), static_cast<int>(suffix.size()));
    made_ = fd >= 0;
    if (made_) close(fd);
  }
  ~TemporaryFile() {
    if (made_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool made() const { return made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

std::string editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

/// Makes a process group the one that the terminal reads from and sends signals to.
void give_terminal_to(pid_t group) {
  sigset_t output, before;
  sigemptyset(&output);
  sigaddset(&output, SIGTTOU);  // a background process that calls tcsetpgrp gets it
  pthread_sigmask(SIG_BLOCK, &output, &before);
  tcsetpgrp(STDIN_FILENO, group);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[noreturn]] void become_editor(const std::string& command, const std::string& file) {
  setpgid(0, 0);
  give_terminal_to(getpid());
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) std::signal(number, SIG_DFL);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output may be a pipe
  const std::string line = command + " \"$1\"";
  execl("/bin/sh", "sh", "-c", line.c_str(), "sh", file.c_str(), nullptr);
  _exit(127);
}

/// Returns the exit status of the editor, or -1.
int run_editor(const std::string& command, const std::string& file) {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) become_editor(command, file);
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WUNTRACED);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0 || !WIFSTOPPED(status)) break;
    kill(-child, SIGCONT);  // no shell would continue it
  }
  give_terminal_to(getpgrp());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<std::string> edit_text(std::string_view text, std::string_view suffix) {
  const TemporaryFile file(suffix);
  if (!file.made())
    return fail(ErrorCode::kInput, fmt::format("cannot create {}: {}", file.path(), std::strerror(errno)));
  if (auto written = write_file(file.path(), text); !written) return fail(written.error());
  const std::string command = editor_command();
  const int status = run_editor(command, file.path());
  if (status != 0)
    return fail(ErrorCode::kInput, fmt::format("the editor \"{}\" failed; EDITOR names another", command));
  return read_input(file.path());
}

}  // namespace praxis::cli
