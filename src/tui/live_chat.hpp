// A chat on a terminal that can be redrawn: keys in, frames out.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tui/composer.hpp"
#include "tui/conversation.hpp"
#include "tui/drafts.hpp"
#include "tui/keys.hpp"
#include "tui/live_region.hpp"
#include "tui/raw_terminal.hpp"
#include "tui/terminal_streams.hpp"

namespace praxis::tui {

class LiveChat {
 public:
  LiveChat(const ChatSetup& setup, Conversation& conversation, RawTerminal& terminal);
  /// Until the user leaves.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  void wait();
  void read_keys();
  void press(const Key& key);
  bool press_control(const Key& key);
  void enter(Delivery delivery);
  void stop_or_leave();
  void suspend();
  void edit_outside();
  Result<std::string> in_editor(std::string_view text, std::string_view suffix);
  void print(std::string_view text) { finished_ += text; }
  void draw();
  void write(std::string_view bytes);
  std::vector<std::string> lines();
  void keep_draft();

  // The step that the user decides.
  void look_at_cards();
  void focus(bool on);
  void press_on_card(const Key& key);
  void carry_out(const CardAnswer& answer);
  void edit_call();
  void edit_rule();
  StepCard* card() { return conversation_.cards().empty() ? nullptr : &conversation_.cards().front(); }
  std::size_t card_rows() const { return size_.rows > 8 ? size_.rows - 8 : 1; }
  std::size_t columns() const { return size_.columns > 1 ? size_.columns - 1 : 1; }

  const ChatSetup& setup_;
  Conversation& conversation_;
  RawTerminal& terminal_;
  const Styles styles_;
  Drafts drafts_;
  KeyReader reader_;
  Composer composer_;
  LiveRegion region_;
  TerminalSize size_;
  std::string finished_;  ///< to be printed with the next frame
  std::string hint_;      ///< until the next key
  bool leaving_ = false;
  bool shows_tree_ = false;
  Clock::time_point last_frame_{};
  Clock::time_point last_key_{};
  Clock::time_point ctrl_c_{};

  bool focused_ = false;  ///< keys go to the card
  ParkId card_id_;        ///< of the card that was on top when last looked
  std::string own_text_;  ///< of the composer, while a text for the card is typed
  bool lends_composer_ = false;
};

}  // namespace praxis::tui
