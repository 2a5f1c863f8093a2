#include "tui/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "app/slash_prompt.hpp"
#include "app/user_message.hpp"
#include "app/values.hpp"
#include "driver/nothing_to_resume.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostWithOutputs = 100;      ///< messages whose outputs are kept
constexpr std::ptrdiff_t kMostHistoryLines = 500;  ///< of a run that is opened again

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// The last lines of a text.
std::string_view last_lines(std::string_view text, std::ptrdiff_t most) {
  std::size_t begin = text.size();
  for (std::ptrdiff_t lines = 0; begin > 0; --begin) {
    if (text[begin - 1] == '\n' && ++lines > most) break;
  }
  return text.substr(begin);
}

/// The step's id as `Session::decide` of the root takes it.
ParkId whole_id(const ParkId& id, const SessionId& session) {
  return id.str().find('/') == std::string::npos ? qualified_id(session, id) : id;
}

}  // namespace

Conversation::Conversation(const ChatSetup& setup, std::unique_ptr<ChatRun> run)
    : setup_(setup),
      run_(std::move(run)),
      styles_{setup.theme.theme},
      shell_(setup.executor, setup.hide, waker()) {
  follow();
}

/// Follows the run that is open now.
void Conversation::follow() {
  id_ = run_->id();
  view_ = std::make_unique<ChatView>(id_, styles_, setup_.render);
  followed_.reset();
  cards_.clear();
  turns_.clear();
  asked_back_.clear();
  taken_back_.clear();
  outputs_of_.clear();
  sent_ = recorded_ = team_answers_ = examining_ = false;
  prompts_.reset();
  feed_->take();
  run_->follow(feed_);
}

void Conversation::set_theme(Theme theme) {
  styles_.theme = theme;
  view_->set_theme(theme);
}

std::function<void()> Conversation::waker() const {
  return [feed = feed_] { feed->wake(); };
}

std::string Conversation::failure(const Error& error) const {
  std::string text = styles_.error("error: " + app::one_line(error.message, 2000)) + '\n';
  const std::string hint = json_string(error.detail(), "hint");
  if (!hint.empty()) text += styles_.dim("hint: " + app::one_line(hint, 2000)) + '\n';
  return text;
}

bool Conversation::is_recorded() const { return !id_.empty() && (recorded_ || run_->is_recorded()); }

std::string Conversation::begin(std::size_t columns) {
  model_ = run_->model();
  if (!is_recorded()) return "";
  recorded_ = true;
  std::string text;
  const auto is_left = run_->show_past([&](const Event& event) {
    // What no step has read came back then: the user has sent it again, or continued without it.
    if (event.agent.id == id_ && std::holds_alternative<events::TurnStarted>(event.body))
      view_->take_unread();
    text += view_->show(event, columns);
    note_turn(event);
  });
  if (!is_left) return failure(is_left.error());
  figures_ = run_->figures();
  const std::string_view shown = last_lines(text, kMostHistoryLines);
  std::string out;
  if (const std::size_t hidden = count_lines(text) - count_lines(shown); hidden > 0)
    out = styles_.dim(fmt::format("({} earlier lines{})", hidden,
                                  is_at_server() ? "" : ": praxis show " + id_.str())) +
          '\n';
  out += shown;
  if (*is_left) resume();
  return out;
}

void Conversation::resume() {
  sent_ = resumed_ = true;
  team_answers_ = run_->is_answered_by_team();
  run_->resume();
}

void Conversation::send(Message message) {
  sent_ = true;
  resumed_ = false;
  team_answers_ = run_->is_answered_by_team();
  run_->send(std::move(message));
}

