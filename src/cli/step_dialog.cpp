#include "cli/step_dialog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "app/call_text.hpp"
#include "app/change_text.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "app/pretty_json.hpp"
#include "cli/editor.hpp"
#include "cli/pages.hpp"
#include "cli/rule_question.hpp"
#include "praxis/json/json.hpp"

namespace praxis::cli {
namespace {

/// The choices of a question; empty: any answer is valid.
std::vector<std::string> choices_of(const ParkedStep& step) {
  std::vector<std::string> choices;
  const auto* offered = json_at(step.schema, "enum").if_array();
  if (offered == nullptr) return choices;
  for (const Json& choice : *offered) choices.push_back(to_plain_text(choice));
  return choices;
}

/// The selected choice, given by its text or its number; `std::nullopt` if it is neither.
std::optional<std::string> chosen(const std::vector<std::string>& choices, const std::string& typed) {
  if (choices.empty() || std::ranges::find(choices, typed) != choices.end()) return typed;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
  const bool is_number = error == std::errc{} && end == typed.data() + typed.size();
  if (is_number && number >= 1 && number <= choices.size()) return choices[number - 1];
  return std::nullopt;
}

std::string question_text(const ParkedStep& step, const std::vector<std::string>& choices) {
  const std::size_t columns = terminal_size(STDERR_FILENO).columns;
  std::string text = fmt::format("{} asks:\n", app::one_line(app::exact(step.path), columns / 2));
  text += app::prefixed_lines("  | ", step.prompt, columns, 0);
  for (std::size_t i = 0; i < choices.size(); ++i)
    text += app::prefixed_lines(fmt::format("  {}  ", i + 1), choices[i], columns, 0);
  return text;
}

std::string approval_heading(const ParkedStep& step) {
  const std::size_t columns = terminal_size(STDERR_FILENO).columns;
  const std::string who = app::one_line(app::exact(step.path), columns / 2);
  switch (step.kind) {
    case ParkKind::kInDoubt:
      return fmt::format("{} may or may not have run this before its process ended:\n", who);
    case ParkKind::kAuthorisation:
      return fmt::format("{} needs access:\n", who);
    case ParkKind::kMachine:
      return fmt::format("{} cannot run this on this machine as it is:\n", who);
    default:
      return fmt::format("{} wants to run:\n", who);
  }
}

bool is_editable(const ParkedStep& step) {
  const auto verbs = allowed_approvals(step.kind);
  return std::ranges::find(verbs, ApprovalVerb::kEdit) != verbs.end();
}

/// What the user may type about this kind of step.
struct Menu {
  bool always = false;  ///< a rule can be saved
  bool unseen = false;  ///< a part of the call was not shown
  bool more = false;    ///< a part of the change of a file was not shown
};

std::string menu_text(const ParkedStep& step, const Menu& menu) {
  const bool in_doubt = step.kind == ParkKind::kInDoubt;
  std::string text = menu.unseen ? "[s]how all of it" : in_doubt ? "[y]es, run it again" : "[y]es once";
  if (menu.always && !menu.unseen) text += "  [a]lways";
  text += in_doubt ? "  [n]o, leave it" : "  [n]o";
  if (is_editable(step)) text += "  [e]dit";
  if (in_doubt) text += "  [t]ell its result";
  if (menu.more && !menu.unseen) text += "  [s]how all of the change";
  return text + "  [l]ater: ";
}

/// A letter of the menu, and what follows it: `n not today`.
struct Choice {
  char letter = 0;
  std::string rest;
};

/// Splits a typed line; the letter is 0 if the line does not start with a single letter or a word of the
/// menu.
Choice choice_of(const std::string& line) {
  const auto space = std::min(line.find_first_of(" ,"), line.size());
  std::string word = line.substr(0, space);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto rest = line.find_first_not_of(" ,", space);
  for (const char* known : {"yes", "always", "no", "edit", "later", "show", "tell"}) {
    if (word == known || (word.size() == 1 && word[0] == known[0]))
      return {known[0], rest == std::string::npos ? "" : line.substr(rest)};
  }
  return {};
}

}  // namespace

bool StepDialog::can_ask(const Console& console) { return console.terminal.err && isatty(STDIN_FILENO) == 1; }

std::optional<Approval> StepDialog::ask(const ParkedStep& step, const std::stop_token& stop) {
  if (step.kind == ParkKind::kQuestion) return ask_question(step, stop);
  return ask_approval(step, stop);
}

std::optional<Approval> StepDialog::ask_question(const ParkedStep& step, const std::stop_token& stop) {
  const auto choices = choices_of(step);
  for (;;) {
    console_.err.write(question_text(step, choices));
    const auto line = typed("answer (empty to decline, Ctrl-D to leave it for later): ", stop);
    if (!line) return std::nullopt;
    if (line->empty()) return reject({});
    if (auto answer = chosen(choices, *line)) return praxis::answer(*std::move(answer));
    console_.err.line("that is not one of the choices");
  }
}

std::optional<Approval> StepDialog::ask_approval(const ParkedStep& step, const std::stop_token& stop) {
  const std::size_t columns = terminal_size(STDERR_FILENO).columns;
  const auto always = rule_for(step);
  if (always && app::is_allowed(saved_, *always)) return approve();
  const auto changes = changes_of(step);
  const app::CallView change = app::change_view(changes, columns, app::kChangeRows);
  Menu menu{always.has_value(), app::is_long(step, columns), change.cut};
  console_.err.write(approval_heading(step) + app::step_view(step, columns, app::Extent::kOverview).text +
                     change.text);
  for (;;) {
    const auto line = typed(menu_text(step, menu), stop);
    if (!line) return std::nullopt;
    const Choice choice = choice_of(*line);
    const bool may_allow = !menu.unseen;
    if (choice.letter == 'l') return std::nullopt;
    if (choice.letter == 'y' && may_allow) return approve();
    if (choice.letter == 'n') return rejected(choice.rest, stop);
    if (choice.letter == 'a' && may_allow && always) {
      if (allowed_always(*always, stop)) return approve();
    } else if (choice.letter == 's') {
      const bool all = show_pages(app::step_view(step, columns, app::Extent::kWhole).text +
                                      app::change_view(changes, columns, 0).text,
                                  console_);
      menu.unseen = menu.unseen && !all;
      menu.more = menu.more && !all;
    } else if (choice.letter == 'e' && is_editable(step)) {
      if (auto approval = edited(step)) return approval;
    } else if (choice.letter == 't' && step.kind == ParkKind::kInDoubt) {
      const auto result = choice.rest.empty() ? typed("its result: ", stop) : std::optional(choice.rest);
      return result ? std::optional(praxis::answer(*result)) : std::nullopt;
    } else {
      console_.err.line(menu.unseen && (choice.letter == 'y' || choice.letter == 'a')
                            ? "the call is longer than what was shown: type s first"
                            : "type one of the letters in brackets");
    }
  }
}

/// The rule that would allow the call from now on; nothing if none can be saved.
std::optional<app::AlwaysRule> StepDialog::rule_for(const ParkedStep& step) const {
  if (journal_ == nullptr) return std::nullopt;
  auto rule = app::always_rule_for(*journal_, step.session, step);
  return rule ? std::optional(*std::move(rule)) : std::nullopt;
}

/// What the call would change in a file of this machine.
std::vector<std::string> StepDialog::changes_of(const ParkedStep& step) const {
  return app::ChangePreview(journal_).lines(step.session, step);
}

/// Asks for the reason unless it was typed with the decision.
std::optional<Approval> StepDialog::rejected(std::string reason, const std::stop_token& stop) {
  if (!reason.empty()) return reject(std::move(reason));
  const auto line = typed("reason, for the model (may be empty): ", stop);
  if (!line) return std::nullopt;
  return reject(*line);
}

/// `std::nullopt`: the user changed nothing, or there is a mistake, which is reported.
std::optional<Approval> StepDialog::edited(const ParkedStep& step) {
  const auto before = parse_json(step.arguments);
  const std::string shown = before ? app::pretty_json(*before) : step.arguments;
  const auto after = edit_text(shown, ".json");
  const auto arguments = after ? parse_json(*after) : Result<Json>(fail(after.error()));
  if (!arguments) {
    console_.report(arguments.error());
    return std::nullopt;
  }
  if (before && *before == *arguments) {
    console_.err.line("nothing was changed");
    return std::nullopt;
  }
  return edit(to_json_text(*arguments));
}

/// False if the user did not confirm, or the rule could not be saved, which is reported.
bool StepDialog::allowed_always(const app::AlwaysRule& always, const std::stop_token& stop) {
  auto rule = agreed_rule(always, console_, [&](std::string_view prompt) { return typed(prompt, stop); });
  if (!rule) return false;
  if (auto saved = app::save_rule(*rule); !saved) {
    console_.report(saved.error());
    return false;
  }
  saved_.push_back(*std::move(rule));
  return true;
}

/// Reads a line after a prompt; ends the line on the screen if the input has ended.
std::optional<std::string> StepDialog::typed(std::string_view prompt, const std::stop_token& stop) {
  console_.err.write(prompt);
  auto line = input_.read(stop);
  if (!line) console_.err.write("\n");
  return line;
}

}  // namespace praxis::cli
