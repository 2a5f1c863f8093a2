#include "redact/detector.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/base/digest.hpp"
#include "redact/checks.hpp"
#include "redact/keywords.hpp"
#include "redact/text_bounds.hpp"

namespace praxis::redact {

/// One rule, compiled when it is first needed.
struct CompiledRule {
  const Rule* rule = nullptr;
  std::uint32_t rank = 0;
  bool personal = false;
  bool spans_spaces = false;
  bool needs_value = false;  ///< `has_value_near` must hold
  std::vector<std::string_view> words;
  mutable std::once_flag once;
  mutable std::unique_ptr<const re2::RE2> pattern;

  const re2::RE2& expression() const {
    std::call_once(once, [this] {
      re2::RE2::Options options;
      options.set_log_errors(false);
      options.set_longest_match(rule->form == Form::kNumber);
      options.set_encoding(re2::RE2::Options::EncodingLatin1);  // tool output is bytes
      pattern = std::make_unique<const re2::RE2>(full_pattern(*rule), options);
    });
    return *pattern;
  }
};

/// A find before overlapping ones are merged.
struct Candidate {
  Place place;
  std::uint32_t rank = 0;
};

namespace {

constexpr std::size_t kWindow = 1400;    // bytes that an expression sees
constexpr std::size_t kMostBefore = 90;  // bytes of a token before the word of a rule
constexpr std::size_t kNear = 48;        // bytes between a number and the word that says what it is
constexpr std::size_t kLeastRun = 24;    // shorter runs are no keys
constexpr std::size_t kMostDecoded = 8192;

std::vector<std::string_view> words_of(std::string_view words) {
  std::vector<std::string_view> out;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('|'), words.size());
    out.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return out;
}

std::vector<Place> merged(std::vector<Candidate>& found) {
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return a.place.begin != b.place.begin ? a.place.begin < b.place.begin : a.rank < b.rank;
  });
  std::vector<Place> out;
  std::uint32_t rank = 0;
  for (const Candidate& each : found) {
    if (out.empty() || each.place.begin >= out.back().end) {
      out.push_back(each.place);
      rank = each.rank;
      continue;
    }
    out.back().end = std::max(out.back().end, each.place.end);
    if (each.rank >= rank) continue;
    out.back().kind = each.place.kind;
    out.back().personal = each.place.personal;
    rank = each.rank;
  }
  return out;
}

/// Whether the token of a `kAround` rule can hold a slash before its word.
bool reaches_over_slash(const Rule& rule) {
  return rule.pattern.starts_with("[0-9]/") || rule.pattern.starts_with("[A-Za-z0-9+/]");
}

/// Whether a line or a word of lower-case letters ends at `at`, so that a number cannot reach over it.
bool ends_before_word(std::string_view text, std::size_t at) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const char c = text[at - 1];
  return c == '\n' || (is_lower(c) && !is_hex(c) && at < text.size() && is_lower(text[at]));
}

}  // namespace

// ---- the rules of a scope ------------------------------------------------------------------------------

std::vector<const Rule*> all_rules() {
  std::vector<const Rule*> out;
  for (const std::span<const Rule> table :
       {token_rules(), more_token_rules(), service_rules(), more_service_rules(), personal_context_rules(),
        personal_rules(), generic_rules()}) {
    for (const Rule& rule : table) out.push_back(&rule);
  }
  return out;
}

bool is_personal(const Rule& rule) {
  const auto in = [&](std::span<const Rule> table) {
    return &rule >= table.data() && &rule < table.data() + table.size();
  };
  return in(personal_rules()) || in(personal_context_rules());
}

std::string full_pattern(const Rule& rule) {
  std::string body(rule.pattern);
  constexpr std::string_view kUuid = "{uuid}";
  for (std::size_t at = 0; (at = body.find(kUuid, at)) != std::string::npos;)
    body.replace(at, kUuid.size(), "(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})");
  if (rule.form != Form::kAfterWord) return body;
  std::string words;
  for (const std::string_view word : words_of(rule.words))
    words.append(words.empty() ? "" : "|")
        .append(re2::RE2::QuoteMeta(re2::StringPiece(word.data(), word.size())));
  return "(?i:" + words + R"re()[\w.\- ]{0,40}?["'\]\)>]{0,3}[\s=:>,(|"'\-]{1,10}()re" + body +
         R"re()(?:[^A-Za-z0-9]|\z))re";
}

struct Detector::Compiled {
  std::deque<CompiledRule> rules;
  std::vector<std::vector<const CompiledRule*>> by_word;
  std::unique_ptr<const Keywords> keywords;
  std::vector<const CompiledRule*> numbers;
  std::unique_ptr<re2::RE2::Set> number_set;
  const CompiledRule* run = nullptr;
};