/// Remembers the last turn, to before which turns the conversation can go back, and the outputs of messages
/// that wait.
void Conversation::note_turn(const Event& event) {
  if (event.agent.id != id_) return;
  if (std::holds_alternative<events::TurnStarted>(event.body)) last_turn_ = event.turn;
  const auto* command = std::get_if<events::SessionIntervened>(&event.body);
  if (command != nullptr && command->intervention.verb == CommandVerb::kRewind)
    turns_.erase(std::ranges::find(turns_, command->intervention.text,
                                   [](const Turn& each) { return each.choice.value; }),
                 turns_.end());
  if (command != nullptr && (command->intervention.verb == CommandVerb::kSteer ||
                             command->intervention.verb == CommandVerb::kEnqueue)) {
    if (auto outputs = app::readable_message(command->intervention.text).commands; !outputs.empty())
      outputs_of_[event.seq] = std::move(outputs);
    if (outputs_of_.size() > kMostWithOutputs) outputs_of_.erase(outputs_of_.begin());
  }
  const auto* said = std::get_if<events::MessageAdded>(&event.body);
  const bool is_first = turns_.empty() || turns_.back().choice.value != event.turn.str();
  if (said == nullptr || said->message == nullptr || event.turn.empty() || !is_first) return;
  app::ReadableMessage message = app::readable_message(said->message->text());
  turns_.push_back(
      {{event.turn.str(), std::move(message.text), event.turn.str()}, std::move(message.commands)});
}

std::string Conversation::take_events(std::size_t columns) {
  std::string text = take_shell_command();
  for (EventFeed::Item& item : feed_->take()) {
    if (const auto* event = std::get_if<Event>(&item)) {
      text += view_->show(*event, columns);
      if (followed_) followed_->show(*event);
      take_event(*event);
      continue;
    }
    if (auto* prompt = std::get_if<FilledPrompt>(&item)) {
      text += take_prompt(std::move(*prompt));
      continue;
    }
    if (const auto* began = std::get_if<RunBegan>(&item)) {
      id_ = began->id;
      view_ = std::make_unique<ChatView>(id_, styles_, setup_.render);
      continue;
    }
    if (const auto* examined = std::get_if<Examined>(&item)) {
      text += take_examined(*examined);
      continue;
    }
    if (auto* undelivered = std::get_if<Undelivered>(&item)) {
      text += take_undelivered(std::move(*undelivered));
      continue;
    }
    const auto& report = std::get<Result<AgentResult>>(item);
    sent_ = team_answers_ = false;
    // The message of the turn may have been taken back at the same moment.
    const bool is_gone = !report && std::exchange(resumed_, false) && has_nothing_to_resume(report.error());
    if (!report) {
      if (!is_gone) text += failure(report.error());
    } else if (report->session == id_) {
      take_report(*report);
    }
  }
  return text;
}

/// A turn has ended, or waits for the user.
void Conversation::take_report(const AgentResult& report) {
  for (const ParkedStep& step : report.pending) add_card(step, id_);
  // The turn of a team may have continued, and ended, while its report was on the way here.
  if (!report.pending.empty() && run_->goes_on()) resume();
  if (report.success && run_->queued() > 0 && run_->is_answered_by_team()) resume();
}

/// The message comes back into the composer.
std::string Conversation::take_undelivered(Undelivered undelivered) {
  sent_ = false;
  if (!undelivered.text.empty()) {
    app::ReadableMessage message = app::readable_message(undelivered.text);
    shell_outputs_.put_back(message.commands);
    unread_.push_back(std::move(message.text));
  }
  return undelivered.error ? failure(*undelivered.error) : "";
}

void Conversation::take_event(const Event& event) {
  const bool is_root = event.agent.id == id_;
  if (const auto* parked = std::get_if<events::StepParked>(&event.body)) {
    add_card(parked->step, event.agent.id);
  } else if (const auto* decided = std::get_if<events::StepDecided>(&event.body)) {
    const ParkId id = whole_id(decided->decision.park, event.agent.id);
    take_away(id);
  }
  if (is_delta(event.body)) return;
  figures_ = run_->figures();
  note_turn(event);
  if (const auto* started = std::get_if<events::TurnStarted>(&event.body); started != nullptr && is_root) {
    if (!team_answers_) sent_ = false;  // the members of a team answer one after the other
    recorded_ = true;
    if (started->config) model_ = started->config->model;
  }
  // A message for the next step of a turn that had just ended: it gets a turn of its own.
  const auto* command = std::get_if<events::SessionIntervened>(&event.body);
  if (is_root && command != nullptr && command->intervention.verb == CommandVerb::kSteer && !works()) {
    sent_ = true;
    run_->run_late();
  }
  if (is_root && command != nullptr && command->intervention.verb == CommandVerb::kWithdraw)
    note_withdrawn(command->intervention);
  if (is_root && ends_turn(event.body)) end_turn(event);
}

