#include "tui/live_chat.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "app/plain_text.hpp"
#include "base/columns.hpp"
#include "base/write_all.hpp"
#include "praxis/base/executor.hpp"
#include "tui/status_line.hpp"
#include "tui/styled_line.hpp"

namespace praxis::tui {
namespace {

using namespace std::chrono_literals;

constexpr auto kFrame = 16ms;        ///< between two frames
constexpr auto kEscapeTime = 40ms;   ///< until a lone escape is the key Esc
constexpr auto kTick = 1000ms;       ///< of the clocks on the screen
constexpr auto kLeaveTime = 2000ms;  ///< between two Ctrl-C
constexpr auto kPlaceTime = 2000ms;  ///< between two looks at folder and branch
constexpr std::size_t kMostWaitingShown = 3;

std::atomic<int> resized{-1};  ///< eventfd of the chat that runs; -1: none

void on_resize(int) {
  const int saved = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(resized, &one, sizeof one);
  errno = saved;
}

/// Makes a descriptor readable when the size of the terminal changes.
class ResizeSignal {
 public:
  ResizeSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    resized = fd_.get();
    std::signal(SIGWINCH, on_resize);
  }
  ~ResizeSignal() {
    std::signal(SIGWINCH, SIG_DFL);
    resized = -1;
  }
  ResizeSignal(const ResizeSignal&) = delete;
  ResizeSignal& operator=(const ResizeSignal&) = delete;
  int fd() const { return fd_.get(); }
  bool take() const {
    std::uint64_t count = 0;
    return read(fd_.get(), &count, sizeof count) > 0;
  }

 private:
  FileDescriptor fd_;
};

int millis(std::chrono::steady_clock::duration time) {
  return static_cast<int>(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count(), 0));
}

}  // namespace

LiveChat::LiveChat(const ChatSetup& setup, Conversation& conversation, RawTerminal& terminal)
    : setup_(setup),
      conversation_(conversation),
      terminal_(terminal),
      styles_{setup.theme.theme},
      drafts_(setup.folder),
      size_(terminal_size(STDOUT_FILENO)),
      opened_(conversation.now()) {
  if (!setup.status_command.empty())
    status_.emplace(setup.status_command, conversation_.executor(), conversation_.waker());
  std::error_code failed;
  names_.emplace(conversation_.executor(), std::filesystem::current_path(failed).string(),
                 conversation_.waker());
  for (HistoryEntry& sent : drafts_.history()) composer_.remember(std::move(sent.text), sent.kind);
  composer_.set(drafts_.load(conversation_.is_recorded() ? conversation_.id().str() : Drafts::key_of_new()));
}

void LiveChat::run() {
  if (setup_.theme.asks) write(kAskBackground);
  print(conversation_.begin(columns()));
  const std::stop_callback stopped(setup_.stop, conversation_.waker());
  while (!leaving_ && !conversation_.wants_to_leave() && !setup_.stop.stop_requested()) {
    print(conversation_.take_events(columns()));
    for (const std::string& unread : conversation_.take_unread())
      composer_.set(composer_.empty() ? unread : unread + '\n' + composer_.text());
    look_at_cards();
    call_user();
    if (completing_) complete_typed();
    if (queue_) follow_queue();
    draw();
    wait();
  }
  print(conversation_.settle(columns()));
  write(region_.frame(finished_, {}, size_.rows) + region_.remove());
}

/// Waits for a key, an event, another size or the next tick, and takes the keys.
void LiveChat::wait() {
  static const ResizeSignal resize;
  std::array<pollfd, 3> ready{
      {{STDIN_FILENO, POLLIN, 0}, {resize.fd(), POLLIN, 0}, {conversation_.fd(), POLLIN, 0}}};
  // Right after a frame only keys are looked at, so that a fast stream does not draw more than 60 frames.
  const auto since = Clock::now() - last_frame_;
  if (since < kFrame) {
    if (poll(ready.data(), 2, millis(kFrame - since)) == 0) poll(ready.data(), ready.size(), 0);
  }
  if (std::ranges::all_of(ready, [](const pollfd& each) { return each.revents == 0; })) {
    poll(ready.data(), ready.size(), patience());
  }
  if (resize.take()) {
    size_ = terminal_size(STDOUT_FILENO);
    region_.forget();
  }
  if (ready[0].revents != 0) return read_keys();
  look_for_pause();
  if (!reader_.is_incomplete()) return;
  for (const Key& key : reader_.flush()) press(key);
}

/// How long nothing needs to happen, in milliseconds; -1: for ever.
int LiveChat::patience() const {
  if (reader_.is_incomplete()) return millis(kEscapeTime);
  if (composer_.is_shell_command() && !shell_ready_) return millis(last_read_ + kShellPause - Clock::now());
  const bool ticks = conversation_.can_interrupt() || conversation_.shell_command() || tree_;
  return ticks ? millis(kTick) : -1;
}

