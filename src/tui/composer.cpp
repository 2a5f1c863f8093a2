#include "tui/composer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/columns.hpp"
#include "base/utf8.hpp"
#include "base/visible_text.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostUndo = 200;
constexpr std::size_t kMostText = std::size_t{8} << 20U;  ///< bytes
constexpr std::string_view kPrompt = "> ", kIndent = "  ";

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// Valid text with line feeds and tabs as its only control characters.
std::string usable(std::string_view text) {
  std::string out;
  const std::string valid = repair_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const bool ends_line = c == '\r' && (i + 1 == valid.size() || valid[i + 1] != '\n');
    if (ends_line) out += '\n';
    if (c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f')) out += c;
  }
  return out;
}

std::string paste_word(std::size_t number, std::string_view text) {
  return fmt::format("[paste {}: {} lines]", number, std::ranges::count(text, '\n') + 1);
}

}  // namespace

std::string Composer::text() const {
  std::string out = text_;
  for (std::size_t i = 0; i < pastes_.size(); ++i) {
    const std::string word = paste_word(i + 1, pastes_[i]);
    if (const auto at = out.find(word); at != std::string::npos) out.replace(at, word.size(), pastes_[i]);
  }
  return out;
}

void Composer::set(std::string_view text, HistoryKind kind) {
  text_.clear();
  pastes_.clear();
  before_.clear();
  cursor_ = 0;
  recalled_ = history_.size();
  sought_.reset();
  paste(text);
  bang_typed_ = kind == HistoryKind::kShellCommand;
}

void Composer::paste(std::string_view text) {
  std::string clean = usable(text);
  const bool folds = std::ranges::count(clean, '\n') >= static_cast<std::ptrdiff_t>(kFoldLines);
  if (!folds) return insert(clean);
  pastes_.push_back(std::move(clean));
  insert(paste_word(pastes_.size(), pastes_.back()));
}

void Composer::insert(std::string_view text) {
  if (text_.size() + text.size() > kMostText) return;
  keep();
  if (cursor_ == 0 && !text.empty()) bang_typed_ = false;
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void Composer::type(std::string_view character) {
  const bool is_first = cursor_ == 0;
  insert(character);
  if (is_first && cursor_ > 0) bang_typed_ = character == "!";
}

void Composer::erase(std::size_t from, std::size_t to) {
  if (from >= to) return;
  keep();
  if (from == 0) bang_typed_ = false;
  text_.erase(from, to - from);
  cursor_ = from;
}

void Composer::replace_before_cursor(std::size_t begin, std::string_view with) {
  if (begin > cursor_ || text_.size() + with.size() > kMostText) return;
  keep();
  if (begin == 0) bang_typed_ = false;
  text_.replace(begin, cursor_ - begin, with);
  cursor_ = begin + with.size();
}

void Composer::keep() {
  if (before_.size() >= kMostUndo) before_.erase(before_.begin());
  before_.push_back({text_, cursor_, bang_typed_});
}

void Composer::undo() {
  if (before_.empty()) return;
  text_ = std::move(before_.back().text);
  cursor_ = before_.back().cursor;
  bang_typed_ = before_.back().bang_typed;
  before_.pop_back();
}

bool Composer::press(const Key& key) {
  if (!(key == Key{KeyKind::kControl, "r"})) sought_.reset();
  return move(key) || edit(key);
}

bool Composer::move(const Key& key) {
  switch (key.kind) {
    case KeyKind::kLeft:
      cursor_ = left_of(cursor_);
      return true;
    case KeyKind::kRight:
      cursor_ = right_of(cursor_);
      return true;
    case KeyKind::kWordLeft:
      cursor_ = word_left();
      return true;
    case KeyKind::kWordRight:
      cursor_ = word_right();
      return true;
    case KeyKind::kHome:
      cursor_ = line_begin(cursor_);
      return true;
    case KeyKind::kEnd:
      cursor_ = line_end(cursor_);
      return true;
    case KeyKind::kUp:
    case KeyKind::kDown:
      return vertical(key.kind == KeyKind::kUp);
    default:
      return false;
  }
}

bool Composer::edit(const Key& key) {
  switch (key.kind) {
    case KeyKind::kText:
      type(key.text);
      return true;
    case KeyKind::kPaste:
      paste(key.text);
      return true;
    case KeyKind::kNewLine:
      insert("\n");
      return true;
    case KeyKind::kBackspace:
      erase(left_of(cursor_), cursor_);
      return true;
    case KeyKind::kDelete:
      erase(cursor_, right_of(cursor_));
      return true;
    case KeyKind::kControl:
      break;
    default:
      return false;
  }
  switch (key.text.empty() ? ' ' : key.text.front()) {
    case 'a':
      cursor_ = line_begin(cursor_);
      return true;
    case 'e':
      cursor_ = line_end(cursor_);
      return true;
    case 'k':
      erase(cursor_, std::max(line_end(cursor_), std::min(cursor_ + 1, text_.size())));
      return true;
    case 'u':
      erase(line_begin(cursor_), cursor_);
      return true;
    case 'w':
      erase(word_left(), cursor_);
      return true;
    case 'p':
    case 'n':
      return vertical(key.text == "p");
    case 'r':
      search();
      return true;
    case '_':
      undo();
      return true;
    default:
      return false;
  }
}

/// Moves within the text, and from its first and last line into the history.
bool Composer::vertical(bool up) {
  const std::size_t begin = line_begin(cursor_), end = line_end(cursor_);
  const std::size_t column = columns_of(visible_text(std::string_view(text_).substr(begin, cursor_ - begin)));
  if (up && begin == 0) {
    if (recalled_ > 0) recall(recalled_ - 1);
    return true;
  }
  if (!up && end == text_.size()) {
    if (recalled_ < history_.size()) recall(recalled_ + 1);
    return true;
  }
  const std::size_t other = up ? line_begin(begin - 1) : end + 1;
  const std::string_view line = std::string_view(text_).substr(other, line_end(other) - other);
  cursor_ = other + first_columns(line, column).size();
  return true;
}

void Composer::recall(std::size_t index) {
  if (recalled_ == history_.size()) written_ = {text(), kind()};
  const bool is_written = index == history_.size();
  const HistoryEntry shown = is_written ? written_ : history_[index];
  set(shown.text, shown.kind);
  recalled_ = index;
}

void Composer::remember(std::string sent, HistoryKind kind) {
  if (history_.empty() || history_.back().text != sent || history_.back().kind != kind)
    history_.push_back({std::move(sent), kind});
  if (history_.size() > kMostHistory) history_.erase(history_.begin());
  recalled_ = history_.size();
}

void Composer::search() {
  const std::string wanted = sought_.value_or(text_);
  for (std::size_t i = std::min(recalled_, history_.size()); i > 0; --i) {
    if (history_[i - 1].text.find(wanted) == std::string::npos) continue;
    recall(i - 1);
    sought_ = wanted;
    return;
  }
}

// ---- places in the text -----------------------------------------------------------------------------------

/// Before the character left of `at`, with its marks.
std::size_t Composer::left_of(std::size_t at) const {
  std::size_t place = line_begin(at);
  if (place == at) return at == 0 ? 0 : at - 1;
  for (;;) {
    const std::size_t next = right_of(place);
    if (next >= at) return place;
    place = next;
  }
}

std::size_t Composer::right_of(std::size_t at) const {
  if (at >= text_.size()) return text_.size();
  at += utf8_step(std::string_view(text_).substr(at)).length;
  while (at < text_.size()) {
    const std::size_t length = utf8_step(std::string_view(text_).substr(at)).length;
    const std::string_view next = std::string_view(text_).substr(at, length);
    if (next == "\n" || next == "\t" || columns_of(next) != 0) break;
    at += length;
  }
  return at;
}

std::size_t Composer::word_left() const {
  std::size_t at = cursor_;
  while (at > 0 && is_blank(text_[at - 1])) --at;
  while (at > 0 && !is_blank(text_[at - 1])) --at;
  return at;
}

std::size_t Composer::word_right() const {
  std::size_t at = cursor_;
  while (at < text_.size() && is_blank(text_[at])) ++at;
  while (at < text_.size() && !is_blank(text_[at])) ++at;
  return at;
}

std::size_t Composer::line_begin(std::size_t at) const {
  if (at == 0) return 0;
  const auto feed = text_.rfind('\n', at - 1);
  return feed == std::string::npos ? 0 : feed + 1;
}

std::size_t Composer::line_end(std::size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

// ---- on the screen ----------------------------------------------------------------------------------------

std::string_view end_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  text.remove_prefix(text.size() - most);
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U) text.remove_prefix(1);
  return text;
}

