#include "tui/plain_chat.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <tuple>

#include "app/always_rules.hpp"
#include "base/write_all.hpp"
#include "praxis/json/json.hpp"
#include "tui/terminal_streams.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostTyped = std::size_t{4} << 20U;  ///< bytes of a line
constexpr std::size_t kAnyRows = 100'000;                  ///< nothing is hidden for want of room

class PlainChat {
 public:
  PlainChat(const ChatSetup& setup, Conversation& conversation)
      : setup_(setup), conversation_(conversation), columns_(terminal_size(STDOUT_FILENO).columns - 1) {}

  void run() {
    follow();
    print(conversation_.settle(columns_));
  }

 private:
  void follow() {
    print(conversation_.begin(columns_));
    const std::stop_callback stopped(setup_.stop, conversation_.waker());
    while (!conversation_.wants_to_leave() && !setup_.stop.stop_requested()) {
      print(conversation_.take_events(columns_));
      show_card();
      if (take_line()) continue;
      if (ended_ && can_take()) return;
      wait();
    }
  }

  void show_card() {
    const ParkId top = conversation_.cards().empty() ? ParkId() : conversation_.cards().front().step().id;
    if (top == shown_) return;
    shown_ = top;
    if (!top.empty()) print_card();
  }

  void print_card() {
    for (const std::string& line : conversation_.cards().front().lines(columns_, kAnyRows, true, {}))
      print(line + '\n');
  }

  void wait() {
    std::array<pollfd, 2> ready{{{conversation_.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    const bool reads = !ended_ && typed_.find('\n') == std::string::npos;
    poll(ready.data(), reads ? 2 : 1, -1);
    if (reads && ready[1].revents != 0) read_lines();
  }

  void read_lines() {
    std::array<char, 65536> buffer;
    const auto got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
      ended_ = true;
      if (!typed_.empty() && !typed_.ends_with('\n')) typed_ += '\n';
      return;
    }
    typed_.append(buffer.data(), static_cast<std::size_t>(got));
    if (typed_.size() > kMostTyped) typed_.clear();
  }

  /// Lines from a pipe are taken when the agent waits for one; a user decides when to type.
  bool can_take() const {
    return (is_terminal_ && !ended_) || !conversation_.can_interrupt() || !conversation_.cards().empty();
  }

  bool take_line() {
    const auto end = typed_.find('\n');
    if (end == std::string::npos || !can_take()) return false;
    const std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    use_line(line);
    return true;
  }

  void use_line(std::string line) {
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    if (!conversation_.cards().empty() && !line.starts_with('/')) return decide(line);
    print(conversation_.submit(line, Delivery::kNow, columns_));
  }

  void decide(const std::string& line) {
    StepCard& card = conversation_.cards().front();
    const auto space = line.find(' ');
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    const char letter = line.empty() ? ' ' : line.front();
    const CardAnswer answer =
        card.takes_text() ? card.typed(line) : card.choose(letter, rest, columns_, kAnyRows);
    using Kind = CardAnswer::Kind;
    if (answer.kind == Kind::kDecide) return print(conversation_.decide(card, answer.approval));
    if (answer.kind == Kind::kSaveRule) return print(conversation_.decide_always(card, RuleLife::kSaved));
    if (answer.kind == Kind::kUseRule) return print(conversation_.decide_always(card, RuleLife::kChat));
    if (answer.kind == Kind::kLater)
      return print("left for later: praxis approve" + app::place_options(setup_.workspace) + '\n');
    if (answer.kind == Kind::kEdit) return edit_call(card);
    if (answer.kind == Kind::kEditRule) edit_rule(card);
    print(answer.text + (answer.text.empty() || answer.text.ends_with('\n') ? "" : "\n"));
    print(card.lines(columns_, kAnyRows, true, {}).back() + '\n');
  }

  void edit_call(const StepCard& card) {
    const auto text = setup_.edit(card.step().arguments, ".json");
    const auto arguments = text ? parse_json(*text) : Result<Json>(fail(text.error()));
    print(arguments ? conversation_.decide(card, edit(to_json_text(*arguments)))
                    : arguments.error().message + '\n');
  }

  void edit_rule(StepCard& card) const {
    const auto text = setup_.edit(app::rule_to_edit(*card.always()), ".json");
    const auto shown = text ? card.change_rule(*text, columns_) : Result<std::string>(fail(text.error()));
    print(shown ? *shown : shown.error().message + '\n');
  }

  static void print(std::string_view bytes) { std::ignore = write_all(STDOUT_FILENO, bytes); }

  const ChatSetup& setup_;
  Conversation& conversation_;
  const std::size_t columns_;
  const bool is_terminal_ = isatty(STDIN_FILENO) == 1;
  std::string typed_;
  ParkId shown_;
  bool ended_ = false;  ///< standard input
};

}  // namespace

void plain_chat(const ChatSetup& setup, Conversation& conversation) { PlainChat(setup, conversation).run(); }

}  // namespace praxis::tui
