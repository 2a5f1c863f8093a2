#include "tools/visible_text.hpp"

#include "base/utf8.hpp"

namespace praxis {

namespace {

/// Whether the sequence is U+0080 to U+009F, or a direction mark or override: U+200E, U+200F, U+202A to
/// U+202E, U+2066 to U+2069.
bool is_hidden_control(std::string_view sequence) {
  if (sequence.size() == 2) return sequence[0] == '\xC2' && sequence[1] < '\xA0';
  if (sequence.size() != 3 || sequence[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(sequence[2]);
  if (sequence[1] == '\x80') return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
  return sequence[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
}

/// Appends the symbol of a control character: U+2400 plus its number, or U+2421 for DEL.
void add_picture(std::string& out, char control) {
  out += "\xE2\x90";
  out += control == '\x7F' ? '\xA1' : static_cast<char>(0x80 + control);
}

}  // namespace

std::string visible_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = utf8_step(bytes);
    const std::string_view sequence = bytes.substr(0, step.length);
    bytes.remove_prefix(step.length);
    const char first = sequence.front();
    const bool is_control =
        step.valid && step.length == 1 && (static_cast<unsigned char>(first) < 0x20 || first == '\x7F');
    if (!step.valid || is_hidden_control(sequence)) {
      out += kReplacementCharacter;
    } else if (first == '\r' && bytes.starts_with('\n')) {
      continue;
    } else if (is_control && first != '\n' && first != '\t') {
      add_picture(out, first);
    } else {
      out += sequence;
    }
  }
  return out;
}

}  // namespace praxis
