// The streams of the command line: answers on standard output, everything said about them on standard error.
#pragma once

#include <string>
#include <string_view>

#include "cli/exit_status.hpp"
#include "cli/terminal.hpp"
#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::cli {

/// Unbuffered output. A reader that went away (`praxis run | head`) is no error: the rest is dropped, because
/// to stop watching is not to cancel. Any other failure is kept for the end.
class Stream {
 public:
  explicit Stream(int fd) : fd_(fd) {}
  void write(std::string_view bytes);
  void line(std::string_view text) { write(std::string(text) + '\n'); }
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

  void json(const Json& value) { out.line(to_json_text(value)); }
  /// `praxis: error: ...` and the hint, if the error brings one; returns its exit status.
  ExitStatus report(const Error& error, int signal = 0);
};

/// An error in what the person typed or set, with what to try instead.
Error usage_error(std::string message, std::string hint = {});
/// The error with a hint added to its detail.
Error with_hint(Error error, std::string_view hint);

/// Reads a whole file, or standard input for `-`. Error `kInput`, also when it is larger than 64 MiB.
Result<std::string> read_input(const std::string& path);
/// Writes a whole file. Error `kInput`.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace praxis::cli
