// Shows an approver what a call would change in a file, as a unified diff against the present file. It
// stands below the call (call_text.hpp), which decides what runs; it is no part of it.
//
//   # would change "/home/me/a.cpp" (+1 -1)
//   # @@ -1,2 +1,2 @@
//   #  int main() {
//   # -  return 1;
//   # +  return 2;
//
// Each line starts with `  # `, which no text of the file can leave; a longer line continues after `  # \ `.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "app/call_text.hpp"
#include "praxis/core/records.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::app {

/// Lines of a change on an overview.
inline constexpr std::size_t kChangeRows = 20;

/// Shows the changes of calls that wait. Reads the log of a session once, for the agent that makes them.
class ChangePreview {
 public:
  /// `journal` outlives the preview; null: no change is known, because the files are elsewhere.
  explicit ChangePreview(Journal* journal) : journal_(journal) {}

  /// The change as lines of any length, safe to display, without the prefix; at most 5000. Empty: the step is
  /// not the call of a built-in tool that changes files. A call that would fail now says so. Reads the file,
  /// which must be on this machine.
  std::vector<std::string> lines(const SessionId& session, const ParkedStep& step);

 private:
  Journal* const journal_;
  std::map<SessionId, AgentSpecPtr> agents_;  ///< null: the log cannot be read
};

/// Those lines, broken to `columns`, in at most `rows` lines (0: all). Empty without lines.
CallView change_view(const std::vector<std::string>& lines, std::size_t columns, std::size_t rows);

}  // namespace praxis::app
