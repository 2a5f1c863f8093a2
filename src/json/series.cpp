#include "json/series.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <utility>

namespace praxis {
namespace {

// Longer texts are rare and are not kept.
constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kMostDigits = 15;  // every number this short fits

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the length of the common prefix.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (std::uint64_t x, y; at + sizeof x <= most; at += sizeof x) {
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    if (x != y) break;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

bool needs_no_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/// Returns how many bytes at the front of `text` need no escape in a JSON string: ASCII without quotes,
/// back-slashes and control characters. Processes eight bytes at a time.
std::size_t plain_length(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x80 * kOnes;
  std::size_t at = 0;
  for (std::uint64_t x; at + sizeof x <= text.size(); at += sizeof x) {
    std::memcpy(&x, text.data() + at, sizeof x);
    const std::uint64_t quote = x ^ ('"' * kOnes), slash = x ^ ('\\' * kOnes);
    // Subtracting n from a byte below n borrows from its high bit; a byte whose high bit was clear has then
    // borrowed.
    const std::uint64_t odd =
        ((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) | (x - 0x20 * kOnes) | x;
    if ((odd & kHighs) != 0) break;
  }
  while (at < text.size() && needs_no_escape(text[at])) ++at;
  return at;
}

/// Whether both hold the same keys and kinds of values in the same order. Compares from the end, where the
/// events of one stream differ first.
bool same_shape(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return false;
  if (const auto* object = a.if_object()) {
    const auto same_member = [](const auto& x, const auto& y) {
      return x.key() == y.key() && same_shape(x.value(), y.value());
    };
    return std::ranges::equal(*object | std::views::reverse, b.get_object() | std::views::reverse,
                              same_member);
  }
  const auto* array = a.if_array();
  return array == nullptr ||
         std::ranges::equal(*array | std::views::reverse, b.get_array() | std::views::reverse, same_shape);
}

/// Returns the length of the number at the front of `text`; 0 if the parser has to read it.
std::size_t number_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const bool is_padded = length > 1 && text.front() == '0';
  return is_padded || length > kMostDigits ? 0 : length;
}

/// Returns the position of the quote that ends the string whose content begins at `at`; the text's size
/// without one.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at += plain_length(text.substr(at));
    if (at == text.size() || text[at] == '"') return at;
    at += text[at] == '\\' ? 2 : 1;
  }
  return text.size();
}

/// Returns the end of the string whose content begins at `begin`, or `std::nullopt` if it is invalid. A
/// string with escapes is parsed to `parsed`, which stays null for others.
std::optional<std::size_t> string_end(std::string_view text, std::size_t begin, Json& parsed) {
  const std::size_t plain_end = begin + plain_length(text.substr(begin));
  const std::size_t end = closing_quote(text, plain_end);
  if (end == text.size()) return std::nullopt;
  if (end == plain_end) return end;
  auto value = parse_json(text.substr(begin - 1, end - begin + 2));
  if (!value) return std::nullopt;
  parsed = *std::move(value);
  return end;
}

}  // namespace

/// Scans a text together with its value and collects the slots.
class JsonSeries::SlotFinder {
 public:
  SlotFinder(std::string_view text, std::vector<Slot>& slots) : text_(text), slots_(slots) {}

  /// Whether every value was found at its place. Fails for an object with a repeated key.
  bool find(Json& value) {
    skip_space();
    if (value.is_string()) return find_string(value);
    if (auto* object = value.if_object()) return find_members(*object);
    if (auto* array = value.if_array()) return find_elements(*array);
    if (at_ == text_.size() || std::string_view("\"{[").contains(text_[at_])) return false;
    const std::size_t begin = at_;
    while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
    if (value.is_int64() && number_length(text_.substr(begin)) == at_ - begin)
      slots_.push_back({begin, at_, &value});
    return true;
  }

 private:
  bool find_string(Json& value) {
    if (!take('"')) return false;
    const std::size_t begin = at_;
    at_ = closing_quote(text_, at_);
    slots_.push_back({begin, at_, &value});
    return take('"');
  }

  bool find_members(JsonObject& object) {
    if (!take('{')) return false;
    for (std::size_t n = 0; auto& member : object) {
      if (n++ > 0 && !take(',')) return false;
      skip_space();
      at_ = closing_quote(text_, at_ + 1) + 1;
      if (!take(':') || !find(member.value())) return false;
    }
    return take('}');
  }

  bool find_elements(JsonArray& array) {
    if (!take('[')) return false;
    for (std::size_t n = 0; Json & element : array) {
      if (n++ > 0 && !take(',')) return false;
      if (!find(element)) return false;
    }
    return take(']');
  }

