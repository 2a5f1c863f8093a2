#include "cli/home_question.hpp"

#include <memory>

#include "app/hints.hpp"
#include "app/plain_text.hpp"

namespace praxis::cli {

app::HomeAcceptance home_acceptance(bool allowed, Console& console) {
  return [accepted = std::make_shared<bool>(allowed), &console](const std::string& folder) -> Status {
    if (*accepted) return {};
    const std::string shown = app::exact(app::in_quotes(folder));
    if (can_confirm()) {
      console.err.line("The tools of this agent would reach the folder " + shown +
                       ", which is your home folder or holds it, with keys, start files and the settings of "
                       "your programs.");
      *accepted = cli::confirmed("Let them reach it?", console);
    }
    if (*accepted) return {};
    return fail(app::usage_error(
        "the tools of the agent would reach the folder " + shown + ", which is your home folder or holds it",
        "work in a folder below it (-C DIR), or accept that with --allow-home"));
  };
}

}  // namespace praxis::cli
