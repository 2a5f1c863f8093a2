// The output streams of the command line: results on standard output, messages on standard error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/exit_status.hpp"
#include "cli/terminal.hpp"
#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::cli {

/// Unbuffered output. If the reader has gone (`praxis run | head`), the rest is dropped without an error,
/// because the run must not be cancelled by that. Other write errors are kept and reported at the end.
class Stream {
 public:
  explicit Stream(int fd) : fd_(fd) {}
  void write(std::string_view bytes);
  void line(std::string_view text) { write(std::string(text) + '\n'); }
  /// Whether the reader has gone, or a write has failed: nothing more can be written.
  bool is_closed() const { return closed_; }
  /// `errno` of the write that failed, 0 for none.
  int error() const { return error_; }

 private:
  const int fd_;
  bool closed_ = false;
  int error_ = 0;
};

struct Console {
  Stream out{1};
  Stream err{2};
  Terminal terminal = Terminal::detect();

  /// Writes a line of `--json`, such as an event.
  void json(const Json& value) { out.line(to_json_text(value)); }
  /// Writes a line of `--json` for one of the things that a command lists.
  void item(std::string_view kind, const JsonObject& members);
  /// Keeps the members that the last line of `--json`, the envelope, has in addition to the common ones.
  void result(JsonObject members) { fields = std::move(members); }
  std::optional<JsonObject> fields = {};

  /// Prints `praxis: error: ...` and the error's hint, if any; returns the exit status.
  ExitStatus report(const Error& error, int signal = 0);
};

/// Whether the user can be asked to confirm: standard input is a terminal.
bool can_confirm();
/// Asks a question that is answered with yes or no; anything but yes is no.
bool confirmed(std::string_view question, Console& console);

/// Reads a whole file, or standard input for `-`. Error `kInput`: unreadable, or larger than 64 MiB.
Result<std::string> read_input(const std::string& path);
/// Writes a whole file. Error `kInput`.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace praxis::cli
