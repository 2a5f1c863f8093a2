#include "cli/help_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/columns.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kLeastDescription = 36;  ///< columns after an option
constexpr std::size_t kFarthest = 12;          ///< column at which a text may always begin

/// Words and, in the command of an example, whole quoted arguments.
std::vector<std::string> words_of(std::string_view text, bool keeps_quoted) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : text) {
    if (c == ' ' && quote == 0) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
      continue;
    }
    word += c;
    if (!keeps_quoted || (c != '"' && c != '\'')) continue;
    if (quote == 0) {
      quote = c;
    } else if (quote == c) {
      quote = 0;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

/// Puts words on lines of at most `columns`, the first after `line`, the others after `indent` spaces; `mark`
/// ends each line but the last.
std::string filled(std::string line, const std::vector<std::string>& words, std::size_t indent,
                   std::size_t columns, std::string_view mark = "") {
  std::string out;
  bool is_empty = true;  // of words
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t after = i + 1 < words.size() ? mark.size() : 0;
    const std::size_t needed = columns_of(line) + (is_empty ? 0 : 1) + columns_of(words[i]) + after;
    if (!is_empty && needed > columns) {
      out += line + std::string(mark) + '\n';
      line = std::string(indent, ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + words[i];
    is_empty = false;
  }
  return out + line + '\n';
}

/// Column of the description in a row of two columns; 0 for other lines.
std::size_t description_column(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == 0 || begin == std::string_view::npos) return 0;
  const auto gap = line.find("  ", begin);
  if (gap == std::string_view::npos)
    return begin > kFarthest ? begin : 0;  // an option too long for its column
  const auto text = line.find_first_not_of(' ', gap);
  return text == std::string_view::npos ? 0 : text;
}

std::string wrapped_line(std::string_view line, std::size_t columns) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t column = description_column(line);
  if (column == 0) {
    const bool is_usage = line.starts_with("Usage: ");
    return filled(std::string(begin, ' '), words_of(line, false), is_usage ? 7 : begin, columns);
  }
  const std::vector<std::string> words = words_of(line.substr(column), false);
  if (column <= kFarthest || columns >= column + kLeastDescription)
    return filled(std::string(line.substr(0, column)), words, column, columns);
  constexpr std::size_t kBelow = 6;
  const auto last = line.substr(0, column).find_last_not_of(' ');
  const std::string option =
      last == std::string_view::npos ? "" : std::string(line.substr(0, last + 1)) + '\n';
  return option + filled(std::string(kBelow, ' '), words, kBelow, columns);
}

}  // namespace

std::string wrapped_help(std::string_view text, std::size_t columns) {
  std::string out;
  bool in_examples = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || columns_of(line) <= columns) {
      out += std::string(line) + '\n';
    } else if (in_examples) {
      const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
      out += filled(std::string(begin, ' '), words_of(line, true), begin + 2, columns, " \\");
    } else {
      out += wrapped_line(line, columns);
    }
    if (!line.empty()) in_examples = line == "Examples:" || (in_examples && line.starts_with(' '));
  }
  return out;
}

}  // namespace praxis::cli
