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

/// `prints_text`: set if the command only prints help or the like, without an envelope.
Result<ExitStatus> carry_out(const std::vector<std::string>& arguments, bool& prints_text, Console& console) {
  auto command = parse_arguments(arguments);
  if (!command) return fail(command.error());
  prints_text =
      std::holds_alternative<PrintText>(*command) || std::holds_alternative<CompleteOptions>(*command);
  return std::visit([&](const auto& options) { return execute(options, console); }, *command);
}

/// Looks at the words, because the envelope also reports that they cannot be parsed.
bool wants_envelope(const std::vector<std::string>& arguments) {
  const auto end_of_options = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end_of_options, "--json") != end_of_options;
}

/// Writes the last line of `--json`. That of a run has the same members when the run could not start.
void write_envelope(const std::string& command, ExitStatus status, const Error* error, Console& console) {
  const bool makes_a_run = command == "run" || command == "resume";
  if (error != nullptr && makes_a_run && !console.fields) console.fields = app::run_fields(*error);
  console.json(app::envelope(command.starts_with('-') ? "" : command, static_cast<int>(status),
                             console.fields.value_or(JsonObject{}), error));
}

ExitStatus guarded(const std::vector<std::string>& arguments, Console& console) {
  Result<ExitStatus> status = ExitStatus::kFailed;
  bool prints_text = false;
  try {
    status = carry_out(arguments, prints_text, console);
  } catch (const std::exception& bug) {
    status =
        fail(ErrorCode::kInternal, fmt::format("internal error: {}; this is a bug in Praxis", bug.what()));
  }
  const Error* error = status ? nullptr : &status.error();
  const ExitStatus ended = status ? *status : console.report(*error);
  if (wants_envelope(arguments) && !prints_text) write_envelope(arguments[0], ended, error, console);
  return ended;
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
