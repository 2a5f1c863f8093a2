// Keys from the bytes that a terminal sends. Pure: a caller feeds bytes and takes keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::tui {

enum class KeyKind : std::uint8_t {
  kText,  ///< one printable character
  kPaste,
  kEnter,
  kNewLine,  ///< Ctrl-J, or Enter with Shift
  kQueue,    ///< Enter with Alt
  kTab,
  kEscape,
  kBackspace,
  kDelete,
  kLeft,
  kRight,
  kUp,
  kDown,
  kHome,
  kEnd,
  kWordLeft,
  kWordRight,
  kAltUp,
  kAltDown,
  kControl,    ///< with Ctrl; `text` is the small letter
  kAlt,        ///< with Alt; `text` is the character
  kFocusIn,    ///< no key: the terminal is looked at
  kFocusOut,   ///< no key: another window is
  kBackground  ///< no key: the terminal's answer about its background; `text` is the colour
};

struct Key {
  KeyKind kind = KeyKind::kText;
  std::string text = {};
  bool operator==(const Key&) const = default;
};

/// Reads keys. Sequences that it does not know are dropped, so that no part of them is taken for text.
class KeyReader {
 public:
  static constexpr std::size_t kMostPasted = std::size_t{4} << 20U;  ///< bytes; the rest is dropped

  std::vector<Key> feed(std::string_view bytes);
  /// Whether the bytes so far may be the beginning of a key: `flush` when no more follow soon.
  bool is_incomplete() const { return !held_.empty() && !pasting_; }
  /// Takes what is incomplete for what it is so far: a lone escape for the key Esc.
  std::vector<Key> flush();

 private:
  std::size_t take(std::string_view bytes, std::vector<Key>& keys);
  std::size_t take_paste(std::string_view bytes, std::vector<Key>& keys);

  std::string held_;
  std::string pasted_;
  bool pasting_ = false;
};

}  // namespace praxis::tui
