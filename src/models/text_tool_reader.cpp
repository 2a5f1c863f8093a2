#include "models/text_tool_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace praxis::text_tools {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kOpen = "<tool_call>";
constexpr std::string_view kClose = "</tool_call>";
constexpr std::string_view kResult = "<tool_result";
constexpr std::string_view kFence = "```";

bool is_blank(std::string_view text) { return text.find_first_not_of(kSpace) == text.npos; }

std::size_t skip(std::string_view text, std::string_view set, std::size_t from = 0) {
  return std::min(text.find_first_not_of(set, from), text.size());
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Converts JSON to a call; `std::nullopt` if it is not a call.
std::optional<FoundCall> call_from(const Json& json) {
  FoundCall found{json_string(json, "name"), {}};
  if (found.name.empty()) return std::nullopt;
  const JsonObject& object = json.get_object();
  const auto* arguments = object.if_contains("arguments");
  if (arguments == nullptr) arguments = object.if_contains("parameters");
  if (arguments == nullptr) return found;
  const auto* text = arguments->if_string();  // the arguments were encoded twice
  found.arguments = text != nullptr ? std::string(*text) : to_json_text(*arguments);
  return found;
}

// ---- JSON repair ----------------------------------------------------------------------------------------

/// Copies JSON text, removing or adding characters until it is valid JSON.
class Mender {
 public:
  explicit Mender(std::string_view text) : text_(text) {}

  std::optional<Json> mend() {
    while (at_ < text_.size() && !complete_) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        if (!copy_string(c)) return std::nullopt;
      } else if (is_letter(c)) {
        copy_word();
      } else {
        copy_mark(c);
        ++at_;
      }
    }
    while (!closers_.empty()) close();
    auto json = parse_json(out_);
    return json ? std::optional(*std::move(json)) : std::nullopt;
  }

 private:
  void drop_comma() {
    const std::size_t end = out_.find_last_not_of(kSpace);
    if (end != out_.npos && out_[end] == ',') out_.resize(end);
  }

  void close() {
    drop_comma();
    out_ += closers_.back();
    closers_.pop_back();
  }

  /// A closing bracket closes the innermost open one, even if it is of the other kind.
  void copy_mark(char c) {
    if (c == '{' || c == '[') {
      out_ += c;
      closers_ += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (!closers_.empty()) close();
      complete_ = closers_.empty();
    } else {
      out_ += c;
    }
  }

  void copy_word() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPython{
        {{"True", "true"}, {"False", "false"}, {"None", "null"}}};
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    for (const auto& [python, json] : kPython) {
      if (word == python) word = json;
    }
    out_ += word;
  }

  bool copy_string(char quote) {
    std::string content;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        add_escape(content, text_[++at_]);
      } else if (text_[at_] == '"') {
        content += "\\\"";
      } else if (static_cast<unsigned char>(text_[at_]) < 0x20) {
        add_control(content, text_[at_]);
      } else {
        content += text_[at_];
      }
    }
    if (at_ == text_.size()) return false;
    ++at_;
    out_.append("\"").append(content).append("\"");
    return true;
  }

  static void add_escape(std::string& content, char escaped) {
    if (std::string_view("\"\\/bfnrtu").contains(escaped)) {
      content += '\\';
    } else if (escaped != '\'') {
      content += "\\\\";
    }
    content += escaped;
  }

  /// Escapes it like the JSON writer does.
  static void add_control(std::string& content, char control) {
    std::string quoted;
    append_json_string(quoted, std::string_view(&control, 1));
    content.append(quoted, 1, quoted.size() - 2);
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::string closers_;
  bool complete_ = false;
};

}  // namespace

std::optional<Json> mend_json(std::string_view text) { return Mender(text).mend(); }

// ---- reading -------------------------------------------------------------------------------------------

std::vector<Piece> CallReader::feed(std::string_view bytes) {
  if (mode_ == Mode::kDeaf) return {};
  buffer_ += bytes;
  read_all(false);
  return std::exchange(pieces_, {});
}

std::vector<Piece> CallReader::finish() {
  read_all(true);
  if (calls_ == 0 && !blank_.empty()) pieces_.emplace_back(std::exchange(blank_, {}));
  return std::exchange(pieces_, {});
}