void LiveChat::read_keys() {
  std::array<char, 65536> buffer;
  const auto got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) {
    leaving_ = true;  // the terminal has gone
    return;
  }
  const std::vector<Key> keys = reader_.feed({buffer.data(), static_cast<std::size_t>(got)});
  if (keys.size() != 1) shell_ready_ = false;
  for (const Key& key : keys) press(key);
  shell_ready_ = false;
  keep_draft();
  last_read_ = Clock::now();
}

/// On disk before it is on the screen: what the user has seen is there after a crash.
void LiveChat::keep_draft() {
  const std::string key = conversation_.is_recorded() ? conversation_.id().str() : Drafts::key_of_new();
  drafts_.save(key, lends_composer_ ? own_text_ : composer_.text());
}

/// When the agent has just stopped working, or waits, and the user looks at another window.
void LiveChat::call_user() {
  const bool waits = !conversation_.cards().empty();
  const bool works = conversation_.is_busy() && !waits;
  if (std::exchange(worked_, works) == works || works || looked_at_) return;
  const std::string text = waits ? "The agent waits for you" : "The agent has finished";
  write(notice_bytes(setup_.notice.way, text));
  if (setup_.notice.command.empty()) return;
  conversation_.executor()->post_blocking(
      [command = setup_.notice.command, text] { run_notice_command(command, text); });
}

/// The answer of the terminal about its background.
void LiveChat::take_background(std::string_view color) {
  const auto theme = setup_.theme.asks ? theme_for_background(color) : std::nullopt;
  if (!theme) return;
  styles_.theme = *theme;
  conversation_.set_theme(*theme);
}

void LiveChat::press(const Key& key) {
  if (leaving_) return;
  if (key.kind == KeyKind::kFocusIn || key.kind == KeyKind::kFocusOut) {
    looked_at_ = key.kind == KeyKind::kFocusIn;
    return;
  }
  if (key.kind == KeyKind::kBackground) return take_background(key.text);
  hint_.clear();
  const auto last_escape = std::exchange(escape_, {});
  last_key_ = Clock::now();
  if (picking_) return press_on_picker(key);
  if (queue_) return press_on_queue(key);
  if (tree_ && tree_keys_) return press_on_tree(key);
  if (press_on_completion(key)) return;
  if (key.kind == KeyKind::kControl && press_control(key)) return;
  if (key.kind == KeyKind::kTab) {
    if (card() != nullptr) focus(!focused_);
    return;
  }
  if (focused_ && card() != nullptr && !lends_composer_) return press_on_card(key);
  switch (key.kind) {
    case KeyKind::kEnter:
      return enter(Delivery::kNow);
    case KeyKind::kQueue:
      return enter(Delivery::kQueue);
    case KeyKind::kAltUp:
      return edit_last_waiting();
    case KeyKind::kEscape:
      if (!lends_composer_) return stop_or_go_back(last_escape);
      if (card() == nullptr || !card()->back()) focus(false);
      return take_composer_back();
    default: {
      composer_.press(key);
      begin_completion(key);
    }
  }
}

/// Esc stops the user's command, else the agent; pressed twice while it is idle, it offers to go back to
/// before a turn.
void LiveChat::stop_or_go_back(Clock::time_point last) {
  if (conversation_.can_interrupt()) {
    conversation_.interrupt();
    return;
  }
  const auto now = Clock::now();
  if (now - last >= kLeaveTime || !composer_.empty()) {
    escape_ = now;
    return;
  }
  print(conversation_.offer_turns());
  open_picker();
}

/// Keys that mean the same everywhere; false for others.
bool LiveChat::press_control(const Key& key) {
  switch (key.text.front()) {
    case 'c':
      stop_or_leave();
      return true;
    case 'd':
      if (composer_.empty()) leaving_ = true;
      return composer_.empty();
    case 'g':
      edit_outside();
      return true;
    case 'l':
      write("\x1b[H\x1b[2J");
      region_.forget();
      return true;
    case 't':
      toggle_tree();
      return true;
    case 'z':
      suspend();
      return true;
    default:
      return false;
  }
}

void LiveChat::stop_or_leave() {
  const auto now = Clock::now();
  if (now - ctrl_c_ < kLeaveTime) {
    leaving_ = true;
    return;
  }
  if (!composer_.empty()) {
    composer_.remember(composer_.text(), composer_.kind());
    composer_.clear();
  } else if (conversation_.interrupt() == Interrupted::kShellCommand) {
    return;  // the next one stops the agent
  }
  ctrl_c_ = now;
  hint_ = "Ctrl-C once more leaves";
}

void LiveChat::enter(Delivery delivery) {
  std::string text = composer_.text();
  if (lends_composer_ && card() != nullptr) {
    take_composer_back();
    return carry_out(card()->typed(text));
  }
  // A backslash before Enter is a new line, for terminals that cannot send another key for it.
  if (text.ends_with('\\') && delivery == Delivery::kNow) {
    if (!composer_.is_shell_command())
      composer_.press({KeyKind::kBackspace});  // a shell joins the lines by it
    composer_.press({KeyKind::kNewLine});
    return;
  }
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  if (text.starts_with('!')) return run_shell_command(text);
  composer_.clear();
  keep_draft();
  if (!text.empty()) {
    composer_.remember(text);
    drafts_.remember(text);
  }
  if (text.starts_with('/')) print(styles_.dim("> " + visible_text(text)) + '\n');
  print(conversation_.submit(text, delivery, columns()));
  open_picker();
  open_queue();
}

