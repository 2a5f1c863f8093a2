#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "app/team_run.hpp"
#include "app/values.hpp"
#include "app/without_secrets.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedraw = 200ms;
constexpr auto kSilence = 5s;             ///< after which the line says how long a model has sent no text
constexpr std::size_t kLineWidth = 160;   ///< width of a permanent line
constexpr std::size_t kErrorWidth = 600;  ///< the end of an error often says what to do
constexpr std::string_view kErase = "\r\x1b[K";

/// Returns true for commands that get a line; other events already show the rest.
bool has_own_line(CommandVerb verb) {
  switch (verb) {
    case CommandVerb::kSteer:
    case CommandVerb::kEnqueue:
    case CommandVerb::kAnnotate:
    case CommandVerb::kModify:
    case CommandVerb::kDelete:
    case CommandVerb::kWithdraw:
    case CommandVerb::kMove:
    case CommandVerb::kCompact:
      return true;
    default:
      return false;
  }
}

/// Whether a failed attempt continues once a person acts, such as by answering the question of a server.
bool waits_for_human(const Error& error) {
  return error.kind() == ErrorKind::kAuthorisation || error.kind() == ErrorKind::kMachine;
}

}  // namespace

PathBelow paths_below(Journal& journal, const SessionId& root) {
  return [&journal, root](const SessionId& session) {
    std::string path;
    for (SessionId id = session; !id.empty() && id != root;) {
      const auto row = journal.session(id);
      if (!row) break;
      path = path.empty() ? row->agent : row->agent + '/' + path;
      id = row->parent;
    }
    return path;
  };
}

Progress::Progress(Console& console, SessionId root, PathBelow path_below, Verbosity verbosity)
    : console_(console), root_(std::move(root)), path_below_(std::move(path_below)), verbosity_(verbosity) {
  if (console_.terminal.live) ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

Progress::~Progress() {
  if (ticker_.joinable()) {
    ticker_.request_stop();
    ticker_.join();
  }
  erase();
}

void Progress::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    draw();
    wake_.wait_for(lock, stop, kRedraw, [] { return false; });
  }
}

void Progress::show(const Event& exact) {
  // The answer goes to standard output, as it is. The rest is cut to a line, so it is redacted before.
  const bool is_answer = exact.agent.id == root_ && std::holds_alternative<events::TextDelta>(exact.body);
  Event event = exact;
  if (!is_answer) redact_event(event, app::redaction_of_errors());
  const std::lock_guard lock(mutex_);
  Agent& agent = agent_of(event.agent);
  agent.step = event.step;
  if (began_.value == 0) began_ = event.time;
  if (event.agent.id == root_) show_root(event);
  show_model(agent, event);
  std::visit(
      match{
          [&](const events::TurnStarted& e) {
            if (event.agent.id == root_ && e.config) show_member(*e.config);
          },
          [&](const events::ToolCalled& e) { agent.calls[e.call] = e.name + ' ' + e.arguments; },
          [&](const events::ToolStarted& e) {
            doing_ = agent.calls.try_emplace(e.call, e.name).first->second;
          },
          [&](const events::ToolProgress& e) { doing_ = e.name + ' ' + e.text; },
          [&](const events::ToolCompleted& e) {
            call_line(agent, e.call, e.name, app::show_duration(e.duration), false);
            show_result(agent, e.text);
          },
          [&](const events::ToolFailed& e) {
            const bool waits = waits_for_human(e.error);
            call_line(agent, e.call, e.name, (waits ? "waits: " : "failed: ") + e.error.message, !waits);
          },
          [&](const events::ToolTimedOut& e) {
            call_line(agent, e.call, e.name, "timed out after " + app::show_duration(e.duration), true);
          },
          [&](const events::StepCompleted&) { end_step(agent, event); },
          [&](const events::StepParked& e) {
            line(agent, fmt::format("{} waits for a human ({})", e.step.id.str(), to_string(e.step.kind)));
            doing_ = "waits for a human";
          },
          [&](const events::StepDecided& e) { show_decision(agent, e.decision); },
          [&](const events::SessionRecovered&) { line(agent, "resumes where another process stopped"); },
          [&](const events::SessionPaused& e) { line(agent, "paused " + e.reason); },
          [&](const events::SessionUnpaused&) { line(agent, "unpaused"); },
          [&](const events::SessionIntervened& e) {
            if (has_own_line(e.intervention.verb)) {
              line(agent, fmt::format("command: {} {}", to_string(e.intervention.verb), e.intervention.text));
            }
          },
          [&](const events::HookFailed& e) {
            line(agent, fmt::format("hook {} failed: {}", e.hook, e.message), true);
          },
          [&](const events::ChildSettled& e) { agents_.erase(e.child); },
          [](const auto&) {},
      },
      event.body);
}

