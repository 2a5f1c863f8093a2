#include "cli/markdown.hpp"

#include <md4c.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/columns.hpp"
#include "cli/markdown_cells.hpp"
#include "cli/markdown_table.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMostColumns = 100;  ///< longer lines are hard to read
constexpr std::size_t kLeastColumns = 12;  ///< that quotes and lists leave for text
constexpr std::string_view kCodeIndent = "    ";

/// A quote, list or item around what is shown.
struct Holder {
  enum class Kind : std::uint8_t { kQuote, kList, kItem };
  Kind kind = Kind::kQuote;
  std::string mark;            ///< of an item, before its first line
  std::uint64_t next = 0;      ///< number of the next item of a list; 0: it has no numbers
  bool is_tight = false;       ///< a list without blank lines between its items
  bool mark_is_shown = false;  ///< the mark of the item stands above
};

std::string text_of(const MD_ATTRIBUTE& attribute) {
  return attribute.text == nullptr ? "" : std::string(attribute.text, attribute.size);
}

/// The characters that Markdown needs entities for; others stay as they were typed.
std::string_view character_of(std::string_view entity) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEntities{
      {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&nbsp;", " "}}};
  const auto found =
      std::ranges::find(kEntities, entity, &std::pair<std::string_view, std::string_view>::first);
  return found == kEntities.end() ? entity : found->second;
}

/// Turns the parts that the parser finds into lines.
class Renderer {
 public:
  explicit Renderer(std::size_t columns) : columns_(std::min(columns, kMostColumns)) {}

  std::string take() { return std::move(out_); }

  void enter(MD_BLOCKTYPE type, void* detail) {
    flush();
    switch (type) {
      case MD_BLOCK_QUOTE:
        holders_.emplace_back();
        break;
      case MD_BLOCK_UL:
        begin_list(0, static_cast<MD_BLOCK_UL_DETAIL*>(detail)->is_tight != 0);
        break;
      case MD_BLOCK_OL:
        begin_list(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start,
                   static_cast<MD_BLOCK_OL_DETAIL*>(detail)->is_tight != 0);
        break;
      case MD_BLOCK_LI:
        begin_item(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
        break;
      case MD_BLOCK_H:
        style_ = static_cast<MD_BLOCK_H_DETAIL*>(detail)->level == 1 ? kBold | kUnderlined : kBold;
        break;
      case MD_BLOCK_CODE:
        in_code_ = true;
        break;
      case MD_BLOCK_TABLE:
        table_ = {};
        break;
      case MD_BLOCK_TR:
        table_.rows.emplace_back();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        table_.note_column(table_.rows.back().size(),
                           static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align == MD_ALIGN_RIGHT);
        style_ = type == MD_BLOCK_TH ? kBold : 0;
        break;
      default:
        break;
    }
  }

  void leave(MD_BLOCKTYPE type) {
    switch (type) {
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        table_.rows.back().push_back(std::exchange(cells_, {}));
        style_ = 0;
        return;
      case MD_BLOCK_TABLE:
        write(table_.lines(room()));
        break;
      case MD_BLOCK_HR:
        rule();
        break;
      case MD_BLOCK_CODE:
        write_code();
        break;
      default:
        flush();
    }
    const bool holds =
        type == MD_BLOCK_QUOTE || type == MD_BLOCK_UL || type == MD_BLOCK_OL || type == MD_BLOCK_LI;
    if (holds && !holders_.empty()) end_holder();
    if (type == MD_BLOCK_H) style_ = 0;
  }

  void enter(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_A)
      addresses_.push_back({text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href), cells_.size()});
    if (type == MD_SPAN_IMG) {
      add_cells(cells_, "[image: ", style_);
      addresses_.push_back({text_of(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src), cells_.size()});
    }
    styles_.push_back(style_);
    style_ |= style_of(type);
  }

  void leave(MD_SPANTYPE type) {
    if (!styles_.empty()) {
      style_ = styles_.back();
      styles_.pop_back();
    }
    if (type == MD_SPAN_IMG) add_cells(cells_, "]", style_);
    if ((type != MD_SPAN_A && type != MD_SPAN_IMG) || addresses_.empty()) return;
    const auto [address, begin] = std::exchange(addresses_.back(), {});
    addresses_.pop_back();
    std::string text;
    for (std::size_t i = begin; i < cells_.size(); ++i) text += cells_[i].text;
    if (text != address) add_cells(cells_, " (" + address + ")", style_ | kFaint);
  }

  void add(MD_TEXTTYPE type, std::string_view text) {
    if (in_code_) {
      code_ += text;
    } else if (type == MD_TEXT_BR) {
      add_cells(cells_, "\n", style_);
    } else if (type == MD_TEXT_SOFTBR) {
      add_cells(cells_, " ", style_);
    } else if (type == MD_TEXT_NULLCHAR) {
      add_cells(cells_, "\xEF\xBF\xBD", style_);
    } else {
      add_cells(cells_, type == MD_TEXT_ENTITY ? character_of(text) : text, style_);
    }
  }

 private:
  static Style style_of(MD_SPANTYPE type) {
    switch (type) {
      case MD_SPAN_EM:
        return kItalic;
      case MD_SPAN_STRONG:
        return kBold;
      case MD_SPAN_CODE:
        return kCode;
      case MD_SPAN_DEL:
        return kStruck;
      case MD_SPAN_A:
        return kUnderlined;
      default:
        return 0;
    }
  }

  void begin_list(std::uint64_t first, bool is_tight) {
    Holder& list = holders_.emplace_back();
    list.kind = Holder::Kind::kList;
    list.next = first;
    list.is_tight = is_tight;
  }

  void begin_item(const MD_BLOCK_LI_DETAIL& item) {
    std::string mark = "\u2022 ";
    if (!holders_.empty() && holders_.back().next > 0) mark = std::to_string(holders_.back().next++) + ". ";
    if (item.is_task != 0) mark = item.task_mark == ' ' ? "[ ] " : "[x] ";
    Holder& entry = holders_.emplace_back();
    entry.kind = Holder::Kind::kItem;
    entry.mark = std::move(mark);
  }

  void end_holder() {
    const Holder ended = std::exchange(holders_.back(), {});
    holders_.pop_back();
    if (ended.kind == Holder::Kind::kItem && !ended.mark_is_shown && !ended.mark.empty()) {
      holders_.push_back(ended);  // an empty item
      line("");
      holders_.pop_back();
    }
    if (ended.kind == Holder::Kind::kList && !in_tight_list()) is_apart_ = true;
  }

  bool in_tight_list() const {
    const auto list = std::find_if(holders_.rbegin(), holders_.rend(),
                                   [](const Holder& holder) { return holder.kind == Holder::Kind::kList; });
    return list != holders_.rend() && list->is_tight;
  }

  /// What stands before a line, and how wide that is.
  std::pair<std::string, std::size_t> stem(bool with_marks) {
    std::string text;
    std::size_t used = 0;
    for (Holder& holder : holders_) {
      if (holder.kind == Holder::Kind::kList) continue;
      const std::size_t more = holder.kind == Holder::Kind::kQuote ? 2 : columns_of(holder.mark);
      if (used + more + kLeastColumns > columns_) break;  // deeper levels are not indented any further
      used += more;
      if (holder.kind == Holder::Kind::kQuote)
        text += "\x1b[2m\u2502\x1b[0m ";
      else if (with_marks && !holder.mark_is_shown)
        text += holder.mark;
      else
        text += std::string(more, ' ');
      if (with_marks) holder.mark_is_shown = true;
    }
    return {text, used};
  }

  std::size_t room() { return columns_ - std::min(columns_ - 1, stem(false).second); }

  void line(const std::string& text) {
    if (is_apart_ && !out_.empty()) {
      std::string empty = stem(false).first;
      empty.erase(empty.find_last_not_of(' ') + 1);
      out_ += empty + '\n';
    }
    is_apart_ = false;
    std::string before = stem(true).first;
    if (text.empty()) before.erase(before.find_last_not_of(' ') + 1);
    out_ += before + text + '\n';
  }

  /// The block is over: the next one stands apart, but for the items of a tight list.
  void end_block() { is_apart_ = !in_tight_list(); }

  void write(const std::vector<std::string>& lines) {
    for (const std::string& each : lines) line(each);
    end_block();
  }

  void flush() {
    if (cells_.empty()) return;
    const Cells text = std::exchange(cells_, {});
    std::vector<std::string> lines;
    for (const Cells& each : broken(text, room())) lines.push_back(styled(each));
    write(lines);
  }

  void write_code() {
    in_code_ = false;
    std::vector<std::string> lines;
    std::string_view rest = code_;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      lines.push_back(rendered_code_line(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    write(lines);
    code_.clear();
  }

  void rule() {
    std::string text = "\x1b[2m";
    for (std::size_t i = 0; i < room(); ++i) text += "\u2500";
    write({text + "\x1b[0m"});
  }

  struct Address {
    std::string text;
    std::size_t begin = 0;  ///< of the text that links to it
  };

  const std::size_t columns_;
  std::string out_;
  std::vector<Holder> holders_;
  Cells cells_;  ///< of the block that is open
  std::string code_;
  Table table_;
  Style style_ = 0;
  std::vector<Style> styles_;  ///< outside the spans that are open
  std::vector<Address> addresses_;
  bool in_code_ = false;
  bool is_apart_ = false;  ///< a blank line comes before the next line
};

Renderer& renderer(void* user) { return *static_cast<Renderer*>(user); }

}  // namespace

std::string rendered_code_line(std::string_view line) {
  Cells cells;
  add_cells(cells, kCodeIndent, 0);
  add_cells(cells, line, kCode);
  while (!cells.empty() && cells.back().text == " ") cells.pop_back();
  return styled(cells);
}

std::string rendered_markdown(std::string_view text, std::size_t columns) {
  MD_PARSER parser{};
  parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_NOHTML;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    return renderer(user).enter(type, detail), 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) { return renderer(user).leave(type), 0; };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
    return renderer(user).enter(type, detail), 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* user) { return renderer(user).leave(type), 0; };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* bytes, MD_SIZE size, void* user) {
    return renderer(user).add(type, {bytes, size}), 0;
  };
  Renderer lines(std::max(columns, kLeastColumns));
  const int failed = md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &parser, &lines);
  return failed != 0 ? std::string(text) : lines.take();
}

}  // namespace praxis::cli
