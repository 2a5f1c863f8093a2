// Passes what happens in a run from its threads to the thread that draws.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

/// Thread-safe.
class EventFeed {
 public:
  /// An event, the report of a turn that has ended, could not run, or waits for an approver, or a prompt that
  /// was filled in.
  using Item = std::variant<Event, Result<AgentResult>, FilledPrompt>;

  EventFeed();
  void add(const Event& event);
  void add(Result<AgentResult> report);
  void add(FilledPrompt prompt);
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
