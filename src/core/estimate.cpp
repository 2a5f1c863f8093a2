// Estimates tokens in one pass over the runs that tokenizers split text into. The factors were fitted to the
// byte-pair vocabulary `o200k_base` on prose in nine scripts, code, JSON, Markdown and logs;
// estimate_test.cpp measures the accuracy.
#include <algorithm>
#include <array>

#include "praxis/core/history.hpp"

namespace praxis {
namespace {

/// The class of a character for a tokenizer. Scripts are distinguished if their words take different numbers
/// of tokens.
enum class Kind : std::uint8_t {
  kLower,
  kUpper,
  kCyrillic,
  kArabic,
  kIndic,
  kHangul,
  kKana,
  kHan,
  kDigit,
  kSpace,
  kNewline,
  kMark,
  kWideMark,  ///< punctuation beyond ASCII
  kSymbol,    ///< everything else, such as emoji
};

struct Character {
  Kind kind;
  std::uint8_t bytes;
};

constexpr Kind kind_of_ascii(unsigned char c) {
  if (c >= 'a' && c <= 'z') return Kind::kLower;
  if (c >= 'A' && c <= 'Z') return Kind::kUpper;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  if (c == '\n' || c == '\r') return Kind::kNewline;
  return c == ' ' || c == '\t' ? Kind::kSpace : Kind::kMark;
}

constexpr auto kAsciiKinds = [] {
  std::array<Kind, 0x80> kinds{};
  for (unsigned char c = 0; c < kinds.size(); ++c) kinds[c] = kind_of_ascii(c);
  return kinds;
}();

Kind kind_of_wide(std::uint32_t point) {
  struct Range {
    std::uint32_t first, last;
    Kind kind;
  };
  static constexpr Range kRanges[] = {
      {0xC0, 0x24F, Kind::kLower},       {0x370, 0x52F, Kind::kCyrillic},   {0x590, 0x8FF, Kind::kArabic},
      {0x900, 0x10FF, Kind::kIndic},     {0x1E00, 0x1EFF, Kind::kLower},    {0x2000, 0x206F, Kind::kWideMark},
      {0x3000, 0x303F, Kind::kWideMark}, {0x3040, 0x30FF, Kind::kKana},     {0x3400, 0x9FFF, Kind::kHan},
      {0xAC00, 0xD7AF, Kind::kHangul},   {0xFF00, 0xFFEF, Kind::kWideMark},
  };
  for (const Range& range : kRanges) {
    if (point >= range.first && point <= range.last) return range.kind;
  }
  return Kind::kSymbol;
}

/// Decodes the character at the front of `text`, which does not begin with ASCII.
Character front_wide(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  const std::uint8_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC0 || text.size() < bytes) return {Kind::kSymbol, 1};
  std::uint32_t point = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) point = point << 6U | (byte(i) & 0x3FU);
  return {kind_of_wide(point), bytes};
}

/// Decodes the character at the front of `text`, which is not empty. A byte that is not UTF-8 is a symbol.
inline Character front_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < kAsciiKinds.size() ? Character{kAsciiKinds[lead], 1} : front_wide(text);
}

/// Characters that a tokenizer treats together. A Latin word counts as `kLower`; a new run begins where a
/// capital follows a small letter.
struct Run {
  Kind kind;
  std::size_t bytes = 0;
  std::int64_t length = 0;  ///< characters
};

Run front_run(std::string_view text) {
  Run run{front_character(text).kind};
  Kind wanted = run.kind;
  for (; run.bytes < text.size(); ++run.bytes) {  // ASCII
    const auto byte = static_cast<unsigned char>(text[run.bytes]);
    if (byte >= kAsciiKinds.size()) break;
    if (wanted == Kind::kUpper && kAsciiKinds[byte] == Kind::kLower) wanted = Kind::kLower;
    if (kAsciiKinds[byte] != wanted) break;
  }
  run.length = static_cast<std::int64_t>(run.bytes);
  for (std::string_view rest = text.substr(run.bytes); !rest.empty(); ++run.length) {
    const Character next = front_character(rest);
    if (wanted == Kind::kUpper && next.kind == Kind::kLower) wanted = Kind::kLower;
    if (next.kind != wanted) break;
    rest.remove_prefix(next.bytes);
    run.bytes += next.bytes;
  }
  if (run.kind == Kind::kUpper) run.kind = Kind::kLower;
  return run;
}

