// A program under test from its user's view: started with arguments, observed through its streams, signalled,
// waited for. Every wait has a deadline, after which the program is killed and the test fails.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace praxis::testing {

struct ProcessOptions {
  std::string folder;                      ///< working directory; empty: the test's own
  std::map<std::string, std::string> env;  ///< added to the environment of the test
  /// Its standard input; `std::nullopt`: standard input is closed.
  std::optional<std::string> input = "";
  bool close_output = false;  ///< starts it without a standard output
};

class Process {
 public:
  Process(const std::vector<std::string>& command, const ProcessOptions& options = {}) {
    if (pipe2(in_.data(), O_CLOEXEC) + pipe2(out_.data(), O_CLOEXEC) + pipe2(err_.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipes");
    }
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no fork");
    if (pid_ == 0) become(command, options);
    shut(in_[0]);
    shut(out_[1]);
    shut(err_[1]);
    // Inputs of these tests fit into a pipe.
    if (options.input && write(in_[1], options.input->data(), options.input->size()) < 0)
      throw std::runtime_error("no input");
    shut(in_[1]);
  }
  ~Process() {
    if (!status_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    shut(out_[0]);
    shut(err_[0]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Reads until standard output contains `text`. False if the program ended or the time was up first.
  bool prints(const std::string& text) {
    return pump([&] { return output.find(text) != std::string::npos; });
  }
  /// As `prints`, for standard error.
  bool reports(const std::string& text) {
    return pump([&] { return errors.find(text) != std::string::npos; });
  }
  void signal(int number) const { kill(pid_, number); }
  /// Closes the reading end of its standard output.
  void stop_reading() { shut(out_[0]); }
  /// Waits for the end; returns the exit status, or 128 plus the signal that ended it.
  int finish() {
    pump([] { return false; });
    if (timed_out_) {
      ADD_FAILURE() << "the program did not end; it wrote: " << output << errors;
      kill(pid_, SIGKILL);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return *status_;
  }

  std::string output, errors;

 private:
  using Pipe = std::array<int, 2>;

  static void shut(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }

  [[noreturn]] void become(const std::vector<std::string>& command, const ProcessOptions& options) const {
    dup2(in_[0], STDIN_FILENO);
    dup2(out_[1], STDOUT_FILENO);
    dup2(err_[1], STDERR_FILENO);
    if (!options.input) close(STDIN_FILENO);
    if (options.close_output) close(STDOUT_FILENO);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
    for (const auto& [name, value] : options.env) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }

  /// Reads the program's output until `enough`, its end, or a minute has passed. Returns whether it was
  /// enough.
  bool pump(const std::function<bool()>& enough) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!enough()) {
      if (out_[0] < 0 && err_[0] < 0) return false;
      std::array<pollfd, 2> ready{{{out_[0], POLLIN, 0}, {err_[0], POLLIN, 0}}};
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0 || poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0) {
        timed_out_ = true;
        return false;
      }
      if (ready[0].revents != 0) take(out_[0], output);
      if (ready[1].revents != 0) take(err_[0], errors);
    }
    return true;
  }

  static void take(int& fd, std::string& text) {
    std::array<char, 65536> buffer;
    const auto got = read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      shut(fd);
    }
  }

  Pipe in_{-1, -1}, out_{-1, -1}, err_{-1, -1};
  pid_t pid_ = -1;
  bool timed_out_ = false;
  std::optional<int> status_;
};

}  // namespace praxis::testing
