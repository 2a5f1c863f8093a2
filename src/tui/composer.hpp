// The text that the user is writing: several lines with a cursor, undo, folded pastes and the history of what
// was sent. Pure; the caller keeps the draft and the history on disk.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tui/keys.hpp"

namespace praxis::tui {

/// What a text of the user is.
enum class HistoryKind : bool {
  kMessage,
  kShellCommand,  ///< with its `!`
};

/// An entry of the history.
struct HistoryEntry {
  std::string text;
  HistoryKind kind = HistoryKind::kMessage;
};

class Composer {
 public:
  static constexpr std::size_t kFoldLines = 10;  ///< a paste of more lines is shown as one word
  static constexpr std::size_t kMostHistory = 1000;

  /// Edits the text; false if the key means nothing here, such as Enter.
  bool press(const Key& key);
  /// The text to send, with the whole of each paste.
  std::string text() const;
  bool empty() const { return text_.empty(); }
  /// Whether the text is a command for the user's shell: its `!` is a key that the user typed, or the history
  /// has it as a command; a `!` of a paste, a draft or a message that came back is not. No part of it is
  /// folded, but `rows` may show a part only.
  bool is_shell_command() const { return text_.starts_with('!') && bang_typed_ && text() == text_; }
  HistoryKind kind() const { return is_shell_command() ? HistoryKind::kShellCommand : HistoryKind::kMessage; }
  /// Replaces the text; the cursor stands at its end.
  void set(std::string_view text, HistoryKind kind = HistoryKind::kMessage);
  void clear() { set(""); }
  /// Inserts text at the cursor: a long one folded.
  void paste(std::string_view text);

  /// The text up to the cursor, in which a long paste is one word.
  std::string_view before_cursor() const { return std::string_view(text_).substr(0, cursor_); }
  /// Replaces the text from a place before the cursor up to the cursor.
  void replace_before_cursor(std::size_t begin, std::string_view with);

  void remember(std::string sent, HistoryKind kind = HistoryKind::kMessage);
  /// Searches the history backwards for what is typed; nothing changes if nothing is found.
  void search();

  /// The rows on a screen of `columns`, safe to display, with a mark of the cursor (`mark` around the
  /// character); at most `rows` around the cursor.
  std::vector<std::string> rows(std::size_t columns, std::size_t rows, std::string_view mark,
                                std::string_view unmark) const;

 private:
  struct Snapshot {
    std::string text;
    std::size_t cursor = 0;
    bool bang_typed = false;
  };

  void insert(std::string_view text);
  void type(std::string_view character);
  void erase(std::size_t from, std::size_t to);
  void keep();
  void undo();
  bool move(const Key& key);
  bool edit(const Key& key);
  bool vertical(bool up);
  void recall(std::size_t index);
  std::size_t left_of(std::size_t at) const;
  std::size_t right_of(std::size_t at) const;
  std::size_t word_left() const;
  std::size_t word_right() const;
  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;

  std::string text_;
  std::size_t cursor_ = 0;
  std::vector<std::string> pastes_;  ///< what the words `[paste 1: 12 lines]` stand for
  std::vector<Snapshot> before_;     ///< for undo
  std::vector<HistoryEntry> history_;
  std::size_t recalled_ = 0;  ///< index in the history; its size: what is being written
  HistoryEntry written_;      ///< while an entry of the history is shown
  bool bang_typed_ = false;   ///< of the text
  std::optional<std::string> sought_;
};

/// The end of a text in at most `most` bytes: a frame costs the same however long the text is.
std::string_view end_of(std::string_view text, std::size_t most);
/// Breaks safe text into rows of at most `columns`, at line feeds and anywhere; tabs become spaces.
std::vector<std::string> hard_rows(std::string_view safe, std::size_t columns);

}  // namespace praxis::tui
