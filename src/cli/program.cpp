#include "cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>

#include "app/envelope.hpp"
#include "cli/app.hpp"
#include "cli/commands.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::cli {
namespace {

constexpr std::chrono::seconds kClosing{2};  // usually less than a millisecond

/// If a standard stream is closed, the next opened file would get its descriptor, and output would go into
/// the journal. Such streams are opened on /dev/null.
void fill_standard_streams() {
  while (true) {
    const int fd = open("/dev/null", O_RDWR);
    if (fd < 0) return;
    if (fd > STDERR_FILENO) {
      close(fd);
      return;
    }
  }
}

Result<ExitStatus> carry_out(const std::vector<std::string>& arguments, Console& console) {
  auto command = parse_arguments(arguments);
  if (!command) return fail(command.error());
  return std::visit([&](const auto& options) { return execute(options, console); }, *command);
}

/// With `--json`, a run that could not start is reported as JSON too.
bool wants_envelope(const std::vector<std::string>& arguments) {
  const bool makes_a_run = !arguments.empty() && (arguments[0] == "run" || arguments[0] == "resume");
  const auto end_of_options = std::ranges::find(arguments, "--");
  return makes_a_run && std::find(arguments.begin(), end_of_options, "--json") != end_of_options;
}

ExitStatus guarded(const std::vector<std::string>& arguments, Console& console) {
  Result<ExitStatus> status = ExitStatus::kFailed;
  try {
    status = carry_out(arguments, console);
  } catch (const std::exception& bug) {
    status =
        fail(ErrorCode::kInternal, fmt::format("internal error: {}; this is a bug in Praxis", bug.what()));
  }
  if (status) return *status;
  if (wants_envelope(arguments)) console.json(app::envelope(status.error()));
  return console.report(status.error());
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  fill_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  Console console;
  ExitStatus status = guarded(arguments, console);
  await_closed_journals(kClosing);
  if (const int error = console.out.error(); error != 0) {
    console.err.line(fmt::format("praxis: error: cannot write to standard output: {}", std::strerror(error)));
    if (status == ExitStatus::kFinished) status = ExitStatus::kFailed;
  }
  return static_cast<int>(status);
}

}  // namespace praxis::cli
