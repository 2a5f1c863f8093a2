#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/markdown.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMostIndent = 3;  ///< of a line that is not a block of code

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// The fence with which a line begins or ends a block of code: at least three of one character.
std::string_view fence_in(std::string_view line) {
  line.remove_prefix(indent_of(line));
  const char mark = line.empty() ? ' ' : line.front();
  if (mark != '`' && mark != '~') return {};
  const std::size_t length = std::min(line.find_first_not_of(mark), line.size());
  const bool is_inline = mark == '`' && line.find('`', length) != std::string_view::npos;
  return length < 3 || is_inline ? std::string_view() : line.substr(0, length);
}

bool ends_fence(std::string_view line, const std::string& fence) {
  const std::string_view found = fence_in(line);
  return found.size() >= fence.size() && found.front() == fence.front() &&
         is_blank(line.substr(indent_of(line) + found.size()));
}

/// Whether a line after a blank one can belong to what is above: of a list item or a block of code.
bool can_continue(std::string_view line) { return indent_of(line) >= 2 || line.starts_with('\t'); }

}  // namespace

std::string MarkdownStream::feed(std::string_view piece) {
  line_ += filter_.feed(piece);
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = line_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take_line(std::string_view(line_).substr(begin, end - begin), out);
  line_.erase(0, begin);
  return out;
}

std::string MarkdownStream::finish() {
  line_ += filter_.finish();
  std::string out;
  if (!line_.empty()) take_line(std::exchange(line_, {}), out);
  end_part(out);
  fence_.clear();
  is_code_shown_ = after_blank_ = has_shown_ = false;
  return out;
}

void MarkdownStream::take_line(std::string_view line, std::string& out) {
  if (!fence_.empty()) return take_code_line(line, out);
  if (is_blank(line)) {
    if (!part_.empty()) part_ += '\n';
    after_blank_ = true;
    return;
  }
  if (after_blank_ && !can_continue(line)) end_part(out);
  after_blank_ = false;
  fence_ = fence_in(line);
  // A block of code in a list or quote belongs to it; another is shown line by line.
  if (!fence_.empty() && indent_of(line) <= kMostIndent && (part_.empty() || !can_continue(line))) {
    end_part(out);
    if (has_shown_) out += '\n';
    has_shown_ = is_code_shown_ = true;
    return;
  }
  part_.append(line).append("\n");
}

void MarkdownStream::take_code_line(std::string_view line, std::string& out) {
  const bool is_end = ends_fence(line, fence_);
  if (is_end) fence_.clear();
  if (!is_code_shown_) {
    part_.append(line).append("\n");
  } else if (is_end) {
    is_code_shown_ = false;
  } else {
    out += rendered_code_line(line) + '\n';
  }
}

void MarkdownStream::end_part(std::string& out) {
  const std::string shown = rendered_markdown(std::exchange(part_, {}), columns_);
  if (shown.empty()) return;
  if (has_shown_) out += '\n';
  has_shown_ = true;
  out += shown;
}

std::string for_screen(const Terminal& terminal, std::string_view text) {
  if (!terminal.out) return std::string(text);
  if (!terminal.out_color) return visible_text(text);
  MarkdownStream markdown(terminal_size(STDOUT_FILENO).columns);
  const std::string shown = markdown.feed(text);
  return shown + markdown.finish();
}

}  // namespace praxis::cli
