// Finds the functions of a C++ source that clang-format has laid out, and their length, without a compiler.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::testing {

struct FunctionSize {
  std::string head;  ///< up to the body, on one line
  std::size_t first_line = 0, lines = 0;
};

/// Returns the end of the comment, literal or preprocessor line that begins at `at`; `at` if none begins
/// there.
inline std::size_t end_of_literal(const std::string& text, std::size_t at) {
  const auto behind = [&](const std::string& mark, std::size_t from) {
    const std::size_t found = text.find(mark, from);
    return found == std::string::npos ? text.size() : found + mark.size();
  };
  const char c = text[at];
  const auto in_word = [&] {
    return at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0);
  };
  if (text.compare(at, 2, "//") == 0) return behind("\n", at) - 1;
  if (text.compare(at, 2, "/*") == 0) return behind("*/", at + 2);
  if (text.compare(at, 2, "R\"") == 0 && !in_word()) {
    const std::size_t open = text.find('(', at);
    return behind(")" + text.substr(at + 2, open - at - 2) + "\"", open);
  }
  if (c == '"' || (c == '\'' && !in_word())) {  // not the mark between digits
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2U : 1U;
    return end + 1;
  }
  if (c == '#' && text.find_last_not_of(" \t", at - 1) == text.rfind('\n', at)) {
    std::size_t end = text.find('\n', at);
    while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
    return std::min(end, text.size());
  }
  return at;
}

/// Replaces comments, preprocessor lines and literals by spaces; keeps line ends.
inline std::string without_literals(const std::string& text) {
  std::string out = '\n' + text;
  for (std::size_t at = 1; at < out.size();) {
    const std::size_t end = std::min(end_of_literal(out, at), out.size());
    for (std::size_t i = at; i < end; ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
  return out.substr(1);
}

/// Reads a source from brace to brace. A function is a head with parameters and without `=`, followed by a
/// body, outside of other functions.
class FunctionScan {
 public:
  explicit FunctionScan(const std::string& text) : text_(without_literals(text)) {}

  std::vector<FunctionSize> run() {
    for (at_ = 0; at_ < text_.size(); ++at_) take(text_[at_]);
    return std::move(found_);
  }

 private:
  enum class Block { kScope, kFunction, kNested };
  struct Open {
    Block block;
    FunctionSize function;
  };

  void take(char c) {
    if (c == '\n') ++line_;
    if (c == '(' || c == '[') ++parentheses_;
    if (c == ')' || c == ']') --parentheses_;
    if (c == '{') return open();
    if (c == '}') return close();
    if (c == ';' && parentheses_ == 0) return forget_head();
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && head_.empty()) head_line_ = line_;
    if (!head_.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) head_ += c == '\n' ? ' ' : c;
  }

  /// A brace right behind a word or in parentheses belongs to a value.
  void open() {
    const bool value = parentheses_ > 0 || (at_ > 0 && text_[at_ - 1] != ' ' && text_[at_ - 1] != '\n');
    const Block block =
        value || inside(Block::kFunction) || inside(Block::kNested) ? Block::kNested : kind_of_head();
    blocks_.push_back({block, {head_, head_line_, 0}});
    if (!value) forget_head();
  }

  void close() {
    if (blocks_.empty()) return;
    Open open = std::move(blocks_.back());
    blocks_.pop_back();
    if (open.block == Block::kFunction) {
      open.function.lines = line_ - open.function.first_line + 1;
      found_.push_back(std::move(open.function));
    }
    if (open.block != Block::kNested) forget_head();
  }

  Block kind_of_head() const {
    static const std::regex scope(
        R"(^(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b[^()]*$)");
    static const std::regex parameters(R"(^[^=(]*(operator\s*\S+\s*)?\()");
    static const std::regex named_scope(
        R"(\bnamespace( [\w:]+)? *$)");  // maybe behind a macro without a semicolon
    if (head_.empty() || std::regex_search(head_, scope) || std::regex_search(head_, named_scope))
      return Block::kScope;
    return std::regex_search(head_, parameters) ? Block::kFunction : Block::kNested;
  }
  bool inside(Block block) const {
    for (const Open& open : blocks_) {
      if (open.block == block) return true;
    }
    return false;
  }
  void forget_head() { head_.clear(); }

  const std::string text_;
  std::size_t at_ = 0, line_ = 1, head_line_ = 1;
  int parentheses_ = 0;
  std::string head_;
  std::vector<Open> blocks_;
  std::vector<FunctionSize> found_;
};

inline std::vector<FunctionSize> function_sizes(const std::string& text) { return FunctionScan(text).run(); }

}  // namespace praxis::testing
