#include "tui/step_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "app/call_text.hpp"
#include "app/change_text.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "praxis/json/json.hpp"

namespace praxis::tui {
namespace {

using Kind = CardAnswer::Kind;

std::vector<std::string> offered_choices(const ParkedStep& step) {
  std::vector<std::string> choices;
  const auto* offered = json_at(step.schema, "enum").if_array();
  if (offered == nullptr) return choices;
  for (const Json& choice : *offered) choices.push_back(to_plain_text(choice));
  return choices;
}

std::string card_heading(const ParkedStep& step, std::size_t columns) {
  const std::string who = app::one_line(app::exact(step.path), columns / 2);
  switch (step.kind) {
    case ParkKind::kQuestion:
      return who + " asks:";
    case ParkKind::kInDoubt:
      return who + " may or may not have run this before its process ended:";
    case ParkKind::kAuthorisation:
      return who + " needs access:";
    case ParkKind::kMachine:
      return who + " cannot run this on this machine until it is set up:";
    default:
      return who + " wants to run:";
  }
}

bool can_edit(const ParkedStep& step) {
  const auto verbs = allowed_approvals(step.kind);
  return std::ranges::find(verbs, ApprovalVerb::kEdit) != verbs.end();
}

void append_lines(std::vector<std::string>& lines, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string StepCard::overview(std::size_t columns) const {
  if (!is_question())
    return app::step_view(step_, columns, app::Extent::kOverview).text +
           app::change_view(changes_, columns, app::kChangeRows).text;
  std::string text = app::prefixed_lines("  | ", step_.prompt, columns, 0);
  const auto choices = offered_choices(step_);
  for (std::size_t i = 0; i < choices.size(); ++i)
    text += app::prefixed_lines(fmt::format("  {}  ", i + 1), choices[i], columns, 0);
  return text;
}

std::string StepCard::whole(std::size_t columns) const {
  if (is_question()) return overview(columns);
  return app::step_view(step_, columns, app::Extent::kWhole).text +
         app::change_view(changes_, columns, 0).text;
}

bool StepCard::unseen(std::size_t columns, std::size_t rows) const {
  if (printed_) return false;
  const std::string text = overview(columns);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return (!is_question() && app::is_long(step_, columns)) || lines > rows;
}

std::string StepCard::menu(std::size_t columns, std::size_t rows) const {
  if (phase_ == Phase::kRule) return "Save this rule?  [y]es  [t]his chat only  [e]dit it first  [n]o";
  const bool in_doubt = step_.kind == ParkKind::kInDoubt;
  const bool hidden = unseen(columns, rows);
  std::string text = hidden ? "[s]how all of it" : in_doubt ? "[y]es, run it again" : "[y]es once";
  if (always_ && !hidden) text += "  [a]lways";
  text += in_doubt ? "  [n]o, leave it" : "  [n]o";
  if (can_edit(step_)) text += "  [e]dit";
  if (in_doubt) text += "  [t]ell its result";
  const bool is_cut = app::change_view(changes_, columns, app::kChangeRows).cut;
  if (is_cut && !hidden) text += "  [s]how all of the change";
  return text + "  [l]ater";
}

std::vector<std::string> StepCard::lines(std::size_t columns, std::size_t rows, bool focused,
                                         const Styles& styles) const {
  std::vector<std::string> lines;
  append_lines(lines, app::prefixed_lines("", card_heading(step_, columns), columns, 0));
  for (std::string& line : lines) line = styles.warning(line);
  const std::string text = overview(columns);
  if (std::cmp_greater(std::ranges::count(text, '\n'), rows)) {
    lines.emplace_back(printed_ ? "  (shown above)" : "  (longer than the screen)");
  } else {
    append_lines(lines, text);
  }
  std::string last = !focused ? "Tab decides" : takes_text() ? label() : menu(columns, rows);
  append_lines(lines, app::prefixed_lines("", last, columns, 0));
  if (focused) lines.back() = styles.bold(lines.back());
  return lines;
}

std::string StepCard::summary(std::size_t columns) const {
  const std::string what = is_question() ? step_.prompt : step_.tool + ' ' + step_.arguments;
  return app::one_line(app::exact(step_.path) + (is_question() ? " asks: " : ": ") + app::exact(what),
                       columns);
}

Result<std::string> StepCard::change_rule(std::string_view text, std::size_t columns) {
  auto rule = app::edited_rule(*narrow_, text);
  if (!rule) return fail(rule.error());
  always_ = *std::move(rule);
  return app::rule_text(*always_, columns);
}

bool StepCard::takes_text() const {
  return is_question() || phase_ == Phase::kReason || phase_ == Phase::kResult;
}

std::string StepCard::label() const {
  if (is_question()) return "answer with Enter, empty to decline; Esc leaves it for later";
  return phase_ == Phase::kResult ? "its result; Esc goes back"
                                  : "reason for the model, may be empty; Esc goes back";
}

bool StepCard::back() { return std::exchange(phase_, Phase::kMenu) != Phase::kMenu; }

CardAnswer StepCard::choose(char letter, const std::string& rest, std::size_t columns, std::size_t rows) {
  if (phase_ == Phase::kRule) {
    if (letter == 'e') return {Kind::kEditRule};
    phase_ = Phase::kMenu;
    if (letter == 't') return {Kind::kUseRule};
    return {letter == 'y' ? Kind::kSaveRule : Kind::kNothing};
  }
  const bool hidden = unseen(columns, rows);
  switch (letter) {
    case 'y':
      if (hidden) return {Kind::kHint, {}, "not all of the call was shown: s shows it"};
      return {Kind::kDecide, approve()};
    case 'a':
      if (hidden || !always_) break;
      phase_ = Phase::kRule;
      return {Kind::kPrint, {}, app::rule_text(*always_, columns)};
    case 'n':
      if (!rest.empty()) return {Kind::kDecide, reject(rest)};
      phase_ = Phase::kReason;
      return {};
    case 's':
      printed_ = true;
      return {Kind::kPrint, {}, whole(columns)};
    case 'e':
      if (can_edit(step_)) return {Kind::kEdit};
      break;
    case 't':
      if (step_.kind != ParkKind::kInDoubt) break;
      if (!rest.empty()) return {Kind::kDecide, answer(rest)};
      phase_ = Phase::kResult;
      return {};
    case 'l':
      return {Kind::kLater};
    default:
      break;
  }
  return {Kind::kHint, {}, "type one of the letters in brackets"};
}

CardAnswer StepCard::typed(const std::string& text) {
  if (phase_ == Phase::kReason) return {Kind::kDecide, reject(text)};
  if (phase_ == Phase::kResult) return {Kind::kDecide, answer(text)};
  if (text.empty()) return {Kind::kDecide, reject({})};
  const auto choices = offered_choices(step_);
  if (choices.empty() || std::ranges::find(choices, text) != choices.end())
    return {Kind::kDecide, answer(text)};
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && number >= 1 && number <= choices.size())
    return {Kind::kDecide, answer(choices[number - 1])};
  return {Kind::kHint, {}, "that is not one of the choices"};
}

}  // namespace praxis::tui
