// Token estimate: one pass that counts what tokenizers split on. Factors are round numbers that fit common
// byte-pair vocabularies on English prose and code.
#include "praxis/core/history.hpp"

namespace praxis {
namespace {

enum class Class : std::uint8_t { kLetter, kDigit, kSpace, kNewline, kMark, kOther };

Class classify(unsigned char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Class::kLetter;
  if (c >= '0' && c <= '9') return Class::kDigit;
  if (c == '\n' || c == '\r') return Class::kNewline;
  if (c == ' ' || c == '\t') return Class::kSpace;
  return c < 0x80 ? Class::kMark : Class::kOther;
}

/// Tokens of a run of `length` bytes of one class, in hundredths.
std::int64_t run_cost(Class kind, std::int64_t length) {
  switch (kind) {
    case Class::kLetter:
      return length <= 7 ? 100 : 100 + (length - 7) * 100 / 5;
    case Class::kDigit:
      return (length + 2) / 3 * 100;
    case Class::kSpace:
      return length == 1 ? 0 : 100;  // a single space belongs to the word that follows
    case Class::kNewline:
      return 100;
    case Class::kMark:
      return 100 + (length - 1) * 50;
    case Class::kOther:
      return length * 40;  // two bytes a Cyrillic or Greek letter, three a Chinese character
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
  for (std::size_t i = 0; i < text.size();) {
    const Class kind = classify(static_cast<unsigned char>(text[i]));
    std::size_t end = i + 1;
    while (end < text.size() && classify(static_cast<unsigned char>(text[end])) == kind) ++end;
    hundredths += run_cost(kind, static_cast<std::int64_t>(end - i));
    i = end;
  }
  return (hundredths + 99) / 100;
}

std::int64_t estimate_tokens(const Message& message) {
  std::int64_t tokens = 4;  // role and separators
  for (const Part& part : message.parts) tokens += std::visit(PartTokens{}, part);
  return tokens;
}

}  // namespace praxis