void CallReader::read_all(bool last) {
  bool more = true;
  while (more && !buffer_.empty()) {
    switch (mode_) {
      case Mode::kText:
        more = read_text(last);
        break;
      case Mode::kTagged:
        more = read_tagged(last);
        break;
      case Mode::kFenced:
        more = read_fenced(last);
        break;
      case Mode::kDeaf:
        return buffer_.clear();
    }
  }
}

/// Whether a tag opens a call here. In prose that only mentions the tag, other text follows on the same line.
CallReader::Opening CallReader::tag_at(std::string_view text) const {
  if (!text.starts_with(kOpen)) return {kOpen.starts_with(text) ? Sign::kPerhaps : Sign::kNone};
  const std::string_view rest = text.substr(skip(text, " \t\r", kOpen.size()));
  if (rest.starts_with(kFence) || (!rest.empty() && std::string_view("{[\n").contains(rest.front()))) {
    return {Sign::kTag, kOpen.size()};
  }
  return {kFence.starts_with(rest) ? Sign::kPerhaps : Sign::kNone};
}

CallReader::Opening CallReader::opening_at(std::string_view text) const {
  if (text.starts_with('<')) {
    if (calls_ > 0 && text.starts_with(kResult)) return {Sign::kResult};
    const Opening tag = tag_at(text);
    const bool perhaps_result = calls_ > 0 && kResult.starts_with(text);
    return tag.sign == Sign::kNone && perhaps_result ? Opening{Sign::kPerhaps} : tag;
  }
  if (!text.starts_with(kFence)) return {kFence.starts_with(text) ? Sign::kPerhaps : Sign::kNone};
  std::size_t at = kFence.size();
  while (at < text.size() && is_letter(text[at])) ++at;
  at = skip(text, " \t\r", at);
  if (at == text.size()) return {Sign::kPerhaps};
  if (text[at] != '\n') return {Sign::kNone};
  at = skip(text, kSpace, at);
  if (at == text.size()) return {Sign::kPerhaps};
  if (text[at] == '{' || text[at] == '[') return {Sign::kFence, at};
  const Sign within = tag_at(text.substr(at)).sign;
  return {within == Sign::kTag ? Sign::kFencedTag : within, at};
}

bool CallReader::read_text(bool last) {
  if (in_fence_ && read_after_fenced(last)) return mode_ != Mode::kText || !in_fence_;
  std::size_t at = 0;
  Opening opening;
  for (; (at = buffer_.find_first_of("<`", at)) != buffer_.npos; ++at) {
    opening = opening_at(std::string_view(buffer_).substr(at));
    if (opening.sign == Sign::kPerhaps && !last) break;
    if (opening.sign != Sign::kNone && opening.sign != Sign::kPerhaps) break;
  }
  at = std::min(at, buffer_.size());
  say(std::string_view(buffer_).substr(0, at));
  buffer_.erase(0, at);
  if (buffer_.empty() || opening.sign == Sign::kPerhaps) return false;
  open(opening);
  return true;
}

/// After a fenced call: expects the end of the fence or another call. Returns whether the next element is
/// decided, or cannot be decided until more bytes arrive.
bool CallReader::read_after_fenced(bool last) {
  const std::size_t blank = skip(buffer_, kSpace);
  const std::string_view rest = std::string_view(buffer_).substr(blank);
  if (rest.starts_with(kFence)) {
    in_fence_ = false;
    close(blank + kFence.size());
    return true;
  }
  if (rest.starts_with('{')) {
    open({Sign::kFence, blank});
    return true;
  }
  return !last && kFence.starts_with(rest);
}

void CallReader::open(const Opening& opening) {
  switch (opening.sign) {
    case Sign::kResult:
      mode_ = Mode::kDeaf;
      warnings_.emplace_back("the model invented the result of its own call; the invented text was removed");
      return;
    case Sign::kFencedTag:
      in_fence_ = true;
      return close(opening.length);
    default:
      mode_ = opening.sign == Sign::kTag ? Mode::kTagged : Mode::kFenced;
      body_ = opening.length;
      follower_ = {};
  }
}

void CallReader::close(std::size_t length) {
  buffer_.erase(0, length);
  mode_ = Mode::kText;
}