void Conversation::end_turn(const Event& event) {
  cards_.clear();
  // After a stop or an error the user decides whether the queue continues.
  if (!std::holds_alternative<events::TurnCompleted>(event.body) || team_answers_) return;
  if (run_->queued() > 0 || run_->goes_on()) resume();
}

void Conversation::take_away(const ParkId& step) {
  decided_.push_back(step);
  std::erase_if(cards_, [&](const StepCard& card) { return card.step().id == step; });
}

void Conversation::add_card(ParkedStep step, const SessionId& session) {
  step.id = whole_id(step.id, step.session.empty() ? session : step.session);
  const auto known = std::ranges::find(cards_, step.id, [](const StepCard& card) { return card.step().id; });
  const bool is_decided = std::ranges::find(decided_, step.id) != decided_.end();
  if (known != cards_.end() || is_decided) return;
  const SessionId asking = step.session.empty() ? session : step.session;
  StepFacts facts = run_->facts_of(asking, step);
  // An agent in progress reads rules that are saved now with its next run only.
  if (facts.always && app::is_allowed(saved_, *facts.always)) {
    [[maybe_unused]] const Status decided = run_->decide(step.id, approve());
    return;
  }
  cards_.emplace_back(std::move(step), std::move(facts.always), std::move(facts.changes));
}

std::string Conversation::submit(const std::string& text, Delivery delivery, std::size_t columns) {
  if (app::names_prompt(text, run_->prompt_sources())) return fill_prompt(text, delivery);
  if (text.starts_with('/')) return command(text, columns);
  if (text.empty()) {
    if (!is_busy() && run_->queued() > 0) resume();
    return "";
  }
  auto message = app::message_with_files(text);
  const bool waits = works();
  if (message && waits && std::holds_alternative<ImagePart>(message->parts.front()))
    message = fail(ErrorCode::kInput, "an image can be sent when the agent has finished");
  if (!message) {
    unread_.push_back(text);
    return failure(message.error());
  }
  return deliver(*std::move(message), delivery);
}

std::string Conversation::deliver(Message message, Delivery delivery) {
  attach_outputs(message);
  if (!works()) {
    send(std::move(message));
  } else {
    delivery == Delivery::kQueue ? run_->enqueue(message.text()) : run_->steer(message.text());
  }
  return "";
}

Interrupted Conversation::interrupt() {
  // Only the first request is for the command: one that cannot be ended must not keep the agent going.
  if (shell_.stop()) return Interrupted::kShellCommand;
  examining_ = false;
  if (filling_) filling_->request_stop();
  if (works()) run_->interrupt();
  return Interrupted::kAgent;
}

std::string Conversation::settle(std::size_t columns) {
  std::string text = take_events(columns);
  if (filling_) filling_->request_stop();
  shell_.stop();
  run_->leave();
  return text + take_events(columns);
}

std::string Conversation::decide(const StepCard& card, const Approval& approval) {
  const ParkId id = card.step().id;
  if (const Status decided = run_->decide(id, approval); !decided) return failure(decided.error());
  // Not only when its event arrives: until then a chat whose input has ended would take it for open, and
  // leave.
  take_away(id);
  return "";
}

std::string Conversation::decide_always(const StepCard& card, RuleLife life) {
  if (!card.always()) return "";
  const app::AlwaysRule rule = *card.always();
  if (life == RuleLife::kChat) {
    saved_.push_back(rule);
    return decide(card, approve());
  }
  const ParkId id = card.step().id;
  if (const Status decided = run_->decide_by_rule(id, rule); !decided) return failure(decided.error());
  saved_.push_back(rule);
  take_away(id);
  return "";
}

StatusFacts Conversation::status_facts(std::size_t columns) const {
  StatusFacts facts{.run = id_,
                    .model = model_,
                    .trouble = run_->trouble(),
                    .figures = figures_,
                    .turn = {},
                    .agents_at_work = view_->agents_at_work(),
                    .decisions = cards_.size(),
                    .steering = view_->steering().size(),
                    .queued = view_->queued().size(),
                    .columns = columns};
  if (const auto since = view_->busy_since())
    facts.turn = StatusTurn{view_->doing(), std::chrono::floor<std::chrono::seconds>(now() - *since)};
  return facts;
}

}  // namespace praxis::tui