std::vector<std::string> hard_rows(std::string_view safe, std::size_t columns) {
  std::vector<std::string> rows(1);
  std::size_t used = 0;
  while (!safe.empty()) {
    const std::size_t length = utf8_step(safe).length;
    const std::string_view character = safe.substr(0, length);
    safe.remove_prefix(length);
    if (character == "\n") {
      rows.emplace_back();
      used = 0;
      continue;
    }
    const std::size_t wide = character == "\t" ? 1 : columns_of(character);
    if (used + wide > columns && used > 0) {
      rows.emplace_back();
      used = 0;
    }
    rows.back() += character == "\t" ? " " : character;
    used += wide;
  }
  return rows;
}

std::vector<std::string> Composer::rows(std::size_t columns, std::size_t rows, std::string_view mark,
                                        std::string_view unmark) const {
  const std::size_t room = columns > kPrompt.size() + 1 ? columns - kPrompt.size() : 1;
  const auto shown_part = [this](std::size_t from, std::size_t to) {
    std::string part = visible_text(std::string_view(text_).substr(from, to - from));
    std::ranges::replace(part, '\t', ' ');
    return part;
  };
  const std::size_t next = right_of(cursor_);
  std::string under = shown_part(cursor_, next);
  const bool at_end = under.empty() || under == "\n";
  if (at_end) under = " ";
  const std::string after = shown_part(at_end ? cursor_ : next, text_.size());
  std::vector<std::string> all = hard_rows(shown_part(0, cursor_), room);
  std::size_t used = columns_of(all.back());
  if (used + columns_of(under) > room && used > 0) {
    all.emplace_back();
    used = 0;
  }
  const std::size_t row = all.size() - 1;
  all.back().append(mark).append(under).append(unmark);
  used = std::min(used + columns_of(under), room);
  const std::string_view line = std::string_view(after).substr(0, after.find('\n'));
  const std::string_view same = first_columns(line, room - used);  // what fits on the row of the cursor
  all.back() += same;
  std::string_view rest = std::string_view(after).substr(same.size());
  const bool breaks = rest.starts_with('\n');
  if (breaks) rest.remove_prefix(1);
  if (breaks || !rest.empty()) std::ranges::move(hard_rows(rest, room), std::back_inserter(all));
  const std::size_t first = row >= rows ? row - rows + 1 : 0;
  std::vector<std::string> shown;
  for (std::size_t i = first; i < std::min(all.size(), first + rows); ++i)
    shown.push_back(std::string(i == 0 ? kPrompt : kIndent) + all[i]);
  return shown;
}

}  // namespace praxis::tui