/// Advances to the end of the call's JSON, as far as it has arrived.
void CallReader::follow(bool tagged) {
  const std::string_view body = std::string_view(buffer_).substr(body_);
  Follower& f = follower_;
  while (f.at < body.size() && !f.ended && !f.untied) {
    const char c = body[f.at];
    if (f.quote != 0) {
      if (c == '\\' && f.at + 1 == body.size()) return;
      if (c == f.quote) f.quote = 0;
      f.at += c == '\\' ? 2 : 1;
      continue;
    }
    if (tagged && c == '<') {
      const std::string_view rest = body.substr(f.at);
      f.untied = rest.starts_with(kClose);
      if (f.untied || kClose.starts_with(rest)) return;
    }
    if (c == '{' || c == '[') {
      f.begun = true;
      ++f.depth;
    } else if (f.begun && (c == '"' || c == '\'')) {
      f.quote = c;
    } else if (f.begun && (c == '}' || c == ']')) {
      f.ended = --f.depth == 0;
    }
    ++f.at;
  }
}

bool CallReader::read_tagged(bool last) {
  follow(true);
  const std::string_view body = std::string_view(buffer_).substr(body_);
  if (follower_.ended) {
    // A surplus bracket or the end of a fence may precede the end tag, which may itself be missing.
    const std::size_t after = skip(body, " \t\r\n}]`", follower_.at);
    const std::string_view rest = body.substr(after);
    if (!last && !rest.starts_with(kClose) && kClose.starts_with(rest)) return false;
    add_calls(body.substr(0, follower_.at));
    close(body_ + (rest.starts_with(kClose) ? after + kClose.size() : follower_.at));
    return true;
  }
  if (!follower_.untied && !last) return false;
  // The end tag may also be inside a string that was never closed.
  const std::size_t end = follower_.untied ? follower_.at : body.find(kClose);
  if (end == body.npos) {
    add_unreadable(body);
    close(buffer_.size());
  } else {
    add_calls(body.substr(0, end));
    close(body_ + end + kClose.size());
  }
  return true;
}

bool CallReader::read_fenced(bool last) {
  follow(false);
  if (!follower_.ended && !last) return false;
  const std::size_t length = follower_.ended ? body_ + follower_.at : buffer_.size();
  const std::string_view body = std::string_view(buffer_).substr(body_, follower_.at);
  const auto json = follower_.ended ? mend_json(body) : std::nullopt;
  if (json && is_offered(*json)) {
    add_calls(body);
    in_fence_ = true;
  } else {
    say(std::string_view(buffer_).substr(0, length));
  }
  close(length);
  return true;
}

/// Whether this is a call, or a list of calls, of known tools. Without tags this is the only criterion.
bool CallReader::is_offered(const Json& call) const {
  if (const JsonArray* list = call.if_array()) {
    return !list->empty() &&
           std::ranges::all_of(*list, [this](const Json& one) { return !one.is_array() && is_offered(one); });
  }
  const JsonObject* object = call.if_object();
  return object != nullptr && (object->contains("arguments") || object->contains("parameters")) &&
         std::ranges::find(tools_, json_text(call, "name")) != tools_.end();
}

void CallReader::say(std::string_view text) {
  if (!said_) {
    blank_ += text;
    if (is_blank(text)) return;
    said_ = true;
    in_fence_ = false;
    pieces_.emplace_back(std::exchange(blank_, {}));
  } else if (!text.empty()) {
    pieces_.emplace_back(std::string(text));
  }
}

void CallReader::add_call(FoundCall found) {
  ++calls_;
  said_ = false;
  blank_.clear();
  pieces_.emplace_back(std::move(found));
}

/// Adds an invalid call: with the name, as far as it could be read, if the text is not JSON, otherwise
/// without a name.
void CallReader::add_unreadable(std::string_view body) {
  const auto partial = parse_partial_json(body.substr(std::min(body.find('{'), body.size())));
  const std::string name = partial ? json_string(*partial, "name") : "";
  add_call({parse_json(body) ? "" : name, std::string(body)});
}

void CallReader::add_calls(std::string_view body) {
  const std::string_view text = body.substr(std::min(body.find_first_of("{["), body.size()));
  std::optional<Json> json;
  if (auto strict = parse_json(text)) {
    json = *std::move(strict);
  } else if ((json = mend_json(text))) {
    warnings_.emplace_back("a tool call in the model's text was not valid JSON and has been repaired");
  }
  JsonArray list;
  if (json) list = json->is_array() ? json->get_array() : JsonArray{*json};
  std::vector<FoundCall> found;
  for (const Json& one : list) {
    if (auto call = call_from(one)) found.push_back(*std::move(call));
  }
  if (found.empty() || found.size() != list.size()) return add_unreadable(body);
  for (FoundCall& call : found) add_call(std::move(call));
}

}  // namespace praxis::text_tools
