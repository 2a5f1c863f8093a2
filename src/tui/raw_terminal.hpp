// The terminal while the chat reads single keys from it. A second process waits for the end of this one and
// sets the terminal back if this one could not, because it was killed.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::tui {

/// Reads single keys, without echo and signals, with pastes marked, until it is destroyed. Standard input and
/// output must be terminals. One object at a time.
class RawTerminal {
 public:
  /// Error `kInput`: the terminal cannot be set.
  static Result<RawTerminal> open();
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

  /// Sets the terminal as it was, for another program, and back again.
  void leave();
  void enter();

 private:
  RawTerminal(const termios& before, const termios& raw) : before_(before), raw_(raw) {}
  void start_watcher();

  termios before_, raw_;
  int watched_ = -1;  ///< end of a pipe; the watcher acts when it is closed without a word
  pid_t watcher_ = -1;
  bool is_raw_ = false;
};

}  // namespace praxis::tui
