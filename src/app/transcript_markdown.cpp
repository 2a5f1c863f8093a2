#include <algorithm>
#include <string>
#include <string_view>

#include "app/transcript.hpp"
#include "app/transcript_text.hpp"
#include "app/values.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis::app {
namespace {

/// A code block whose fence is longer than any in the text.
std::string block(std::string_view text, std::string_view language = "") {
  std::size_t longest = 2, length = 0;
  for (const char c : text) {
    length = c == '`' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  const std::string fence(longest + 1, '`');
  std::string out = fence + std::string(language) + '\n' + std::string(text);
  if (!text.ends_with('\n')) out += '\n';
  return out + fence + "\n\n";
}

std::string paragraph(std::string_view text) {
  const auto end = text.find_last_not_of(" \n\t\r");
  return end == std::string_view::npos ? "" : std::string(text.substr(0, end + 1)) + "\n\n";
}

std::string call_text(const Json& call) {
  return "**Call** `" + json_string(call, "tool") + "` (" + json_string(call, "call") + ")\n\n" +
         block(to_json_text(json_at(call, "arguments")), "json");
}

std::string content_text(const Json& content) {
  std::string out;
  if (!content.is_array()) return out;
  for (const Json& part : content.get_array()) {
    const std::string type = json_string(part, "type");
    const std::string text = json_string(part, "text");
    if (type == "text") out += paragraph(text);
    if (type == "reasoning") out += "*Reasoning*\n\n" + paragraph(text);
    if (type == "refusal") out += "*Refused:* " + paragraph(text);
    if (type == "call") out += call_text(part);
    if (type == "image" || type == "file") out += media_label(part) + "\n\n";
  }
  return out;
}

std::string result_text(const Json& item) {
  std::string out = "**Result** of `" + json_string(item, "tool") + "` (" + result_label(item) + ")\n\n";
  const std::string text = json_string(item, "text"), error = json_string(item, "error");
  if (!text.empty()) out += block(text);
  if (!error.empty() && error != text) out += block(error);
  const Json& media = json_at(item, "media");
  if (!media.is_array()) return out;
  for (const Json& one : media.get_array()) out += media_label(one) + "\n\n";
  return out;
}

std::string text_of_rest(const Json& item, std::string_view type) {
  const std::string text = json_string(item, "text");
  if (type == "inner_call") return "Within " + json_string(item, "within") + ":\n\n" + call_text(item);
  if (type == "agent") {
    const std::string id = json_string(item, "run_id");
    return "**Sub-agent** " + json_string(item, "agent") + " (" + json_string(item, "call") +
           "): `praxis show " + id + "`\n\n";
  }
  if (type == "agent_ended") {
    return "**Sub-agent** " + json_string(item, "run_id") + ": " + json_string(item, "termination") + ", " +
           show_usage(usage_from_json(json_at(item, "usage"))) + "\n\n";
  }
  if (type == "waits") {
    const std::string tool = json_string(item, "tool");
    return "**Waits** (" + json_string(item, "pending") + ", " + json_string(item, "kind") + ")" +
           (tool.empty() ? "" : " for `" + tool + "`") + ": " + paragraph(json_string(item, "prompt") + ' ');
  }
  if (type == "decision") {
    const std::string pending = json_string(item, "pending");
    return "**Decision** on " + (pending.empty() ? json_string(item, "call") : pending) + by_label(item) +
           ": " + json_string(item, "verb") + said_label(item) + "\n\n";
  }
  if (type == "command")
    return "**Command**" + by_label(item) + ": " + json_string(item, "verb") +
           (text.empty() ? "" : ' ' + text) + "\n\n";
  return "";
}

std::string item_text(const Json& item) {
  const std::string type = json_string(item, "type");
  const std::string error = json_string(item, "error");
  const std::string failure = error.empty() ? "" : "**Failed:** " + paragraph(error);
  if (type == "turn") return "## " + turn_label(item) + "\n\n";
  if (type == "message") return "### " + role_label(item) + "\n\n" + content_text(json_at(item, "content"));
  if (type == "answer") {
    return "### Assistant, step " + std::to_string(json_int(item, "step")) + "\n\n" +
           content_text(json_at(item, "content")) + failure;
  }
  if (type == "result") return result_text(item);
  if (type == "end") {
    return "*" + json_string(item, "turn") + ": " + json_string(item, "termination") + "*\n\n" +
           paragraph(json_string(item, "text")) + failure;
  }
  return text_of_rest(item, type);
}

}  // namespace

std::string transcript_markdown(const Json& transcript) {
  std::string out = "# Run " + json_string(transcript, "run_id") + "\n\n";
  for (const char* key : {"agent", "model", "status"})
    out += "- " + std::string(key) + ": " + json_string(transcript, key) + '\n';
  out += "- usage: " + show_usage(usage_from_json(json_at(transcript, "usage"))) + "\n\n";
  for (const Json& item : transcript.at("items").as_array()) out += item_text(item);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace praxis::app