  static bool ends_word(char c) { return c == ',' || c == ']' || c == '}' || is_space(c); }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool take(char expected) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  const std::string_view text_;
  std::vector<Slot>& slots_;
  std::size_t at_ = 0;
};

Result<const Json*> JsonSeries::parse(std::string_view text) {
  if (adapt(text)) return &value_;
  text_.clear();
  Result<Json> parsed = parse_json(text);
  if (!parsed) return fail(std::move(parsed.error()));
  take(*std::move(parsed), text);
  return &value_;
}

void JsonSeries::take(Json&& value, std::string_view text) {
  // Learning costs as much as parsing, so it waits for the second text of a shape: many events are the only
  // one of their shape.
  if (same_shape(value_, value)) return begin(std::move(value), text);
  adapted_ = false;
  text_.clear();
  value_ = std::move(value);
}

void JsonSeries::begin(Json&& value, std::string_view text) {
  adapted_ = false;
  text_.clear();
  value_ = std::move(value);
  learn(text);
}

bool JsonSeries::resembles(const Json& value) const { return same_shape(value_, value); }

bool JsonSeries::changed_only(std::span<const Json* const> values) const {
  const auto is_expected = [&](const Change& change) {
    return std::ranges::find(values, change.slot->value) != values.end();
  };
  return adapted_ && std::ranges::all_of(changes_, is_expected);
}

void JsonSeries::learn(std::string_view text) {
  slots_.clear();
  if (text.size() <= kMostBytes && SlotFinder(text, slots_).find(value_)) text_ = text;
}

bool JsonSeries::adapt(std::string_view text) {
  adapted_ = compare(text);
  if (!adapted_) return false;
  std::ptrdiff_t moved = 0;  // by how much the changes so far have lengthened the text
  auto change = changes_.begin();
  for (Slot& slot : slots_) {
    const std::size_t end = slot.end;
    slot.begin += static_cast<std::size_t>(moved);
    slot.end += static_cast<std::size_t>(moved);
    if (change == changes_.end() || change->slot != &slot) continue;
    slot.end = change->end;
    assign(text.substr(slot.begin, slot.end - slot.begin), *change);
    moved = static_cast<std::ptrdiff_t>(slot.end) - static_cast<std::ptrdiff_t>(end);
    ++change;
  }
  text_ = text;
  return true;
}

void JsonSeries::assign(std::string_view text, Change& change) {
  Json& value = *change.slot->value;
  if (!change.parsed.is_null()) {
    value = std::move(change.parsed);
  } else if (value.is_string()) {
    value.get_string().assign(text);
  } else {
    std::from_chars(text.data(), text.data() + text.size(), value.get_int64());
  }
}

/// Collects the values that differ in `text`. Returns false, having changed nothing, if anything else does.
bool JsonSeries::compare(std::string_view text) {
  if (text_.empty() || text.size() > kMostBytes) return false;
  changes_.clear();
  std::size_t known = 0, at = 0;  // how far both texts were compared
  for (auto slot = slots_.begin();; ++slot) {
    const std::size_t same = common_prefix(std::string_view(text_).substr(known), text.substr(at));
    known += same;
    at += same;
    if (known == text_.size() && at == text.size()) return true;
    while (slot != slots_.end() && slot->end < known) ++slot;
    if (slot == slots_.end() || known < slot->begin) return false;
    at -= known - slot->begin;
    Change change{&*slot, 0, nullptr};
    if (slot->value->is_string()) {
      const auto end = string_end(text, at, change.parsed);
      if (!end) return false;
      change.end = *end;
    } else {
      const std::size_t length = number_length(text.substr(at));
      if (length == 0) return false;
      change.end = at + length;
    }
    at = change.end;
    known = slot->end;
    changes_.push_back(std::move(change));
  }
}

Result<const Json*> JsonShapes::parse(std::string_view text) {
  // Texts tend to follow each other in the same order.
  const std::size_t expected = last_ < follower_.size() ? follower_[last_] : 0;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const std::size_t shape = (expected + i) % known_.size();
    if (known_[shape]->adapt(text)) return use(shape);
  }
  Result<Json> parsed = parse_json(text);
  if (!parsed) return fail(std::move(parsed.error()));
  std::size_t shape = 0;
  while (shape < known_.size() && !known_[shape]->resembles(*parsed)) ++shape;
  if (shape == known_.size()) {
    if (known_.size() < kMost) {
      known_.push_back(std::make_unique<JsonSeries>());
      follower_.push_back(shape);
    } else {
      shape = oldest_++ % kMost;
    }
  }
  known_[shape]->take(*std::move(parsed), text);
  return use(shape);
}

const Json* JsonShapes::use(std::size_t shape) {
  if (last_ < follower_.size()) follower_[last_] = shape;
  last_ = shape;
  return &known_[shape]->value();
}

}  // namespace praxis