Detector::Detector(Scope scope) : scope_(scope) {
  auto compiled = std::make_unique<Compiled>();
  std::map<std::string_view, std::vector<const CompiledRule*>> by_word;
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  compiled->number_set = std::make_unique<re2::RE2::Set>(options, re2::RE2::ANCHOR_START);
  std::uint32_t rank = 0;
  for (const Rule* rule : all_rules()) {
    ++rank;
    const bool personal = is_personal(*rule);
    if (rule->least > scope.profile || !(personal ? scope.personal : scope.secrets)) continue;
    CompiledRule& one = compiled->rules.emplace_back();
    one.rule = rule;
    one.rank = rank;
    one.personal = personal;
    one.words = words_of(rule->words);
    one.spans_spaces = rule->form == Form::kInWord || rule->form == Form::kAfterWord ||
                       rule->pattern.contains("\\s") || rule->pattern.contains("[^");
    one.needs_value = rule->form == Form::kAfterWord || rule->kind == "credential" ||
                      (rule->kind == "password" && rule->check == Check::kCredential);
    if (rule->form == Form::kRun) {
      compiled->run = &one;
    } else if (rule->form == Form::kNumber) {
      compiled->number_set->Add(re2::StringPiece(rule->pattern.data(), rule->pattern.size()), nullptr);
      compiled->numbers.push_back(&one);
    } else {
      for (const std::string_view word : one.words) by_word[word].push_back(&one);
    }
  }
  compiled->number_set->Compile();
  std::vector<std::string_view> words;
  for (auto& [word, rules] : by_word) {
    words.push_back(word);
    compiled->by_word.push_back(std::move(rules));
  }
  compiled->keywords = std::make_unique<const Keywords>(words);
  compiled_ = std::move(compiled);
}

Detector::~Detector() = default;

std::shared_ptr<const Detector> Detector::shared(Scope scope) {
  static std::mutex mutex;
  // Never destroyed: threads that work for a session may need it until the process is gone.
  static auto& all = *new std::array<std::shared_ptr<const Detector>, 8>;
  const std::size_t at =
      (scope.profile == Profile::kStrict ? 4U : 0U) + (scope.secrets ? 2U : 0U) + (scope.personal ? 1U : 0U);
  const std::scoped_lock lock(mutex);
  if (!all.at(at)) all.at(at) = std::make_shared<const Detector>(scope);
  return all.at(at);
}

// ---- the search ----------------------------------------------------------------------------------------

/// The search of one text.
class Detector::Search {
 public:
  Search(const Compiled& compiled, Scope scope, std::string_view text, bool nested)
      : compiled_(compiled), scope_(scope), text_(text), nested_(nested) {}

  std::vector<Place> run() {
    compiled_.keywords->scan(text_, [this](const KeywordHit& hit) {
      std::optional<bool> has_value;
      for (const CompiledRule* rule : compiled_.by_word[hit.word]) {
        if (rule->needs_value && !has_value) has_value = has_value_near(text_.substr(hit.begin));
        if (!rule->needs_value || *has_value) try_at_word(*rule, hit.begin);
      }
    });
    if (!compiled_.numbers.empty()) scan_numbers();
    if (!nested_) {
      scan_runs();
      scan_escapes();
    }
    return merged(found_);
  }

 private:
  void try_at_word(const CompiledRule& rule, std::size_t at) {
    switch (rule.rule->form) {
      case Form::kAtWord:
        if (begins_token(text_, at)) match(rule, at);
        return;
      case Form::kAfterWord: {
        const bool inside = at > 0 && is_letter(text_[at - 1]) && !begins_token(text_, at);
        const bool camel = text_[at] >= 'A' && text_[at] <= 'Z' && at > 0 && text_[at - 1] >= 'a';
        if (!inside || camel) match(rule, at);
        return;
      }
      case Form::kAround:
        return match(rule, token_begin(text_, at, kMostBefore, reaches_over_slash(*rule.rule) ? '/' : '\0'));
      default:
        return match(rule, at);
    }
  }

