#include "cli/rule_question.hpp"

#include <unistd.h>

#include <utility>

#include "cli/editor.hpp"

namespace praxis::cli {

std::optional<app::AlwaysRule> agreed_rule(
    const app::AlwaysRule& narrow, Console& console,
    const std::function<std::optional<std::string>(std::string_view prompt)>& ask) {
  app::AlwaysRule rule = narrow;
  for (;;) {
    console.err.write(app::rule_text(rule, terminal_size(STDERR_FILENO).columns));
    const auto line = ask("Save this rule? [y]es  [e]dit it first  [N]o: ");
    const char letter = line && !line->empty() ? line->front() : 'n';
    if (letter == 'y' || letter == 'Y') return rule;
    if (letter != 'e' && letter != 'E') return std::nullopt;
    const auto text = edit_text(app::rule_to_edit(rule), ".json");
    auto edited = text ? app::edited_rule(narrow, *text) : Result<app::AlwaysRule>(fail(text.error()));
    if (edited) {
      rule = *std::move(edited);
    } else {
      console.report(edited.error());
    }
  }
}

}  // namespace praxis::cli