/// In a team, another member may answer each turn.
void Progress::show_member(const AgentSpec& agent) {
  if (app::recorded_team(agent.metadata).file.empty()) return;
  flush_step();
  write_line(app::one_line(agent.id + " answers", kLineWidth), false);
}

/// A failure gets its line once it is known what follows; the last one is part of the result.
void Progress::show_model(Agent& agent, const Event& event) {
  const auto heard = [&] {
    wait_.reset();
    heard_ = std::chrono::steady_clock::now();
  };
  std::visit(match{
                 [&](const events::ModelRequested& e) {
                   if (!agent.failure.empty()) line(agent, "model failed: " + agent.failure, true);
                   agent.failure.clear();
                   doing_ = e.model;
                   heard_ = std::chrono::steady_clock::now();
                 },
                 [&](const events::ModelWaiting& e) { show_wait(agent, event, e); },
                 [&](const events::ModelResponded& e) {
                   agent.usage += e.usage;
                   usage_ += e.usage;
                   heard();
                   heard_ = {};
                 },
                 [&](const events::ModelFailed& e) {
                   heard();
                   heard_ = {};
                   agent.failure = e.error.message;
                 },
                 [&](const events::TextDelta&) { heard(); },
                 [&](const events::ReasoningDelta&) { heard(); },
                 [&](const events::ToolCallDelta&) { heard(); },
                 [](const auto&) {},
             },
             event.body);
}

/// The reason of a retry is shown when it changes; without a live line, each wait has a line.
void Progress::show_wait(Agent& agent, const Event& event, const events::ModelWaiting& wait) {
  using std::chrono::steady_clock;
  std::string why = "waits for the budget that other agents hold";
  if (wait.reason == events::WaitReason::kRateLimit) why = "waits for the server's rate limit";
  if (wait.reason == events::WaitReason::kRetry)
    why = fmt::format("retry {}{}", event.attempt,
                      wait.attempts == 0 ? "" : fmt::format(" of {}", wait.attempts));
  const bool is_retry = wait.reason == events::WaitReason::kRetry;
  const bool is_timed = wait.delay.count() != 0;
  if (is_timed) why += is_retry ? " in " : ", ";
  wait_ = {why, !is_timed ? steady_clock::time_point() : steady_clock::now() + wait.delay};
  std::string text = is_timed ? why + app::show_duration(wait.delay) : why;
  if (wait.gives_up.value != 0) text += ", gives up in " + app::show_duration(wait.gives_up - event.time);
  const std::string failure = std::exchange(agent.failure, {});
  const bool is_new = failure != agent.shown_failure;
  if (!failure.empty() && is_new) text = fmt::format("model failed, {}: {}", text, failure);
  if (!failure.empty()) agent.shown_failure = failure;
  const bool is_short = !is_retry && is_timed && wait.delay < kRedraw;  // what a retry has waited already
  if ((is_new || !console_.terminal.live) && !is_short) line(agent, text, !failure.empty());
}

