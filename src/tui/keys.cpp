#include "tui/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.hpp"

namespace praxis::tui {
namespace {

constexpr std::string_view kPasteBegin = "\x1b[200~", kPasteEnd = "\x1b[201~";
constexpr std::string_view kBackground = "\x1b]11;";  ///< begins the answer about the background
constexpr std::size_t kMostSequence = 64;             ///< bytes of a sequence; a longer one is not a key

/// Sequences after `ESC`, of the usual terminals.
constexpr std::array<std::pair<std::string_view, KeyKind>, 43> kSequences{
    {{"[A", KeyKind::kUp},           {"[I", KeyKind::kFocusIn},        {"[O", KeyKind::kFocusOut},
     {"OA", KeyKind::kUp},           {"[B", KeyKind::kDown},           {"OB", KeyKind::kDown},
     {"[C", KeyKind::kRight},        {"OC", KeyKind::kRight},          {"[D", KeyKind::kLeft},
     {"OD", KeyKind::kLeft},         {"[H", KeyKind::kHome},           {"OH", KeyKind::kHome},
     {"[1~", KeyKind::kHome},        {"[7~", KeyKind::kHome},          {"[F", KeyKind::kEnd},
     {"OF", KeyKind::kEnd},          {"[4~", KeyKind::kEnd},           {"[8~", KeyKind::kEnd},
     {"[3~", KeyKind::kDelete},      {"[1;5C", KeyKind::kWordRight},   {"[1;3C", KeyKind::kWordRight},
     {"[1;5D", KeyKind::kWordLeft},  {"[1;3D", KeyKind::kWordLeft},    {"[1;3A", KeyKind::kAltUp},
     {"[1;9A", KeyKind::kAltUp},     {"[1;3B", KeyKind::kAltDown},     {"[1;9B", KeyKind::kAltDown},
     {"b", KeyKind::kWordLeft},      {"f", KeyKind::kWordRight},       {"\r", KeyKind::kQueue},
     {"\n", KeyKind::kQueue},        {"[13;3u", KeyKind::kQueue},      {"[27;3;13~", KeyKind::kQueue},
     {"[13;2u", KeyKind::kNewLine},  {"[27;2;13~", KeyKind::kNewLine}, {"[13;5u", KeyKind::kQueue},
     {"[27;5;13~", KeyKind::kQueue}, {"[13u", KeyKind::kEnter},        {"OM", KeyKind::kEnter},
     {"[9u", KeyKind::kTab},         {"[27u", KeyKind::kEscape},       {"[127u", KeyKind::kBackspace},
     {"[Z", KeyKind::kTab}}};

constexpr auto kBytes = &std::pair<std::string_view, KeyKind>::first;

/// Whether the bytes are the answer about the background, or its beginning.
bool is_background(std::string_view bytes) {
  return bytes.size() > 1 && (bytes.starts_with(kBackground) || kBackground.starts_with(bytes));
}

/// The length of that answer, which ends with BEL or ESC and a backslash; 0: incomplete.
std::size_t background_length(std::string_view bytes) {
  const auto end = bytes.find_first_of("\x07\x1b", 1);
  if (end == std::string_view::npos) return bytes.size() > kMostSequence ? bytes.size() : 0;
  if (bytes[end] == '\x07') return end + 1;
  if (end + 1 == bytes.size()) return 0;
  return bytes[end + 1] == '\\' ? end + 2 : end;
}

/// The length of the sequence at the front of `bytes`, which begin with ESC; 0: incomplete.
std::size_t sequence_length(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  if (is_background(bytes)) return background_length(bytes);
  // The key Esc, and another one right after it.
  const bool is_control = static_cast<unsigned char>(bytes[1]) < 0x20;
  if (is_control && std::ranges::find(kSequences, bytes.substr(1, 1), kBytes) == kSequences.end()) return 1;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 1 + utf8_step(bytes.substr(1)).length;
  for (std::size_t at = 2; at < bytes.size(); ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (byte >= 0x40 && byte <= 0x7E) return at + 1;
    if (byte < 0x20 || byte > 0x7E) return at;  // not a sequence; what follows is read on its own
  }
  return bytes.size() > kMostSequence ? bytes.size() : 0;
}

void add_sequence(std::string_view sequence, std::vector<Key>& keys) {
  if (sequence.starts_with(kBackground)) {
    const std::string_view color = sequence.substr(kBackground.size());
    keys.push_back({KeyKind::kBackground, std::string(color.substr(0, color.find_first_of("\x07\x1b")))});
    return;
  }
  const std::string_view rest = sequence.substr(1);
  if (rest.empty()) return keys.push_back({KeyKind::kEscape});
  const auto known = std::ranges::find(kSequences, rest, kBytes);
  if (known != kSequences.end()) {
    keys.push_back({known->second});
  } else if (rest == "\x7f") {
    keys.push_back({KeyKind::kControl, "w"});
  } else if (!rest.empty() && rest.front() != '[' && rest.front() != 'O' && rest.front() >= ' ') {
    keys.push_back({KeyKind::kAlt, std::string(rest)});
  }
}

/// A control character; others than these do nothing.
void add_control(char byte, std::vector<Key>& keys) {
  switch (byte) {
    case '\r':
      return keys.push_back({KeyKind::kEnter});
    case '\n':
      return keys.push_back({KeyKind::kNewLine});
    case '\t':
      return keys.push_back({KeyKind::kTab});
    case '\b':
    case '\x7f':
      return keys.push_back({KeyKind::kBackspace});
    case '\x1f':
      return keys.push_back({KeyKind::kControl, "_"});
    default:
      if (byte >= 1 && byte <= 26)
        keys.push_back({KeyKind::kControl, std::string(1, static_cast<char>(byte + 'a' - 1))});
  }
}

}  // namespace

std::vector<Key> KeyReader::feed(std::string_view bytes) {
  std::vector<Key> keys;
  held_ += bytes;
  std::size_t done = 0;
  while (done < held_.size()) {
    const std::string_view rest = std::string_view(held_).substr(done);
    const std::size_t taken = pasting_ ? take_paste(rest, keys) : take(rest, keys);
    if (taken == 0) break;
    done += taken;
  }
  held_.erase(0, done);
  return keys;
}

std::vector<Key> KeyReader::flush() {
  std::vector<Key> keys;
  if (pasting_) return keys;
  if (held_.starts_with('\x1b') && !is_background(held_)) keys.push_back({KeyKind::kEscape});
  held_.clear();
  return keys;
}

/// Takes one key; returns the bytes of it, 0 if more must come.
std::size_t KeyReader::take(std::string_view bytes, std::vector<Key>& keys) {
  if (bytes.starts_with(kPasteBegin)) {
    pasting_ = true;
    return kPasteBegin.size();
  }
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first == 0x1B) {
    const std::size_t length = sequence_length(bytes);
    if (length > 0) add_sequence(bytes.substr(0, length), keys);
    return length;
  }
  if (first < 0x20 || first == 0x7F) {
    add_control(bytes.front(), keys);
    return 1;
  }
  const Utf8Step step = utf8_step(bytes);
  if (step.valid) {
    keys.push_back({KeyKind::kText, std::string(bytes.substr(0, step.length))});
    return step.length;
  }
  const bool may_continue = first >= 0xC2 && bytes.size() < 4 && step.length == bytes.size();
  return may_continue ? 0 : step.length;
}

/// Takes what is certainly within the paste; the end mark ends it.
std::size_t KeyReader::take_paste(std::string_view bytes, std::vector<Key>& keys) {
  const auto end = bytes.find(kPasteEnd);
  const bool ends = end != std::string_view::npos;
  const std::size_t sure = ends ? end : bytes.size() - std::min(bytes.size(), kPasteEnd.size() - 1);
  const std::size_t room = kMostPasted - std::min(pasted_.size(), kMostPasted);
  pasted_ += bytes.substr(0, std::min(sure, room));
  if (!ends) return sure;
  pasting_ = false;
  keys.push_back({KeyKind::kPaste, std::exchange(pasted_, {})});
  return end + kPasteEnd.size();
}

}  // namespace praxis::tui
