#include "tools/a2a_protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/visible_text.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::a2a {
namespace {

constexpr std::size_t kMostParts = 256;  ///< of a message, artifacts of a task
constexpr std::size_t kMostInterfaces = 64;
constexpr std::size_t kMostName = 200;
constexpr std::string_view kStatePrefix = "TASK_STATE_";

struct State {
  std::string_view name;
  Phase phase;
};
constexpr std::array kStates{
    State{"submitted", Phase::kWorking},      State{"working", Phase::kWorking},
    State{"completed", Phase::kDone},         State{"failed", Phase::kFailed},
    State{"canceled", Phase::kFailed},        State{"rejected", Phase::kFailed},
    State{"input_required", Phase::kWaiting}, State{"auth_required", Phase::kWaiting},
};

std::unexpected<Error> unusable(std::string why) {
  return fail(
      with_reach(make_error(ErrorCode::kTool, ErrorKind::kProtocol, std::move(why)), Reach::kAnswered));
}

std::string state_name(std::string_view state) {
  if (!state.starts_with(kStatePrefix)) return "unknown";
  std::string name;
  for (const char c : state.substr(kStatePrefix.size()).substr(0, kMostName))
    name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return std::ranges::find(kStates, name, &State::name) != kStates.end() ? name : "unknown";
}

/// Collects text up to a bound.
class Text {
 public:
  explicit Text(std::size_t most) : most_(most) {}
  void add(std::string_view piece, std::string_view separator) {
    if (!text_.empty()) take(separator);
    take(piece);
  }
  std::string finish() {
    if (left_out_ != 0) text_ += "\n[" + std::to_string(left_out_) + " bytes left out]";
    return repair_utf8(text_);
  }

 private:
  void take(std::string_view piece) {
    const std::string_view kept = utf8_head(piece, most_ - std::min(most_, text_.size()));
    text_ += kept;
    left_out_ += piece.size() - kept.size();
  }

  const std::size_t most_;
  std::string text_;
  std::size_t left_out_ = 0;
};

void add_parts(Text& text, const Json& parts) {
  const JsonArray* const list = parts.if_array();
  if (list == nullptr) return;
  std::size_t count = 0;
  for (const Json& part : *list) {
    if (++count > kMostParts) return text.add("[further parts left out]", "\n");
    const JsonObject* const object = part.if_object();
    if (object == nullptr) continue;
    if (object->contains("text")) {
      text.add(json_text(part, "text"), "\n");
    } else if (object->contains("data")) {
      text.add(to_json_text(json_at(part, "data")), "\n");
    } else {
      const std::string name = shown(json_text(part, "filename"), kMostName);
      const std::string type = shown(json_text(part, "mediaType"), kMostName);
      text.add(
          "[a file that is not passed on: " + name + (name.empty() || type.empty() ? "" : ", ") + type + ']',
          "\n");
    }
  }
}

std::string text_of_artifacts(const Json& task, std::size_t most) {
  Text text(most);
  const JsonArray* const artifacts = json_at(task, "artifacts").if_array();
  if (artifacts == nullptr) return {};
  std::size_t count = 0;
  for (const Json& artifact : *artifacts) {
    if (++count > kMostParts) {
      text.add("[further artifacts left out]", "\n");
      break;
    }
    add_parts(text, json_at(artifact, "parts"));
  }
  return text.finish();
}

bool same_place(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

Status check_extensions(const Json& capabilities) {
  const JsonArray* const extensions = json_at(capabilities, "extensions").if_array();
  if (extensions == nullptr) return {};
  for (const Json& each : *extensions) {
    if (json_bool(each, "required"))
      return unusable("the agent requires the extension " + shown(json_text(each, "uri"), kMostName) +
                      ", which this client does not know");
  }
  return {};
}

}  // namespace

Result<Interface> interface_of(const Json& card, const Url& home) {
  const Json& capabilities = json_at(card, "capabilities");
  if (auto checked = check_extensions(capabilities); !checked) return fail(std::move(checked.error()));
  const JsonArray* const all = json_at(card, "supportedInterfaces").if_array();
  if (all == nullptr)
    return unusable("the agent's card has no \"supportedInterfaces\", as version 1.0 wants it");
  std::string elsewhere;
  for (std::size_t i = 0; i < std::min(all->size(), kMostInterfaces); ++i) {
    const Json& each = (*all)[i];
    const std::string binding = json_string(each, "protocolBinding");
    const std::string version = json_string(each, "protocolVersion");
    const bool is_rpc = binding == "JSONRPC";
    if ((!is_rpc && binding != "HTTP+JSON") || (version != "1.0" && !version.starts_with("1."))) continue;
    std::string address = json_string(each, "url");
    const auto url = parse_url(address);
    if (!url || !same_place(*url, home) || url->target.contains('?')) {
      elsewhere = address;
      continue;
    }
    const std::string tenant = json_string(each, "tenant");
    if (!tenant.empty() && !is_id(tenant)) continue;
    while (!is_rpc && address.ends_with('/')) address.pop_back();
    return Interface{std::move(address), is_rpc, tenant, json_bool(capabilities, "streaming")};
  }
  if (!elsewhere.empty())
    return unusable("the agent's card names the address " + shown(elsewhere, kMostName) +
                    ", which has another scheme, host or port than the url of the agent");
  return unusable("the agent's card has no interface of version 1 with the binding JSONRPC or HTTP+JSON");
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kMostId &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string shown(std::string_view text, std::size_t most) {
  std::string made = visible_text(utf8_head(text, most));
  if (text.size() > most) made += " [...]";
  return made;
}

Phase phase_of(std::string_view state) {
  const auto* const found = std::ranges::find(kStates, state, &State::name);
  return found == kStates.end() ? Phase::kWorking : found->phase;
}

std::string text_of_parts(const Json& parts, std::size_t most) {
  Text text(most);
  add_parts(text, parts);
  return text.finish();
}

Result<Task> read_task(const Json& json, std::size_t most_text) {
  const Json& status = json_at(json, "status");
  Task task;
  task.id = json_string(json, "id");
  if (!is_id(task.id) || !status.is_object()) return unusable("the agent's answer is not a usable task");
  task.context = json_string(json, "contextId");
  if (!is_id(task.context)) task.context.clear();
  task.state = state_name(json_text(status, "state"));
  const Json& message = json_at(status, "message");
  const std::string said = text_of_parts(json_at(message, "parts"), most_text);
  task.text = text_of_artifacts(json, most_text);
  if (task.text.empty()) task.text = said;
  task.said = shown(said);
  const std::string time = json_string(status, "timestamp");
  const std::string which = time.empty() ? json_string(message, "messageId") : time;
  task.mark = digest_of(task.state + '\n' + which + '\n' + said).hex(16);
  return task;
}

Json to_json(const Task& task) {
  return JsonObject{{"task", task.id},   {"context", task.context}, {"state", task.state},
                    {"text", task.text}, {"said", task.said},       {"mark", task.mark}};
}

std::optional<Task> task_from(const Json& json) {
  const std::string id = json_string(json, "task");
  if (id.empty()) return std::nullopt;
  return Task{id,
              json_string(json, "context"),
              json_string(json, "state"),
              json_string(json, "text"),
              json_string(json, "said"),
              json_string(json, "mark")};
}

Error reported(const Json& error) {
  const std::int64_t code = json_int(error, "code");
  Error made = make_error(
      ErrorCode::kTool, ErrorKind::kFailed,
      "the agent reports error " + std::to_string(code) + ": " + shown(json_text(error, "message")));
  return with_reach(std::move(made), Reach::kAnswered);
}

}  // namespace praxis::a2a