/// A call that a rule denied was not announced as waiting.
void Progress::show_decision(const Agent& agent, const records::Decided& decision) {
  if (!decision.park.empty()) {
    line(agent, fmt::format("{} is decided: {}", decision.park.str(), to_string(decision.verb)));
  } else if (decision.verb == ApprovalVerb::kReject) {
    const auto asked = agent.calls.find(decision.call);
    line(agent,
         fmt::format(
             "{} denied: {}",
             app::one_line(asked == agent.calls.end() ? decision.call.str() : asked->second, kLineWidth / 2),
             decision.text),
         true);
  }
}

/// The root's text is the answer, or may become it.
void Progress::show_root(const Event& event) {
  std::visit(match{
                 [&](const events::StepStarted&) { flush_step(); },
                 [&](const events::ModelRequested&) { begin_answer(); },
                 [&](const events::TextDelta& e) { write_answer(e.text); },
                 [&](const events::AttemptSuperseded&) { end_answer(); },
                 [&](const events::ModelResponded&) { end_answer(); },
                 [&](const events::ModelFailed&) { end_answer(); },
                 [](const auto&) {},
             },
             event.body);
}

Progress::Agent& Progress::agent_of(const AgentMeta& meta) {
  const auto [place, is_new] = agents_.try_emplace(meta.id);
  if (!is_new || meta.id == root_) return place->second;
  const std::string path = path_below_(meta.id);
  place->second.prefix = std::string(2UL * meta.depth, ' ') + app::one_line(path, kLineWidth / 2) + ' ';
  return place->second;
}

void Progress::hold(bool held) {
  const std::lock_guard lock(mutex_);
  held_ = held;
  if (held) end_answer();
  erase();
  if (!held) console_.err.write(std::exchange(held_lines_, {}));
}

void Progress::finish(const AgentResult& result) {
  const std::lock_guard lock(mutex_);
  end_answer();
  erase();
  last_step_.clear();
  const bool seen = !answer_.empty() && answer_ == result.text;
  const bool is_unfit = result.reason == StopReason::kInvalidOutput && !console_.terminal.out;
  if (is_unfit && !result.text.empty()) {  // a program reads standard output, and expects what it asked for
    write_line("unfit answer: " + app::one_line(result.text, kLineWidth), true);
  } else if (!seen && !result.text.empty()) {
    console_.out.write(for_screen(console_.terminal, result.text));
    if (!console_.terminal.out_color && !result.text.ends_with('\n')) console_.out.write("\n");
  }
  doing_.clear();
}

/// The state of the turn: `1.2 s, 340 tokens, $0.0012`.
std::string Progress::totals() const {
  const auto time = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started_);
  return fmt::format("{}, {}", app::show_duration(time), app::show_usage(usage_));
}

/// Shows only a sub-agent's own usage; the root's line includes all of it, and waits for the next line: at
/// the end of the turn its summary says the same.
void Progress::end_step(const Agent& agent, const Event& event) {
  if (!agent.prefix.empty()) return line(agent, app::show_usage(agent.usage));
  flush_step();
  last_step_ = fmt::format("step {}: {}, {}", agent.step, app::show_duration(event.time - began_),
                           app::show_usage(usage_));
}

void Progress::flush_step() {
  if (!last_step_.empty()) write_line(std::exchange(last_step_, {}), false);
}

/// What the status line says besides the totals: a wait with the time left, or what runs, and how long a
/// model has sent no text.
std::string Progress::now_doing() const {
  using std::chrono::steady_clock;
  const auto now = steady_clock::now();
  const auto rounded = [](steady_clock::duration time) {
    return app::show_age(std::chrono::ceil<Millis>(time));
  };
  if (wait_ && wait_->until == steady_clock::time_point()) return wait_->why;
  if (wait_ && wait_->until > now) return wait_->why + rounded(wait_->until - now + 999ms);
  const auto since = wait_ ? std::max(heard_, wait_->until) : heard_;
  const bool is_silent = heard_ != steady_clock::time_point() && now - since > kSilence;
  return is_silent ? fmt::format("{}, no text for {}", doing_, rounded(now - since)) : doing_;
}

