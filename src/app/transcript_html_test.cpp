// The HTML form of a transcript: any text of a run is text in it, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/testing/hostile_texts.hpp"
#include "app/transcript.hpp"
#include "base/visible_text.hpp"

namespace praxis::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A strict reader of the XML that HTML and XML share; notes the first thing that does not belong there.
class StrictReader {
 public:
  explicit StrictReader(std::string_view page) : rest_(page) {
    if (visible_text(page) != page) refuse("a control or invisible character");
    if (!take("<!DOCTYPE html>\n")) refuse("no document type");
    read();
    if (error_.empty() && !open_.empty()) error_ = "not closed: " + open_.back();
    if (error_.empty() && roots_ != 1) error_ = "no single root";
  }
  const std::string& error() const { return error_; }
  const std::set<std::string>& elements() const { return elements_; }
  const std::set<std::string>& attributes() const { return attributes_; }
  const std::string& text() const { return text_; }

 private:
  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  void refuse(const std::string& why) {
    if (error_.empty()) error_ = why + " before: " + std::string(rest_.substr(0, 40));
    rest_ = {};
  }
  std::string name() {
    std::size_t size = 0;
    while (size < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[size])) || rest_[size] == '-'))
      ++size;
    const std::string found(rest_.substr(0, size));
    rest_.remove_prefix(size);
    if (found.empty()) refuse("no name");
    return found;
  }

  void read() {
    while (!rest_.empty()) {
      if (take("</")) {
        if (open_.empty() || name() != open_.back()) return refuse("another element is open");
        open_.pop_back();
        if (!take(">")) return refuse("not ended");
      } else if (take("<")) {
        read_tag();
      } else {
        read_text();
      }
    }
  }
  void read_tag() {
    const std::string element = name();
    elements_.insert(element);
    while (take(" ")) {
      attributes_.insert(name());
      if (!take("=\"")) return refuse("no value in quotes");
      const auto end = rest_.find('"');
      if (end == std::string_view::npos || rest_.substr(0, end).find_first_of("<&") != std::string_view::npos)
        return refuse("a value does not end");
      rest_.remove_prefix(end + 1);
    }
    if (open_.empty()) ++roots_;
    const bool is_empty = take("/");
    if (!take(">")) return refuse("not ended");
    if (!is_empty) open_.push_back(element);
  }
  void read_text() {
    static const std::vector<std::pair<std::string, char>> kEntities{
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    for (const auto& [entity, meaning] : kEntities) {
      if (take(entity)) {
        text_ += meaning;
        return;
      }
    }
    if (rest_[0] == '&' || rest_[0] == '>') return refuse("not escaped");
    if (open_.empty() && rest_[0] != '\n') return refuse("text outside");
    text_ += rest_[0];
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string error_, text_;
  std::vector<std::string> open_;
  std::set<std::string> elements_, attributes_;
  int roots_ = 0;
};

/// A transcript with `text` wherever a text of the run can stand.
Json transcript_of(const std::string& text) {
  const JsonArray content{JsonObject{{"type", "text"}, {"text", text}},
                          JsonObject{{"type", "reasoning"}, {"text", text}},
                          JsonObject{{"type", "refusal"}, {"text", text}},
                          JsonObject{{"type", "call"}, {"call", text}, {"tool", text}, {"arguments", text}},
                          JsonObject{{"type", "image"}, {"media_type", text}, {"url", text}},
                          JsonObject{{"type", "file"}, {"media_type", text}, {"name", text}, {"bytes", 5}}};
  const JsonArray media{JsonObject{{"type", "image"}, {"media_type", text}, {"name", text}}};
  JsonArray items{
      JsonObject{{"type", "turn"}, {"turn", text}, {"time", text}},
      JsonObject{{"type", "message"}, {"role", "user"}, {"source", text}, {"content", content}},
      JsonObject{{"type", "answer"}, {"step", 1}, {"content", content}, {"error", text}},
      JsonObject{{"type", "result"},
                 {"call", text},
                 {"tool", text},
                 {"outcome", text},
                 {"text", text},
                 {"media", media}},
      JsonObject{{"type", "result"}, {"call", "c"}, {"tool", "t"}, {"outcome", "error"}, {"error", text}},
      JsonObject{{"type", "agent"}, {"call", text}, {"agent", text}, {"run_id", text}},
      JsonObject{{"type", "agent_ended"}, {"run_id", text}, {"termination", text}, {"usage", JsonObject{}}},
      JsonObject{{"type", "waits"}, {"pending", text}, {"kind", text}, {"tool", text}, {"prompt", text}},
      JsonObject{{"type", "decision"},
                 {"pending", text},
                 {"call", ""},
                 {"verb", text},
                 {"text", text},
                 {"by", text}},
      JsonObject{
          {"type", "inner_call"}, {"call", text}, {"tool", text}, {"arguments", text}, {"within", text}},
      JsonObject{{"type", "command"}, {"verb", text}, {"text", text}, {"by", text}},
      JsonObject{{"type", "end"}, {"turn", text}, {"termination", text}, {"text", text}, {"error", text}}};
  return JsonObject{{"run_id", text}, {"agent", text},         {"model", text},
                    {"status", text}, {"usage", JsonObject{}}, {"items", std::move(items)}};
}

TEST(TranscriptHtml, HostileTextsAreTextAndNothingElse) {
  const StrictReader harmless(transcript_html(transcript_of("harmless")));
  ASSERT_EQ(harmless.error(), "");
  std::vector<std::string> texts = testing::hostile_texts();
  for (const char* text :
       {"<script>alert(1)</script>", "</p></section></body></html>", "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)", "<!-- ", "-->", "<![CDATA[", "]]>", "&lt;b&gt; &amp;amp; &#x3c;",
        "<?xml?>", "</style><style>body{display:none}</style>", "</title>",
        "<a href=\"https://example.org\">", "javascript:alert(1)", "\x01\x02\x1b[31m\x7f\xc2\x9b",
        "\xff\xfe invalid \xc3", "nul", "\u202Eright to left\u202C \u2067isolate\u2069 \u200F",
        "\uFFFE\uFFFF"})
    texts.emplace_back(text);
  texts.back().push_back('\0');
  for (const std::string& text : texts) {
    const std::string page = transcript_html(transcript_of(text));
    const StrictReader read(page);
    EXPECT_EQ(read.error(), "") << visible_text(text);
    EXPECT_EQ(read.elements(), harmless.elements()) << visible_text(text);
    EXPECT_EQ(read.attributes(), harmless.attributes()) << visible_text(text);
    EXPECT_THAT(read.text(), HasSubstr(visible_text(text)));
  }
}

TEST(TranscriptHtml, NeedsNothingElse) {
  const std::string page = transcript_html(transcript_of("harmless"));
  const StrictReader read(page);
  EXPECT_EQ(read.attributes(),
            (std::set<std::string>{"charset", "class", "content", "http-equiv", "lang", "name"}))
      << "no address, no handler of events, no style from texts";
  for (const char* element : {"script", "link", "img", "iframe", "a", "object"})
    EXPECT_FALSE(read.elements().contains(element)) << element;
  EXPECT_THAT(page, AllOf(Not(HasSubstr("url(")), Not(HasSubstr("@import")), Not(HasSubstr("http://")),
                          Not(HasSubstr("https://"))));
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), HasSubstr("prefers-color-scheme: dark"),
                          HasSubstr("color-scheme: light dark")));
}

TEST(TranscriptHtml, HasWhatMarkdownHas) {
  Json transcript = transcript_of("first");
  int number = 0;
  // Every text is another one.
  const std::function<void(Json&)> number_all = [&](Json& value) {
    if (auto* list = value.if_array()) {
      for (Json& each : *list) number_all(each);
    } else if (auto* members = value.if_object()) {
      for (auto& [key, each] : *members) number_all(each);
    } else if (value == Json("first")) {
      value = Json("text" + std::to_string(100 + number++));
    }
  };
  number_all(transcript);
  ASSERT_GT(number, 40);
  const std::string markdown = transcript_markdown(transcript);
  const StrictReader html(transcript_html(transcript));
  for (int i = 0; i < number; ++i) {
    const std::string text = "text" + std::to_string(100 + i);
    EXPECT_EQ(markdown.find(text) == std::string::npos, html.text().find(text) == std::string::npos) << text;
  }
  for (const char* words : {"Turn", "Assistant, step 1", "Call", "Result", "Waits", "Decision", "Command",
                            "Sub-agent", "Within", "Failed:", "Reasoning", "Refused:", "usage", "5 bytes"})
    EXPECT_THAT(html.text(), HasSubstr(words));
}

}  // namespace
}  // namespace praxis::app
