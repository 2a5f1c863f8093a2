#include "cli/questions.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <vector>

#include "app/call_text.hpp"
#include "app/plain_text.hpp"
#include "praxis/json/json.hpp"

namespace praxis::cli {
namespace {

constexpr int kLookAgainMs = 100;  // interval of checks whether the answer is still needed

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
  return text + "answer (empty to decline, Ctrl-D to leave it for later): ";
}

}  // namespace

bool Questions::can_ask(const Console& console) { return console.terminal.err && isatty(STDIN_FILENO) == 1; }

std::optional<Approval> Questions::ask(const ParkedStep& step, const std::stop_token& stop) {
  if (step.kind != ParkKind::kQuestion) return std::nullopt;
  std::unique_lock lock(mutex_);
  const bool free = changed_.wait(lock, stop, [this] { return !asking_ || closed(); });
  if (!free || closed()) return std::nullopt;
  asking_ = true;
  lock.unlock();
  progress_.hold(true);
  auto answer = ask_now(step, stop);
  progress_.hold(false);
  lock.lock();
  asking_ = false;
  changed_.notify_all();
  return answer;
}

void Questions::close() {
  std::unique_lock lock(mutex_);
  closing_.request_stop();
  changed_.notify_all();
  changed_.wait(lock, [this] { return !asking_; });
}

std::optional<Approval> Questions::ask_now(const ParkedStep& step, const std::stop_token& stop) {
  const auto choices = choices_of(step);
  for (;;) {
    console_.err.write(question_text(step, choices));
    const auto line = read_line(stop);
    if (!line) {
      console_.err.write("\n");
      return std::nullopt;
    }
    if (line->empty()) return reject({});
    if (auto answer = chosen(choices, *line)) return praxis::answer(*std::move(answer));
    console_.err.line("that is not one of the choices");
  }
}

/// `std::nullopt` at the end of standard input, or on a stop request.
std::optional<std::string> Questions::read_line(const std::stop_token& stop) {
  std::size_t end = typed_.find('\n');
  while (end == std::string::npos) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    const int came = poll(&ready, 1, kLookAgainMs);
    if (stop.stop_requested() || closed()) return std::nullopt;
    if (came <= 0) continue;
    std::array<char, 4096> buffer;
    const auto got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    typed_.append(buffer.data(), static_cast<std::size_t>(got));
    end = typed_.find('\n');
  }
  std::string line = typed_.substr(0, end);
  typed_.erase(0, end + 1);
  const auto first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
  return first == std::string::npos ? std::string() : line.substr(first, last - first + 1);
}

}  // namespace praxis::cli
