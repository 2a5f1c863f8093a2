// The columns that we count, compared with those that a terminal emulator uses, for every character.
#include <gtest/gtest.h>

#include "base/columns.hpp"
#include "base/visible_text.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

std::string utf8_of(char32_t c) {
  std::string out;
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0U | (c >> 6U)), static_cast<char>(0x80U | (c & 0x3FU))};
  if (c >= 0x10000) {
    out += static_cast<char>(0xF0U | (c >> 18U));
    out += static_cast<char>(0x80U | ((c >> 12U) & 0x3FU));
  } else {
    out += static_cast<char>(0xE0U | (c >> 12U));
  }
  out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
  return out += static_cast<char>(0x80U | (c & 0x3FU));
}

/// The column of the cursor after `a` and the character.
std::size_t shown_columns(VTerm* terminal, const std::string& character) {
  const std::string bytes =
      "\x1b[2J\x1b[H"
      "a" +
      character;
  vterm_input_write(terminal, bytes.data(), bytes.size());
  VTermPos at;
  vterm_state_get_cursorpos(vterm_obtain_state(terminal), &at);
  return static_cast<std::size_t>(at.col) - 1;
}

// A count that is too low would leave ghosts when a line is drawn again. Too high, it cuts a line early. The
// emulator's tables are older than ours: it does not know that some marks take no column.
TEST(ColumnsOfATerminal, AreNotMoreThanCounted) {
  VTerm* terminal = vterm_new(4, 80);
  vterm_set_utf8(terminal, 1);
  vterm_screen_reset(vterm_obtain_screen(terminal), 1);
  std::size_t more = 0, fewer = 0, all = 0;
  std::string examples;
  for (char32_t c = 0x20; c < 0x30000; ++c) {
    const bool is_private = c >= 0xE000 && c < 0xF900;
    if (c == 0x7F || (c >= 0xD800 && c < 0xE000) || is_private || is_invisible(c)) continue;
    const std::size_t shown = shown_columns(terminal, utf8_of(c)), counted = columns_of(c);
    ++all;
    fewer += shown < counted ? 1 : 0;
    if (shown <= counted || counted == 0) continue;
    ++more;
    if (examples.size() < 200) examples += ' ' + std::to_string(static_cast<std::uint32_t>(c));
  }
  vterm_free(terminal);
  RecordProperty("fewer", static_cast<int>(fewer));
  EXPECT_EQ(more, 0U) << examples;
  EXPECT_LT(fewer, all / 50);
}

}  // namespace
}  // namespace praxis::testing
