// What the status line of a chat is made from.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "praxis/json/json.hpp"
#include "tui/chat_run.hpp"

namespace praxis::tui {

/// A turn in progress.
struct StatusTurn {
  std::string doing;  ///< in one or two words
  std::chrono::seconds elapsed{0};
  bool operator==(const StatusTurn&) const = default;
};

struct StatusFacts {
  SessionId run;  ///< empty: the first message makes it
  std::string model;
  std::string trouble;  ///< why nothing is heard of the run; empty: it is
  RunFigures figures;
  std::optional<StatusTurn> turn;
  std::size_t agents_at_work = 0;
  std::size_t decisions = 0;  ///< steps that wait for the user
  std::size_t steering = 0;   ///< messages for the next step
  std::size_t queued = 0;     ///< messages whose turns have not begun
  std::size_t columns = 0;    ///< of the line
  bool operator==(const StatusFacts&) const = default;
};

/// Where a chat is.
struct StatusPlace {
  std::string folder;
  std::string project;  ///< the root of the repository; the folder itself outside of one
  std::string branch;   ///< or the beginning of the commit; empty: unknown
};
/// Reads small files of the repository, without Git.
StatusPlace status_place(const std::string& folder);

/// The object that a program gets (docs/chat.md). `open_for`: how long the chat has been open.
JsonObject status_json(const StatusFacts& facts, const StatusPlace& place, Millis open_for);

}  // namespace praxis::tui
