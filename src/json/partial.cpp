#include <algorithm>

#include "base/utf8.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

namespace {

// Scans a truncated text and notes how far it consists of complete values. The parser then decides whether
// the completed text is valid.
class Completion {
 public:
  explicit Completion(std::string_view text) : text_(text) {}

  /// Returns the text completed to a plausible JSON value; `std::nullopt` if that is impossible.
  std::optional<std::string> run() {
    while (at_ < text_.size()) {
      if (!read_token()) return std::nullopt;
    }
    std::string completed = std::move(open_string_).value_or(std::string(text_.substr(0, whole_)));
    completed.append(closers_.rbegin(), closers_.rend());
    return completed;
  }

 private:
  bool read_token() {
    const char c = text_[at_];
    switch (c) {
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        ++at_;
        return true;
      case '{':
      case '[':
        closers_ += c == '{' ? '}' : ']';
        expects_key_ = c == '{';
        whole_ = ++at_;
        return true;
      case '}':
      case ']':
        if (closers_.empty() || closers_.back() != c) return false;
        closers_.pop_back();
        whole_ = ++at_;
        return true;
      case ',':
        expects_key_ = !closers_.empty() && closers_.back() == '}';
        ++at_;
        return true;
      case ':':
        expects_key_ = false;
        ++at_;
        return true;
      case '"':
        read_string();
        return true;
      default:
        return read_word();
    }
  }

  void read_string() {
    std::size_t safe =
        ++at_;  // end of the showable part of an unfinished string: no partial escape or character
    while (at_ < text_.size() && text_[at_] != '"') {
      const std::size_t length = text_[at_] == '\\' ? escape_length() : utf8_step(text_.substr(at_)).length;
      const bool cut = at_ + length > text_.size() || !is_valid_utf8(text_.substr(at_, length));
      at_ = std::min(at_ + length, text_.size());
      if (!cut) safe = at_;
    }
    if (at_ < text_.size()) {
      ++at_;
      if (!expects_key_) whole_ = at_;
    } else if (!expects_key_) {
      open_string_.emplace(text_.substr(0, safe)) += '"';
    }
  }

  // Length in bytes of the escape at the back-slash. A leading surrogate counts together with the escape that
  // must follow it.
  std::size_t escape_length() const {
    if (text_.substr(at_, 2) != "\\u") return 2;
    const bool leads = text_.size() >= at_ + 4 && (text_[at_ + 2] | 0x20) == 'd' &&
                       std::string_view("89abAB").find(text_[at_ + 3]) != std::string_view::npos;
    return leads ? 12 : 6;
  }

  // Reads a number or a literal. If the end of the text may have cut it, keeps the part that is a value by
  // itself.
  bool read_word() {
    constexpr std::string_view kWord = "+-.0123456789Eaeflnrstu";
    const std::size_t end = std::min(text_.find_first_not_of(kWord, at_), text_.size());
    if (end == at_) return false;
    std::string_view word = text_.substr(at_, end - at_);
    if (end == text_.size()) {
      const bool number = word[0] < 'a';
      if (number) word = word.substr(0, word.find_last_not_of("+-.eE") + 1);
      if (!number && word != "true" && word != "false" && word != "null") word = {};
    }
    if (!word.empty()) whole_ = at_ + word.size();
    at_ = end;
    return true;
  }
  const std::string_view text_;
  std::size_t at_ = 0;
  // End of the last complete value or opening bracket.
  std::size_t whole_ = 0;
  // Closers of the open arrays and objects, outermost first.
  std::string closers_;
  bool expects_key_ = false;
  // When the end cut a string value: the text up to that value, with the string closed.
  std::optional<std::string> open_string_;
};

}  // namespace

std::optional<Json> parse_partial_json(std::string_view prefix) {
  if (prefix.size() > JsonLimits{}.max_bytes) return std::nullopt;
  const std::optional<std::string> completed = Completion(prefix).run();
  if (!completed) return std::nullopt;
  Result<Json> value = parse_json(*completed);
  if (!value) return std::nullopt;
  return std::move(*value);
}

}  // namespace praxis
