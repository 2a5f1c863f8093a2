#include "app/transcript_text.hpp"

#include "app/values.hpp"
#include "praxis/base/time.hpp"

namespace praxis::app {

std::string media_label(const Json& media) {
  std::string text = "[" + json_string(media, "type") + ": ";
  const std::string name = json_string(media, "name"), url = json_string(media, "url");
  if (!name.empty() || !url.empty()) text += (name.empty() ? url : name) + ", ";
  text += json_string(media, "media_type");
  if (const auto bytes = json_int(media, "bytes"); bytes > 0) text += ", " + std::to_string(bytes) + " bytes";
  return text + "]";
}

std::string turn_label(const Json& item) {
  const std::string agent = json_string(item, "agent");
  return "Turn " + json_string(item, "turn") + ", " + (agent.empty() ? "" : agent + ", ") +
         json_string(item, "time");
}

std::string role_label(const Json& item) {
  std::string role = json_string(item, "role");
  if (!role.empty()) role.front() = static_cast<char>(role.front() - 'a' + 'A');
  const std::string source = json_string(item, "source");
  return role + (source == json_string(item, "role") ? "" : " (" + source + ")");
}

std::string by_label(const Json& item) {
  const std::string by = json_string(item, "by");
  return by.empty() ? "" : " by " + by;
}

std::string said_label(const Json& item) {
  const std::string text = json_string(item, "text");
  return text.empty() ? "" : ": " + text;
}

std::string result_label(const Json& item) {
  const std::string outcome = json_string(item, "outcome");
  return json_string(item, "call") + ", " + (outcome == "ok" ? "" : outcome + ", ") +
         show_duration(Millis{json_int(item, "duration_ms")});
}

}  // namespace praxis::app
