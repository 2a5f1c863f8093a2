// Passes what happens in a run from its threads to the thread that draws.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/doctor.hpp"
#include "base/file_descriptor.hpp"
#include "praxis/core/event.hpp"
#include "praxis/core/report.hpp"

namespace praxis::tui {

/// The command of a prompt, and the text that it stands for.
struct FilledPrompt {
  std::string command;
  Result<std::string> text;
  bool queues = false;  ///< the message becomes a turn of its own
};

/// The chat's run has got its id.
struct RunBegan {
  SessionId id;
};

/// What was sent and has not reached the run.
struct Undelivered {
  std::optional<Error> error;  ///< nothing: there was nothing to do any more
  std::string text;            ///< of the message; empty: it was another command
};

/// What an examination of the place has found.
struct Examined {
  Result<std::vector<app::Finding>> findings;
};

/// Thread-safe.
class EventFeed {
 public:
  /// An event, the report of a turn that has ended, could not run, or waits for an approver, a prompt that
  /// was filled in, what became of a message, or what was examined.
  using Item = std::variant<Event, Result<AgentResult>, FilledPrompt, RunBegan, Undelivered, Examined>;

  EventFeed();
  void add(const Event& event);
  /// Any other item.
  void add_item(Item item);
  void add(Result<AgentResult> report) { add_item(std::move(report)); }
  /// Makes `fd` readable without an item.
  void wake();
  /// All items since the last call. Pieces of one text are joined, so their number is bounded by what else
  /// happens.
  std::vector<Item> take();
  /// Readable when there is an item; `take` resets it.
  int fd() const { return signal_.get(); }

 private:
  bool joined(const Event& event);

  FileDescriptor signal_;
  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace praxis::tui
