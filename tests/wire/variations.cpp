#include "wire/variations.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace praxis::wire {
namespace {

bool is_event_stream(const RecordedResponse& response) { return response.kind == "sse"; }

/// Returns the line at `at`, without its end, and the start of the next line.
std::pair<std::string_view, std::size_t> line_at(std::string_view body, std::size_t at) {
  const std::size_t end = std::min(body.size(), body.find_first_of("\r\n", at));
  std::size_t next = end;
  if (next < body.size() && body[next] == '\r') ++next;
  if (next < body.size() && body[next] == '\n') ++next;
  return {body.substr(at, end - at), next};
}

/// Returns what servers and gateways insert between events, and an event in the protocol's form without
/// meaning.
std::string noise_of(std::string_view api) {
  std::string out = ": keep-alive\n\n:\n\ndata: : wrapped comment\n\n";
  if (api == "messages") {
    out +=
        "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: surprise\ndata: "
        "{\"type\":\"surprise\",\"index\":77}\n\n";
  } else if (api == "responses") {
    out +=
        "event: response.surprise.delta\ndata: {\"type\":\"response.surprise.delta\",\"delta\":\"boo\"}\n\n";
  } else if (api == "gemini") {
    out += "data: {\"surprise\":{\"text\":\"boo\"}}\n\n";
  } else {
    out += "event: surprise\ndata: {\"choices\":[],\"surprise\":{\"content\":\"boo\"}}\n\n";
  }
  return out;
}

}  // namespace

std::vector<std::string_view> single_bytes(std::string_view body) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < body.size(); ++i) pieces.push_back(body.substr(i, 1));
  return pieces;
}

std::vector<std::string_view> random_pieces(std::string_view body, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string_view> pieces;
  while (!body.empty()) {
    pieces.push_back(body.substr(0, random() % 64 + 1));
    body.remove_prefix(pieces.back().size());
  }
  return pieces;
}

std::string with_crlf(std::string_view body) {
  std::string out;
  for (std::size_t at = 0; at < body.size();) {
    const auto [line, next] = line_at(body, at);
    out += line;
    if (at + line.size() < body.size()) out += "\r\n";
    at = next;
  }
  return out;
}

std::vector<std::size_t> event_ends(const RecordedResponse& response) {
  std::vector<std::size_t> ends;
  const std::string_view body = response.body;
  bool in_event = false;
  for (std::size_t at = 0; at < body.size();) {
    const auto [line, next] = line_at(body, at);
    const bool ended = is_event_stream(response) ? line.empty() && in_event : !line.empty();
    if (ended) ends.push_back(next);
    in_event = !line.empty();
    at = next;
  }
  return ends;
}

std::string with_noise(const RecordedResponse& response, std::string_view api) {
  const std::string noise = is_event_stream(response) ? noise_of(api) : "\n{\"surprise\":1}\n  \n";
  std::string out = noise;
  std::size_t at = 0;
  for (const std::size_t end : event_ends(response)) {
    out.append(response.body, at, end - at).append(noise);
    at = end;
  }
  return out.append(response.body, at);
}

std::string with_unknown_fields(const RecordedResponse& response) {
  const std::string_view body = response.body;
  std::string out;
  for (std::size_t at = 0; at < body.size();) {
    const auto [line, next] = line_at(body, at);
    const std::size_t brace = line.find_last_not_of(' ');
    const bool is_object = brace != std::string_view::npos && line[brace] == '}' &&
                           (line.starts_with("data:") || !is_event_stream(response)) && line.contains(':');
    out += is_object ? line.substr(0, brace) : line;
    if (is_object) out += R"(,"surprise":{"deep":[1,{"text":"boo"}]}})";
    out += body.substr(at + line.size(), next - at - line.size());
    at = next;
  }
  return out;
}

bool has_terminal_marker(std::string_view api, std::string_view stream) {
  const auto has = [&](std::string_view mark) { return stream.contains(mark); };
  if (api == "messages") return has("message_stop") || has("[DONE]");
  if (api == "gemini") return has("\"finishReason\"") || has("\"blockReason\"");
  if (api == "ollama") return has("\"done\":true") || has("\"done\": true");
  if (api == "responses")
    return has("response.completed") || has("response.incomplete") || has("response.failed") || has("[DONE]");
  constexpr std::string_view kFinish = "\"finish_reason\":";
  for (std::size_t at = 0; (at = stream.find(kFinish, at)) != std::string_view::npos;) {
    at = stream.find_first_not_of(' ', at + kFinish.size());
    if (at != std::string_view::npos && stream[at] == '"') return true;
  }
  return has("[DONE]");
}

}  // namespace praxis::wire
