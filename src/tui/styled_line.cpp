#include "tui/styled_line.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

#include "base/columns.hpp"
#include "base/visible_text.hpp"

namespace praxis::tui {
namespace {

constexpr char kEscapeByte = '\x1b';
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::size_t kMostNumbers = 16;  ///< of one sequence

bool is_between(char c, char least, char most) { return c >= least && c <= most; }

/// The length of the escape sequence that `bytes` begin with. One that is not complete reaches to the end.
std::size_t escape_length(std::string_view bytes) {
  if (bytes.size() < 2) return bytes.size();
  const char kind = bytes[1];
  std::size_t at = 2;
  if (kind == '[') {
    while (at < bytes.size() && is_between(bytes[at], ' ', '?')) ++at;
    return std::min(at + 1, bytes.size());
  }
  if (std::string_view("]PX^_").contains(kind)) {  // a string, to BEL or ESC \ .
    for (; at < bytes.size(); ++at) {
      if (bytes[at] == '\x07') return at + 1;
      if (bytes[at] == kEscapeByte) return std::min(at + 2, bytes.size());
    }
    return at;
  }
  at = 1;
  while (at < bytes.size() && is_between(bytes[at], ' ', '/')) ++at;
  return std::min(at + 1, bytes.size());
}

/// The numbers of `ESC [ 1 ; 31 m`; an absent one is 0. Nothing for other sequences.
std::optional<std::vector<unsigned>> style_numbers(std::string_view sequence) {
  if (!sequence.starts_with("\x1b[") || !sequence.ends_with('m')) return std::nullopt;
  std::string_view rest = sequence.substr(2, sequence.size() - 3);
  std::vector<unsigned> numbers;
  while (true) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    unsigned number = 0;
    const auto [stop, failed] = std::from_chars(rest.data(), rest.data() + end, number);
    const bool is_number = end == 0 || (failed == std::errc() && stop == rest.data() + end);
    if (!is_number || numbers.size() == kMostNumbers) return std::nullopt;
    numbers.push_back(number);
    if (end == rest.size()) return numbers;
    rest.remove_prefix(end + 1);
  }
}

/// How many numbers the colour `38;5;N` or `38;2;R;G;B` takes at the front; 0 if it is another number.
std::size_t extended_color(const std::vector<unsigned>& numbers, std::size_t at) {
  const std::size_t left = numbers.size() - at;
  const std::size_t count = left < 2 ? 0 : numbers[at + 1] == 5 ? 3 : numbers[at + 1] == 2 ? 5 : 0;
  if (count == 0 || count > left) return 0;
  for (std::size_t i = at + 2; i < at + count; ++i)
    if (numbers[i] > 255) return 0;
  return count;
}

/// Not blinking (5, 6) and not concealed text (8): both hide what the line says.
bool is_plain_style(unsigned number) {
  const auto within = [&](unsigned least, unsigned most) { return number >= least && number <= most; };
  return within(0, 4) || number == 7 || number == 22 || number == 23 || number == 24 || number == 27 ||
         within(30, 37) || within(39, 47) || number == 49 || within(90, 97) || within(100, 107);
}

bool is_style(std::string_view sequence) {
  const auto numbers = style_numbers(sequence);
  if (!numbers) return false;
  for (std::size_t at = 0; at < numbers->size();) {
    const unsigned number = (*numbers)[at];
    const std::size_t taken = number == 38 || number == 48 ? extended_color(*numbers, at)
                              : is_plain_style(number)     ? 1
                                                           : 0;
    if (taken == 0) return false;
    at += taken;
  }
  return true;
}

std::string safe_text(std::string_view bytes) {
  std::string text = visible_text(bytes);
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace

std::string styled_line(std::string_view output, std::size_t columns, KeepStyles keep) {
  std::string_view rest = output.substr(0, output.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  std::string line;
  std::size_t used = 0;
  bool is_styled = false;
  while (!rest.empty()) {
    const std::size_t text_end = std::min(rest.find(kEscapeByte), rest.size());
    const std::string text = safe_text(rest.substr(0, text_end));
    const std::string_view fits = first_columns(text, columns - used);
    line += fits;
    used += columns_of(fits);
    rest.remove_prefix(text_end);
    if (fits.size() < text.size()) break;
    const std::string_view sequence = rest.substr(0, escape_length(rest));
    if (keep == KeepStyles::kYes && is_style(sequence)) {
      line += sequence;
      is_styled = true;
    }
    rest.remove_prefix(sequence.size());
  }
  if (is_styled) line += kReset;
  return line;
}

}  // namespace praxis::tui
