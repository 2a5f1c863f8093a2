// A transcript as one HTML file, which is also well-formed XML: no script, nothing from elsewhere, and all
// text of the run is escaped, with control characters and marks of direction made visible.
#include <string>
#include <string_view>
#include <utility>

#include "app/transcript.hpp"
#include "app/transcript_text.hpp"
#include "app/values.hpp"
#include "base/visible_text.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kHtmlHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<style>
:root { color-scheme: light dark; --text: #1d2127; --page: #ffffff; --soft: #5c6672; --line: #d7dce2;
  --code: #f4f6f8; --user: #eaf2fd; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e2e6eb; --page: #15181c; --soft: #98a2ae; --line: #333a43; --code: #1e2329; --user: #1b2a3f;
    --bad: #ff897d; }
}
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem; color: var(--text); background: var(--page);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; }
h2 { font-size: 1.05rem; margin-top: 2.2rem; padding-top: 0.6rem; border-top: 1px solid var(--line); }
h3 { font-size: 0.9rem; color: var(--soft); margin: 1.4rem 0 0.3rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; }
p, pre { margin: 0.4rem 0; white-space: pre-wrap; }
pre { padding: 0.6rem 0.8rem; background: var(--code); border-radius: 0.4rem; font: 0.85rem/1.45 ui-monospace, monospace; }
code { font-family: ui-monospace, monospace; font-size: 0.9em; }
.user { padding: 0.1rem 0.8rem; background: var(--user); border-radius: 0.4rem; }
.note { color: var(--soft); }
.failed { color: var(--bad); }
</style>
)";

/// Builds the page from the items of a transcript.
class HtmlTranscript {
 public:
  std::string page(const Json& transcript) {
    const std::string title = "Run " + json_string(transcript, "run_id");
    out_ = kHtmlHead;
    element("title", title);
    out_ += "</head>\n<body>\n";
    element("h1", title);
    out_ += "<dl>\n";
    for (const char* key : {"agent", "model", "status"}) term(key, json_string(transcript, key));
    term("usage", show_usage(usage_from_json(json_at(transcript, "usage"))));
    out_ += "</dl>\n";
    for (const Json& each : transcript.at("items").as_array()) item(each);
    return std::move(out_) + "</body>\n</html>\n";
  }

 private:
  void element(std::string_view name, std::string_view text, std::string_view style = "") {
    out_ += "<" + std::string(name);
    if (!style.empty()) out_ += " class=\"" + std::string(style) + "\"";
    out_ += ">" + visible_xml(text) + "</" + std::string(name) + ">\n";
  }
  void term(std::string_view name, std::string_view text) {
    element("dt", name);
    element("dd", text);
  }
  /// One line: what it is in bold, then the rest.
  void line(std::string_view what, std::string_view rest, std::string_view style = "") {
    out_ += style.empty() ? "<p>" : "<p class=\"" + std::string(style) + "\">";
    out_ += "<strong>" + visible_xml(what) + "</strong>" + visible_xml(rest) + "</p>\n";
  }
  void paragraph(const std::string& text, std::string_view style = "") {
    const auto end = text.find_last_not_of(" \n\t\r");
    if (end != std::string::npos) element("p", std::string_view(text).substr(0, end + 1), style);
  }
  void failure(const Json& of) {
    const std::string error = json_string(of, "error");
    if (!error.empty()) line("Failed:", " " + error, "failed");
  }

  void call(const Json& of) {
    line("Call", " " + json_string(of, "tool") + " (" + json_string(of, "call") + ")");
    element("pre", to_json_text(json_at(of, "arguments")));
  }

  void content(const Json& parts) {
    if (!parts.is_array()) return;
    for (const Json& part : parts.get_array()) {
      const std::string type = json_string(part, "type"), text = json_string(part, "text");
      if (type == "text") paragraph(text);
      if (type == "reasoning") {
        line("Reasoning", "", "note");
        paragraph(text, "note");
      }
      if (type == "refusal") line("Refused:", " " + text, "failed");
      if (type == "call") call(part);
      if (type == "image" || type == "file") element("p", media_label(part), "note");
    }
  }

  void result(const Json& of) {
    line("Result", " of " + json_string(of, "tool") + " (" + result_label(of) + ")");
    const std::string text = json_string(of, "text"), error = json_string(of, "error");
    if (!text.empty()) element("pre", text);
    if (!error.empty() && error != text) element("pre", error, "failed");
    const Json& media = json_at(of, "media");
    if (!media.is_array()) return;
    for (const Json& one : media.get_array()) element("p", media_label(one), "note");
  }

  void message(const Json& of) {
    const bool is_user = json_string(of, "role") == "user";
    out_ += is_user ? "<section class=\"user\">\n" : "<section>\n";
    element("h3", role_label(of));
    content(json_at(of, "content"));
    out_ += "</section>\n";
  }

  void item(const Json& of) {
    const std::string type = json_string(of, "type");
    if (type == "turn") {
      element("h2", turn_label(of));
    } else if (type == "message") {
      message(of);
    } else if (type == "answer") {
      element("h3", "Assistant, step " + std::to_string(json_int(of, "step")));
      content(json_at(of, "content"));
      failure(of);
    } else if (type == "result") {
      result(of);
    } else if (type == "end") {
      element("p", json_string(of, "turn") + ": " + json_string(of, "termination"), "note");
      paragraph(json_string(of, "text"));
      failure(of);
    } else {
      note(of, type);
    }
  }

  void note(const Json& of, std::string_view type) {
    const std::string run = json_string(of, "run_id"), verb = json_string(of, "verb");
    if (type == "inner_call") {
      element("p", "Within " + json_string(of, "within") + ":", "note");
      call(of);
    } else if (type == "agent") {
      line("Sub-agent",
           " " + json_string(of, "agent") + " (" + json_string(of, "call") + "): praxis show " + run);
    } else if (type == "agent_ended") {
      line("Sub-agent", " " + run + ": " + json_string(of, "termination") + ", " +
                            show_usage(usage_from_json(json_at(of, "usage"))));
    } else if (type == "waits") {
      const std::string tool = json_string(of, "tool");
      line("Waits", " (" + json_string(of, "pending") + ", " + json_string(of, "kind") + ")" +
                        (tool.empty() ? "" : " for " + tool) + ": " + json_string(of, "prompt"));
    } else if (type == "decision") {
      const std::string pending = json_string(of, "pending");
      line("Decision", " on " + (pending.empty() ? json_string(of, "call") : pending) + by_label(of) + ": " +
                           verb + said_label(of));
    } else if (type == "command") {
      const std::string text = json_string(of, "text");
      line("Command", by_label(of) + ": " + verb + (text.empty() ? "" : ' ' + text));
    }
  }

  std::string out_;
};

}  // namespace

std::string transcript_html(const Json& transcript) { return HtmlTranscript().page(transcript); }

}  // namespace praxis::app