void LiveChat::suspend() {
  write(region_.remove());
  terminal_.leave();
  std::raise(SIGTSTP);
  terminal_.enter();
  size_ = terminal_size(STDOUT_FILENO);
  region_.forget();
}

void LiveChat::edit_outside() {
  const auto text = in_editor(composer_.text(), ".md");
  if (!text) {
    hint_ = text.error().message;
    return;
  }
  std::string_view edited = *text;
  while (edited.ends_with('\n')) edited.remove_suffix(1);
  composer_.set(edited);
}

// ---- the screen -------------------------------------------------------------------------------------------

std::vector<std::string> LiveChat::lines() {
  const std::size_t wide = columns();
  std::vector<std::string> below;
  for (const auto* waiting : {&conversation_.view().steering(), &conversation_.view().queued()}) {
    if (queue_) break;  // it lists them all
    const char* when = waiting == &conversation_.view().queued() ? "queued: " : "at the next step: ";
    for (std::size_t i = 0; i < std::min(waiting->size(), kMostWaitingShown); ++i)
      below.push_back(styles_.dim(cut_to(when + app::one_line((*waiting)[i].text, wide), wide)));
    if (waiting->size() > kMostWaitingShown)
      below.push_back(styles_.dim(fmt::format("  and {} more", waiting->size() - kMostWaitingShown)));
  }
  if (card() != nullptr && tree_keys_) {
    below.push_back(styles_.warning(
        cut_to(fmt::format("{} to decide: Tab goes there", conversation_.cards().size()), wide)));
  } else if (const StepCard* shown = card()) {
    std::ranges::move(card_list(wide), std::back_inserter(below));
    std::ranges::move(shown->lines(wide, card_rows(), focused_, styles_), std::back_inserter(below));
  }
  if (tree_) std::ranges::move(tree_lines_below(below.size()), std::back_inserter(below));
  if (picking_) {
    const std::size_t rows = size_.rows > below.size() + 2 ? size_.rows - below.size() - 1 : 1;
    std::ranges::move(picking_->picker.lines(wide, rows, styles_), std::back_inserter(below));
    return below;
  }
  if (queue_) {
    const std::size_t rows = size_.rows > below.size() + 4 ? size_.rows - below.size() - 3 : 1;
    std::ranges::move(queue_->lines(wide, rows, styles_), std::back_inserter(below));
  }
  const std::size_t used = below.size() + shell_rows(wide).size() + 2;
  const std::size_t most = size_.rows > used + 1 ? std::min(size_.rows - used - 1, size_.rows / 2 + 1) : 1;
  shows_all_ = !composer_.is_shell_command() || composer_.rows(wide, most + 1, "", "").size() <= most;
  std::ranges::move(shell_rows(wide), std::back_inserter(below));
  for (std::string& row : composer_.rows(wide, most, "\x1b[7m", "\x1b[27m")) below.push_back(std::move(row));
  std::ranges::move(completion_lines(wide), std::back_inserter(below));
  below.push_back(hint_.empty() ? below_composer(wide) : styles_.dim(app::one_line(hint_, wide)));
  const std::size_t room = size_.rows > below.size() + 1 ? size_.rows - below.size() - 1 : 0;
  auto lines = conversation_.view().live(wide, room, conversation_.now());
  std::ranges::move(below, std::back_inserter(lines));
  return lines;
}

/// The user's program draws it, if there is one and its last run was good.
std::string LiveChat::below_composer(std::size_t wide) {
  if (!status_) return own_status(wide);
  status_->show(conversation_.status_facts(wide), conversation_.now() - opened_);
  const StatusAnswer answer = status_->answer();
  const auto keep = styles_.theme == Theme::kNone ? KeepStyles::kNo : KeepStyles::kYes;
  if (!answer.output.empty()) return styled_line(answer.output, wide, keep);
  if (answer.failure.empty()) return own_status(wide);
  const std::string mark = cut_to("  [status_command: " + answer.failure + ']', wide);
  return own_status(wide - columns_of(mark)) + styles_.error(mark);
}

std::string LiveChat::own_status(std::size_t wide) {
  const auto now = Clock::now();
  // The folder of this chat is not that of a run at a server.
  if (now - place_seen_ >= kPlaceTime && !conversation_.is_at_server()) {
    std::error_code failed;
    place_ = status_place(std::filesystem::current_path(failed).string());
    place_seen_ = now;
  }
  return styles_.dim(status_line(conversation_.status_facts(wide), place_));
}

void LiveChat::draw() {
  write(region_.frame(std::exchange(finished_, {}), lines(), size_.rows));
  last_frame_ = Clock::now();
}

void LiveChat::write(std::string_view bytes) {
  if (write_all(STDOUT_FILENO, bytes) != 0) leaving_ = true;
}

}  // namespace praxis::tui
