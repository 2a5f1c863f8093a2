#include "tui/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/change_text.hpp"
#include "app/plain_text.hpp"
#include "app/slash_prompt.hpp"
#include "app/team_run.hpp"
#include "app/user_message.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"
#include "core/project.hpp"
#include "logs/read_state.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"
#include "tui/tree_text.hpp"

namespace praxis::tui {
namespace {

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

Conversation::Conversation(const ChatSetup& setup, ChatRun run)
    : setup_(setup), run_(std::move(run)), styles_{setup.theme.theme} {
  follow();
}

Session Conversation::session() const {
  if (!run_.team) return run_.session;
  return run_.team->begin().value_or(run_.session);
}

/// Follows the session that is open now.
void Conversation::follow() {
  id_ = run_.session.session_id();
  view_ = std::make_unique<ChatView>(id_, styles_, setup_.render);
  cards_.clear();
  sent_ = recorded_ = false;
  prompts_.reset();
  feed_->take();
  const auto add = [feed = feed_](const Event& event) { feed->add(event); };
  subscription_ = run_.team ? run_.team->on("*", add) : run_.session.on("*", add);
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

bool Conversation::is_recorded() const {
  return recorded_ || setup_.runtime->journal().session(id_).has_value();
}

std::string Conversation::begin(std::size_t columns) {
  model_ = session().last_result().model;
  if (!is_recorded()) return "";
  recorded_ = true;
  const auto records = read_records(setup_.runtime->journal(), id_);
  if (!records) return failure(records.error());
  std::string text;
  State state;
  for (const StoredRecord& record : *records) {
    if (auto applied = apply_to(state, record.record); !applied) return failure(applied.error());
    for (const Event& event : project(record.record, state)) text += view_->show(event, columns);
    if (state.turn) last_turn_ = state.turn->id;
  }
  usage_ = session().token_usage();
  context_percent_ = session().context_usage_percent();
  const std::string_view shown = last_lines(text, kMostHistoryLines);
  std::string out;
  if (const std::size_t hidden = count_lines(text) - count_lines(shown); hidden > 0)
    out = styles_.dim(fmt::format("({} earlier lines: praxis show {})", hidden, id_.str())) + '\n';
  out += shown;
  if (state.turn || !state.queue.empty() || app::team_goes_on(state)) resume();
  return out;
}

void Conversation::resume() {
  sent_ = true;
  if (run_.team) return work(run_.team->stream_resume({}, setup_.author));
  run_.session.resume([feed = feed_](Result<AgentResult> report) { feed->add(std::move(report)); });
}

void Conversation::send(Message message) {
  sent_ = true;
  if (run_.team) return work(run_.team->stream(std::move(message)));
  run_.session.send(std::move(message), nullptr,
                    [feed = feed_](Result<AgentResult> report) { feed->add(std::move(report)); });
}

/// Waits for all members that answer. Their events come by the subscription.
void Conversation::work(Run run) {
  working_ = run;
  setup_.runtime->model_services().executor->post_blocking([run, feed = feed_]() mutable {
    for ([[maybe_unused]] const Event& event : run) continue;
    feed->add(run.report());
  });
}

/// Whether other members of the team are still to answer.
bool Conversation::goes_on() const {
  const auto state = read_state(setup_.runtime->journal(), id_);
  return run_.team && state && app::team_goes_on(*state);
}

std::string Conversation::take_events(std::size_t columns) {
  std::string text;
  for (EventFeed::Item& item : feed_->take()) {
    if (const auto* event = std::get_if<Event>(&item)) {
      text += view_->show(*event, columns);
      take_event(*event);
      continue;
    }
    if (auto* prompt = std::get_if<FilledPrompt>(&item)) {
      text += take_prompt(std::move(*prompt));
      continue;
    }
    const auto& report = std::get<Result<AgentResult>>(item);
    sent_ = false;
    working_.reset();
    if (!report) {
      text += failure(report.error());
    } else if (report->session == id_) {
      for (const ParkedStep& step : report->pending) add_card(step, id_);
      // The turn of a team may have continued, and ended, while its report was on the way here.
      if (!report->pending.empty() && goes_on()) resume();
      if (report->success && session().queued() > 0 && run_.team) resume();
    }
  }
  return text;
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
  usage_ = session().token_usage();
  context_percent_ = session().context_usage_percent();
  if (const auto* started = std::get_if<events::TurnStarted>(&event.body); started != nullptr && is_root) {
    if (!working_) sent_ = false;  // the members of a team answer one after the other
    recorded_ = true;
    last_turn_ = event.turn;
    if (started->config) model_ = started->config->model;
  }
  // A message for the next step of a turn that had just ended: it gets a turn of its own.
  const auto* command = std::get_if<events::SessionIntervened>(&event.body);
  if (is_root && command != nullptr && command->intervention.verb == CommandVerb::kSteer && !is_busy()) {
    sent_ = true;
    session().run();
  }
  if (is_root && ends_turn(event.body)) end_turn(event);
}

void Conversation::end_turn(const Event& event) {
  cards_.clear();
  // After a stop or an error the user decides whether the queue continues.
  if (!std::holds_alternative<events::TurnCompleted>(event.body) || working_) return;
  if (session().queued() > 0 || goes_on()) resume();
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
  std::optional<app::AlwaysRule> always;
  if (step.kind == ParkKind::kApproval) {
    if (auto rule = app::always_rule_for(setup_.runtime->journal(), asking, step)) always = *std::move(rule);
  }
  // An agent in progress reads rules that are saved now with its next run only.
  if (always && app::is_allowed(saved_, *always)) {
    [[maybe_unused]] const Status decided = this->session().decide(step.id, approve(), setup_.author);
    return;
  }
  auto changes = app::ChangePreview(&setup_.runtime->journal()).lines(asking, step);
  cards_.emplace_back(std::move(step), std::move(always), std::move(changes));
}

std::string Conversation::submit(const std::string& text, Delivery delivery, std::size_t columns) {
  if (app::names_prompt(text, session().prompt_sources())) return fill_prompt(text, delivery);
  if (text.starts_with('/')) return command(text, columns);
  if (text.empty()) {
    if (!is_busy() && session().queued() > 0) resume();
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
  if (!works()) {
    send(std::move(message));
  } else {
    delivery == Delivery::kQueue ? session().enqueue(message.text()) : session().steer(message.text());
  }
  return "";
}

void Conversation::interrupt() {
  if (filling_) filling_->request_stop();
  if (!works()) return;
  if (working_) return working_->interrupt();
  session().interrupt();
}

std::string Conversation::settle(std::size_t columns) {
  std::string text = take_events(columns);
  if (filling_) filling_->request_stop();
  setup_.runtime->stop();
  return text + take_events(columns);
}

std::string Conversation::decide(const StepCard& card, Approval approval) {
  const ParkId id = card.step().id;
  if (const Status decided = session().decide(id, std::move(approval), setup_.author); !decided)
    return failure(decided.error());
  // Not only when its event arrives: until then a chat whose input has ended would take it for open, and
  // leave.
  take_away(id);
  return "";
}

std::string Conversation::decide_always(const StepCard& card, RuleLife life) {
  if (!card.always()) return "";
  if (const Status saved = life == RuleLife::kSaved ? app::save_rule(*card.always()) : Status(); !saved)
    return failure(saved.error());
  saved_.push_back(*card.always());
  return decide(card, approve());
}

std::string Conversation::status(std::size_t columns) {
  std::string text;
  if (const auto since = view_->busy_since()) {
    const std::string doing = cards_.empty() ? view_->doing() : "waits for you";
    text = fmt::format("{} {}  ", doing, app::show_age(now() - *since));
  }
  text += app::one_line(model_, 40);
  if (context_percent_ > 0) text += fmt::format("  context {} %", context_percent_);
  text += "  " + app::show_usage(usage_);
  if (const auto queued = view_->queued().size(); queued > 0) text += fmt::format("  {} queued", queued);
  if (!cards_.empty()) text += fmt::format("  {} to decide", cards_.size());
  return styles_.dim(cut_to(text, columns));
}

std::vector<std::string> Conversation::tree(std::size_t columns) const {
  std::vector<AgentNode> below;
  for (AgentNode& node : setup_.runtime->agent_tree()) {
    const bool belongs =
        node.id == id() || std::ranges::find(below, node.parent, &AgentNode::id) != below.end();
    if (belongs) below.push_back(std::move(node));
  }
  std::vector<std::string> lines;
  for (const TreeLine& line : tree_lines(below, setup_.workspace, now(), columns)) {
    const std::string cut = line.is_typed ? line.text : cut_to(line.text, columns);
    lines.push_back(line.is_node ? cut : styles_.dim(cut));
  }
  return lines;
}

}  // namespace praxis::tui