  void match(const CompiledRule& rule, std::size_t begin) {
    const std::string_view window = text_.substr(begin, kWindow);
    std::array<re2::StringPiece, 2> groups;
    const re2::RE2& expression = rule.expression();
    const int count = std::min(expression.NumberOfCapturingGroups() + 1, 2);
    if (!expression.Match(re2::StringPiece(window.data(), window.size()), 0, window.size(),
                          re2::RE2::ANCHOR_START, groups.data(), count))
      return;
    const re2::StringPiece& value = count > 1 && groups[1].data() != nullptr ? groups[1] : groups[0];
    const std::size_t value_begin = static_cast<std::size_t>(value.data() - text_.data());
    std::size_t end = value_begin + value.size();
    if (end == begin + kWindow) {
      while (end < text_.size() && is_base64(text_[end])) ++end;
    } else if (end < text_.size() && end > value_begin && is_alnum(text_[end]) && is_alnum(text_[end - 1])) {
      return;
    }
    add(rule, value_begin, end);
  }

  void add(const CompiledRule& rule, std::size_t begin, std::size_t end) {
    const std::string_view value = text_.substr(begin, end - begin);
    if (rule.rule->entropy > 0 && entropy_of(value) < static_cast<double>(rule.rule->entropy)) return;
    if (!passes(rule.rule->check, value)) return;
    if (rule.rule->check == Check::kPrivateKey) end = key_block_end(text_, end);
    found_.push_back({{rule.rule->kind, begin, end, rule.personal}, rule.rank});
  }

  void scan_numbers() {
    for (std::size_t at = 0; at < text_.size();) {
      if (!is_digit(text_[at])) {
        ++at;
        continue;
      }
      std::size_t begin = at;
      while (begin > 0 && at - begin < 8 && is_alnum(text_[begin - 1]) && !begins_token(text_, begin))
        --begin;
      begin = begin_of_number(begin);
      if (begin > 0 && (text_[begin - 1] == '+' || text_[begin - 1] == '(')) --begin;
      const NumberShape shape = shape_at(text_, begin);
      std::size_t next = std::max(shape.first_end, at + 1);
      if (shape.promising) next = std::max(next, try_number(begin));
      at = next;
    }
  }

  /// Where a number whose first digits are at `begin` begins: with hexadecimal pairs, or two capitals and a
  /// space.
  std::size_t begin_of_number(std::size_t begin) const {
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    while (begin >= 3 && (text_[begin - 1] == ':' || text_[begin - 1] == '-') && is_hex(text_[begin - 2]) &&
           is_hex(text_[begin - 3]))
      begin -= 3;
    if (begin >= 3 && text_[begin - 1] == ' ' && is_capital(text_[begin - 2]) &&
        is_capital(text_[begin - 3]) && begins_token(text_, begin - 3))
      begin -= 3;
    if (begin >= 2 && text_[begin - 1] == '-' && is_capital(text_[begin - 2]) &&
        begins_token(text_, begin - 2))
      begin -= 2;
    return begin;
  }

  /// Returns the end of what is found at `begin`, or `begin`.
  std::size_t try_number(std::size_t begin) {
    const std::string_view window = text_.substr(begin, 2 * kNumberSpan);
    std::vector<int>& hits = hits_;
    if (!compiled_.number_set->Match(re2::StringPiece(window.data(), window.size()), &hits)) return begin;
    std::ranges::sort(hits);
    for (const int hit : hits) {
      const CompiledRule& rule = *compiled_.numbers[static_cast<std::size_t>(hit)];
      if (!rule.words.empty() && !is_word_near(rule, begin)) continue;
      re2::StringPiece value;
      if (!rule.expression().Match(re2::StringPiece(window.data(), window.size()), 0, window.size(),
                                   re2::RE2::ANCHOR_START, &value, 1))
        continue;
      const std::size_t end = begin + value.size();
      if (!ends_number(end)) continue;
      const std::size_t before = found_.size();
      add(rule, begin, end);
      if (found_.size() > before) return end;
    }
    return begin;
  }

  bool ends_number(std::size_t end) const {
    if (end >= text_.size()) return true;
    if (is_alnum(text_[end])) return false;
    const bool joins = std::string_view(".-:/").contains(text_[end]);
    return !joins || end + 1 >= text_.size() || !is_digit(text_[end + 1]);
  }

  bool is_word_near(const CompiledRule& rule, std::size_t begin) const {
    const std::size_t from = begin > kNear ? begin - kNear : 0;
    const std::string before = lower_case(text_.substr(from, begin - from));
    return std::ranges::any_of(rule.words, [&](std::string_view word) { return before.contains(word); });
  }

  /// Looks at each `kLeastRun`-th byte, which every long enough run has.
  void scan_runs() {
    for (std::size_t probe = kLeastRun - 1; probe < text_.size(); probe += kLeastRun) {
      if (!is_base64(text_[probe])) continue;
      std::size_t begin = probe;
      while (begin > 0 && probe - begin < kLeastRun && is_base64(text_[begin - 1])) --begin;
      if (probe - begin >= kLeastRun) continue;  // seen at the probe before
      std::size_t end = probe + 1;
      while (end < text_.size() && is_base64(text_[end])) ++end;
      if (end - begin < kLeastRun) continue;
      try_run(begin, end);
      probe = std::max(probe, end - (end - probe) % kLeastRun);
    }
  }

