// A chat on a terminal that can be redrawn: keys in, frames out.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tui/completion.hpp"
#include "tui/composer.hpp"
#include "tui/conversation.hpp"
#include "tui/drafts.hpp"
#include "tui/file_names.hpp"
#include "tui/keys.hpp"
#include "tui/live_region.hpp"
#include "tui/picker.hpp"
#include "tui/queue_list.hpp"
#include "tui/raw_terminal.hpp"
#include "tui/status_command.hpp"
#include "tui/terminal_streams.hpp"
#include "tui/tree_pane.hpp"

namespace praxis::tui {

class LiveChat {
 public:
  LiveChat(const ChatSetup& setup, Conversation& conversation, RawTerminal& terminal);
  /// Until the user leaves.
  void run();

 private:
  using Clock = std::chrono::steady_clock;
  /// Without a key, before the Enter that runs a shell command.
  static constexpr std::chrono::milliseconds kShellPause{100};

  void wait();
  int patience() const;
  void look_for_pause();
  void read_keys();
  void press(const Key& key);
  bool press_control(const Key& key);
  void call_user();
  void take_background(std::string_view color);
  void enter(Delivery delivery);
  void run_shell_command(const std::string& text);
  std::vector<std::string> shell_rows(std::size_t wide) const;
  void stop_or_leave();
  void suspend();
  void edit_outside();
  Result<std::string> in_editor(std::string_view text, std::string_view suffix);
  void print(std::string_view text) { finished_ += text; }
  void draw();
  void write(std::string_view bytes);
  std::vector<std::string> lines();
  std::string below_composer(std::size_t wide);
  std::string own_status(std::size_t wide);
  void keep_draft();

  void stop_or_go_back(Clock::time_point last);

  // What the user chooses from.
  struct Completing {
    CompletedWord word;
    ChoiceList list;
    std::shared_ptr<const std::vector<std::string>> names;  ///< that the list was made from
    std::shared_ptr<const std::vector<Choice>> commands;    ///< or that
    bool moved = false;                                     ///< by the user, to another choice
    bool is_narrowed = false;                               ///< to what is typed now
  };
  struct Picking {
    Offer offer;
    Picker picker;
  };
  void begin_completion(const Key& key);
  void complete_typed();
  bool press_on_completion(const Key& key);
  std::vector<std::string> completion_lines(std::size_t wide) const;
  void open_picker();
  void open_queue();
  void press_on_queue(const Key& key);
  void follow_queue();
  bool take_back(const WaitingMessage& message, std::string_view text);
  void edit_last_waiting();
  void press_on_picker(const Key& key);

  // The agents.
  void toggle_tree();
  void close_tree();
  void follow_tree();
  void press_on_tree(const Key& key);
  std::vector<std::string> tree_lines_below(std::size_t used);

  // The step that the user decides.
  void look_at_cards();
  void focus(bool on);
  void take_composer_back();
  void press_on_card(const Key& key);
  void carry_out(const CardAnswer& answer);
  void edit_call();
  void edit_rule();
  StepCard* card();
  std::vector<std::string> card_list(std::size_t wide);
  void go_to_card(bool next);
  std::size_t card_rows() const { return size_.rows > 8 ? size_.rows - 8 : 1; }
  std::size_t columns() const { return size_.columns > 1 ? size_.columns - 1 : 1; }

  const ChatSetup& setup_;
  Conversation& conversation_;
  RawTerminal& terminal_;
  Styles styles_;
  Drafts drafts_;
  KeyReader reader_;
  Composer composer_;
  LiveRegion region_;
  TerminalSize size_;
  std::string finished_;      ///< to be printed with the next frame
  std::string hint_;          ///< until the next key
  bool shell_ready_ = false;  ///< Enter alone would run the shell command
  bool shows_all_ = true;     ///< the last frame has the whole text of the composer
  bool leaving_ = false;
  bool looked_at_ = true;  ///< as far as the terminal says
  bool worked_ = false;    ///< when last looked, without waiting for the user
  Clock::time_point last_frame_{};
  Clock::time_point last_key_{}, last_read_{};
  Clock::time_point ctrl_c_{}, escape_{};

  const UnixMillis opened_;
  std::optional<StatusCommand> status_;  ///< draws the status line
  StatusPlace place_;                    ///< empty: the chat is on a run of a server
  Clock::time_point place_seen_{};
  std::optional<FileNames> names_;
  std::optional<Completing> completing_;
  std::optional<Picking> picking_;
  std::optional<QueueList> queue_;  ///< while it is shown
  std::optional<TreePane> tree_;    ///< while it is shown
  bool tree_keys_ = false;          ///< keys go to it

  bool focused_ = false;  ///< keys go to the card
  ParkId card_id_;        ///< of the card that was shown when last looked
  std::string own_text_;  ///< of the composer, while a text for the card is typed
  HistoryKind own_kind_ = HistoryKind::kMessage;
  bool lends_composer_ = false;
};

}  // namespace praxis::tui