// ---- output ---------------------------------------------------------------------------------------------

void Progress::line(const Agent& agent, std::string_view text, bool failed) {
  flush_step();
  const std::size_t width = failed ? kErrorWidth : kLineWidth;
  write_line(agent.prefix + app::one_line(fmt::format("step {}: {}", agent.step, text), width), failed);
}

void Progress::write_line(const std::string& shown, bool failed) {
  if (verbosity_ == Verbosity::kQuiet) return;
  erase();
  const std::string_view color = failed ? kRed : kDim;
  const std::string whole =
      console_.terminal.color ? fmt::format("{}{}{}\n", color, shown, kPlain) : shown + '\n';
  if (held_) {
    held_lines_ += whole;
  } else {
    console_.err.write(whole);
  }
}

void Progress::call_line(const Agent& agent, const CallId& call, const std::string& name,
                         const std::string& how, bool failed) {
  const auto asked = agent.calls.find(call);
  line(agent,
       fmt::format("{} ({})",
                   app::one_line(asked == agent.calls.end() ? name : asked->second, kLineWidth / 2), how),
       failed);
  doing_ = "waiting";
}

/// The first lines of a result; `praxis show` has all of it.
void Progress::show_result(const Agent& agent, std::string_view text) {
  constexpr std::size_t kResultLines = 20;
  if (verbosity_ != Verbosity::kVerbose) return;
  const std::string mark =
      std::string(std::min(agent.prefix.find_first_not_of(' '), agent.prefix.size()), ' ') + "  | ";
  for (std::size_t number = 0; !text.empty(); ++number) {
    if (number == kResultLines) {
      const auto more = std::ranges::count(text, '\n') + (text.ends_with('\n') ? 0 : 1);
      return write_line(fmt::format("{}... {} more lines; praxis show has all of them", mark, more), false);
    }
    const std::size_t end = std::min(text.find('\n'), text.size());
    write_line(mark + app::one_line(text.substr(0, end), kLineWidth), false);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Progress::begin_answer() {
  answer_.clear();
  if (console_.terminal.out_color) markdown_.emplace(terminal_size(STDOUT_FILENO).columns);
}

/// Without a terminal, the answer is written once, when it is complete.
void Progress::write_answer(std::string_view piece) {
  if (!console_.terminal.out) return;
  answer_ += piece;
  const std::string shown = markdown_ ? markdown_->feed(piece) : filter_.feed(piece);
  if (shown.empty()) return;
  erase();
  console_.out.write(shown);
  line_open_ = !shown.ends_with('\n');
}

void Progress::end_answer() {
  const std::string rest = markdown_ ? markdown_->finish() : filter_.finish();
  if (!rest.empty()) erase();
  console_.out.write(rest);
  if (line_open_) console_.out.write("\n");
  line_open_ = false;
}

void Progress::erase() {
  if (drawn_) console_.err.write(kErase);
  drawn_ = false;
}

void Progress::draw() {
  if (verbosity_ == Verbosity::kQuiet || !console_.terminal.live || line_open_ || held_ || doing_.empty())
    return;
  const std::string text = fmt::format("step {}: {}", agents_[root_].step, totals());
  const std::size_t width = terminal_size(STDERR_FILENO).columns;
  const std::size_t room = width > text.size() + 4 ? width - text.size() - 4 : 0;
  const std::string shown = app::one_line(text + ": " + app::one_line(now_doing(), room), width - 1);
  const bool color = console_.terminal.color;
  console_.err.write(fmt::format("{}{}{}{}", kErase, color ? kDim : "", shown, color ? kPlain : ""));
  drawn_ = true;
}

}  // namespace praxis::cli