  void try_run(std::size_t begin, std::size_t end) {
    if (compiled_.run != nullptr && begin > 0 && is_whole_value(begin) && end - begin <= 200)
      match(*compiled_.run, begin);
    if (end - begin > kMostDecoded) return;
    if (!is_text(decoded_base64(text_.substr(begin, 8)))) return;  // most runs end here
    const std::string plain = decoded_base64(text_.substr(begin, end - begin));
    if (!is_text(plain)) return;
    const std::vector<Place> inner = Search(compiled_, scope_, plain, true).run();
    if (inner.empty()) return;
    while (end < text_.size() && text_[end] == '=') ++end;
    found_.push_back({{inner.front().kind, begin, end, inner.front().personal}, 0});
  }

  /// Searches each token with bytes that are encoded as in a URL once more, decoded.
  void scan_escapes() {
    for (std::size_t at = text_.find('%'); at < text_.size(); at = text_.find('%', at)) {
      const std::size_t begin = token_begin(text_, at, kMostDecoded, '/');
      std::size_t end = at + 1;
      while (end < text_.size() && end - begin < kMostDecoded && is_token_byte(text_[end])) ++end;
      at = end;
      const Unescaped plain = percent_decoded(text_.substr(begin, end - begin));
      if (plain.text.size() == end - begin) continue;
      for (const Place& place : Search(compiled_, scope_, plain.text, true).run())
        found_.push_back(
            {{place.kind, begin + plain.from[place.begin], begin + plain.from[place.end], place.personal},
             0});
    }
  }

  bool is_whole_value(std::size_t begin) const {
    const char before = text_[begin - 1];
    if (std::string_view("\"'`=").contains(before)) return true;
    return before == ' ' && begin > 1 && (text_[begin - 2] == ':' || text_[begin - 2] == '=');
  }

  static bool is_text(std::string_view bytes) {
    return !bytes.empty() && std::ranges::all_of(bytes, [](char c) {
      return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
    });
  }

  const Compiled& compiled_;
  const Scope scope_;
  const std::string_view text_;
  const bool nested_;
  std::vector<Candidate> found_;
  std::vector<int> hits_;  ///< kept for its memory
};

std::vector<Place> Detector::find(std::string_view text) const {
  return Search(*compiled_, scope_, text, false).run();
}

// ---- streams -------------------------------------------------------------------------------------------

std::size_t Detector::settled(std::string_view text) const {
  constexpr std::size_t kGap = 140;  // bytes between a word and a value that it explains
  std::size_t out = text.size() - compiled_->keywords->unfinished(text);
  std::size_t token = text.size();
  while (token > 0 && is_token_byte(text[token - 1])) --token;
  out = std::min(out, token);
  std::size_t number = text.size();
  bool has_digit = false;
  while (number > 0 && text.size() - number < 2 * kNumberSpan && !ends_before_word(text, number)) {
    --number;
    has_digit = has_digit || is_digit(text[number]) || text[number] == '(';
  }
  if (has_digit && !compiled_->numbers.empty()) out = std::min(out, number);
  compiled_->keywords->scan(text, [&](const KeywordHit& hit) {
    if (hit.begin >= out) return;
    const bool wide = std::ranges::any_of(compiled_->by_word[hit.word], &CompiledRule::spans_spaces);
    if (wide ? hit.end + kGap > text.size() : hit.end > token) out = hit.begin;
  });
  for (const Place& place : find(text)) {
    if (place.begin < out && place.end >= out) out = place.begin;
  }
  return out == text.size() ? out : token_begin(text, out, kMostBefore, '/');
}

// ---- replacement ---------------------------------------------------------------------------------------

std::string replacement(std::string_view kind, std::string_view value, std::string_view key) {
  std::string out = "[REDACTED:" + std::string(kind);
  if (!key.empty()) out += ':' + digest_chain(digest_of(key), value).hex(2);
  return out += ']';
}

std::string replaced(std::string_view text, const std::vector<Place>& places, std::string_view key) {
  std::string out;
  std::size_t at = 0;
  for (const Place& place : places) {
    out += text.substr(at, place.begin - at);
    out += replacement(place.kind, text.substr(place.begin, place.end - place.begin), key);
    at = place.end;
  }
  return out += text.substr(at);
}

}  // namespace praxis::redact
