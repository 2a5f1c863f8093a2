#include "cli/progress.hpp"

#include <fmt/format.h>

#include "cli/values.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedraw = 200ms;
constexpr std::size_t kLineWidth = 160;  ///< of a line that stays
constexpr std::string_view kErase = "\r\x1b[K";
constexpr std::string_view kDim = "\x1b[2m", kRed = "\x1b[31m", kPlain = "\x1b[0m";

}  // namespace

Progress::Progress(Console& console) : console_(console) {
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

void Progress::show(const Event& event) {
  const std::lock_guard lock(mutex_);
  step_ = event.step;
  std::visit(
      match{
          [&](const ModelRequested& e) {
            answer_.clear();
            doing_ = e.model;
          },
          [&](const TextDelta& e) { write_answer(e.text); },
          [&](const AttemptSuperseded&) { end_answer(); },
          [&](const ModelResponded& e) {
            end_answer();
            usage_ += e.usage;
          },
          [&](const ModelFailed& e) {
            end_answer();
            line(fmt::format("model failed: {}", e.error.message), true);
          },
          [&](const ToolCalled& e) { calls_[e.call] = e.name + ' ' + e.arguments; },
          [&](const ToolCallStarted& e) { doing_ = calls_.try_emplace(e.call, e.name).first->second; },
          [&](const ToolCompleted& e) { call_line(e.call, e.name, show_duration(e.duration), false); },
          [&](const ToolFailed& e) { call_line(e.call, e.name, "failed: " + e.error.message, true); },
          [&](const ToolTimedOut& e) {
            call_line(e.call, e.name, "timed out after " + show_duration(e.duration), true);
          },
          [&](const StepCompleted&) { line(totals()); },
          [&](const SessionRecovered&) { line("carries on where another process stopped"); },
          [&](const SessionPaused& e) { line("paused " + e.reason); },
          [&](const HookFailed& e) { line(fmt::format("hook {} failed: {}", e.hook, e.message), true); },
          [](const auto&) {},
      },
      event.body);
}

void Progress::finish(const AgentResult& result) {
  const std::lock_guard lock(mutex_);
  end_answer();
  erase();
  const bool seen = !answer_.empty() && answer_ == result.text;
  if (!seen && !result.text.empty()) {
    console_.out.write(console_.terminal.out ? harmless(result.text) : result.text);
    if (!result.text.ends_with('\n')) console_.out.write("\n");
  }
  doing_.clear();
}

/// How the turn stands: `1.2 s, 340 tokens, $0.0012`.
std::string Progress::totals() const {
  const auto time = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started_);
  return fmt::format("{}, {} tokens, {}", show_duration(time), usage_.total(), show_usd(usage_.cost));
}

// ---- what is written --------------------------------------------------------------------------------------

void Progress::line(std::string_view text, bool failed) {
  erase();
  const std::string_view color = failed ? kRed : kDim;
  const std::string shown = one_line(fmt::format("step {}: {}", step_, text), kLineWidth);
  console_.err.line(console_.terminal.color ? fmt::format("{}{}{}", color, shown, kPlain) : shown);
}

void Progress::call_line(const CallId& call, const std::string& name, const std::string& how, bool failed) {
  const auto asked = calls_.find(call);
  line(fmt::format("{} ({})", one_line(asked == calls_.end() ? name : asked->second, kLineWidth / 2), how),
       failed);
  doing_ = "waiting";
}

/// Elsewhere than on a terminal the answer is written once, when it is whole.
void Progress::write_answer(std::string_view piece) {
  if (!console_.terminal.out) return;
  erase();
  answer_ += piece;
  const std::string shown = filter_.feed(piece);
  console_.out.write(shown);
  if (!shown.empty()) line_open_ = !shown.ends_with('\n');
}

void Progress::end_answer() {
  console_.out.write(filter_.finish());
  if (line_open_) console_.out.write("\n");
  line_open_ = false;
}

void Progress::erase() {
  if (drawn_) console_.err.write(kErase);
  drawn_ = false;
}

void Progress::draw() {
  if (!console_.terminal.live || line_open_ || doing_.empty()) return;
  const std::string text = fmt::format("step {}: {}", step_, totals());
  const std::size_t width = terminal_width();
  const std::size_t room = width > text.size() + 4 ? width - text.size() - 4 : 0;
  const std::string shown = one_line(text + ": " + one_line(doing_, room), width - 1);
  const bool color = console_.terminal.color;
  console_.err.write(fmt::format("{}{}{}{}", kErase, color ? kDim : "", shown, color ? kPlain : ""));
  drawn_ = true;
}

}  // namespace praxis::cli