/// Returns the tokens of a run in hundredths; `before` and `after` are the kinds of the adjacent runs.
std::int64_t cost_of(const Run& run, Kind before, Kind after) {
  const auto accents = static_cast<std::int64_t>(run.bytes) - run.length;  // in Latin words
  switch (run.kind) {
    case Kind::kLower:
    case Kind::kUpper:
      return 100 + std::max<std::int64_t>(run.length - 9, 0) * 65 + accents * 80;
    case Kind::kCyrillic:
      return 100 + run.length * 12;
    case Kind::kArabic:
      return 120 + run.length * 9;
    case Kind::kIndic:
      return 125 + run.length * 6;
    case Kind::kHangul:
      return 135 + run.length * 31;
    case Kind::kKana:
      return run.length * 77;
    case Kind::kHan:
      return run.length * 82;
    case Kind::kDigit:
      return (run.length + 2) / 3 * 100;
    case Kind::kSpace:  // a single one belongs to the word that follows
      return run.length > 1 || after == Kind::kDigit ? 100 : 0;
    case Kind::kNewline:  // joins the punctuation before it
      return before == Kind::kMark ? 0 : 100;
    case Kind::kMark: {
      const bool leads_word = run.length == 1 && after == Kind::kLower && before != Kind::kSpace;
      return leads_word ? 0 : 100 + (run.length - 1) * 20;
    }
    case Kind::kWideMark:
      return run.length * 100;
    case Kind::kSymbol:
      return run.length * 200;
  }
  return 0;
}

struct PartTokens {
  std::int64_t operator()(const TextPart& part) const { return estimate_tokens(part.text); }
  std::int64_t operator()(const ReasoningPart& part) const { return estimate_tokens(part.text); }
  std::int64_t operator()(const ToolCallPart& part) const {
    return 8 + estimate_tokens(part.name) + estimate_tokens(part.arguments);
  }
  std::int64_t operator()(const ToolResultPart& part) const {
    return 8 + estimate_tokens(part.text) + static_cast<std::int64_t>(part.images.size()) * kImageTokens;
  }
  std::int64_t operator()(const ImagePart&) const { return kImageTokens; }
  std::int64_t operator()(const FilePart& part) const {
    return static_cast<std::int64_t>(part.source.data.size() / 4);
  }
  std::int64_t operator()(const RefusalPart& part) const { return estimate_tokens(part.text); }
  std::int64_t operator()(const CompactionPart& part) const { return estimate_tokens(part.summary); }
  std::int64_t operator()(const OpaquePart& part) const {
    return part.vendor ? static_cast<std::int64_t>(part.vendor->raw.size() / 4) : 0;
  }

  static constexpr std::int64_t kImageTokens = 1'000;  // a typical photo at the vendors' default detail
};

}  // namespace

std::int64_t estimate_tokens(std::string_view text) {
  std::int64_t hundredths = 0;
  Kind before = Kind::kNewline;
  for (Run run = text.empty() ? Run{before} : front_run(text); !text.empty();) {
    text.remove_prefix(run.bytes);
    const Run next = text.empty() ? Run{Kind::kNewline} : front_run(text);
    hundredths += cost_of(run, before, next.kind);
    before = run.kind;
    run = next;
  }
  return (hundredths + 99) / 100;
}

std::int64_t estimate_tokens(const Message& message) {
  std::int64_t tokens = 4;  // role and separators
  for (const Part& part : message.parts) tokens += std::visit(PartTokens{}, part);
  return tokens;
}

}  // namespace praxis
