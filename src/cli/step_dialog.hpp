// Asks the user at the terminal about a parked step: allow it once, allow it always, reject it with a reason,
// edit its arguments, answer it, or leave it for later.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/always_rules.hpp"
#include "cli/console.hpp"
#include "cli/line_input.hpp"
#include "praxis/core/records.hpp"

namespace praxis::cli {

/// One thread at a time.
class StepDialog {
 public:
  /// Whether a user is present: standard input and standard error are terminals.
  static bool can_ask(const Console& console);

  /// Both must outlive the dialog. Without a journal, which a run of a server is, no rules are offered and no
  /// changes of files are shown.
  StepDialog(Console& console, Journal* journal) : console_(console), journal_(journal) {}

  /// Shows the step and asks until the user decides. `std::nullopt`: the user leaves it for later, or a stop
  /// was requested. A call that the user has always allowed in this dialog is allowed without a question.
  std::optional<Approval> ask(const ParkedStep& step, const std::stop_token& stop);

 private:
  std::optional<Approval> ask_question(const ParkedStep& step, const std::stop_token& stop);
  std::optional<Approval> ask_approval(const ParkedStep& step, const std::stop_token& stop);
  std::optional<app::AlwaysRule> rule_for(const ParkedStep& step) const;
  std::vector<std::string> changes_of(const ParkedStep& step) const;
  std::optional<Approval> rejected(std::string reason, const std::stop_token& stop);
  std::optional<Approval> edited(const ParkedStep& step);
  bool allowed_always(const app::AlwaysRule& always, const std::stop_token& stop);
  std::optional<std::string> typed(std::string_view prompt, const std::stop_token& stop);

  Console& console_;
  Journal* const journal_;
  LineInput input_;
  std::vector<app::AlwaysRule> saved_;  ///< in this dialog
};

}  // namespace praxis::cli
