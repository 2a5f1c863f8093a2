// Any conversation as a request of one protocol (PRAXIS_FUZZ_API): the body is JSON, and extending the last
// request gives the same bytes as rendering from scratch. The input is one message per line, in the form of
// `message_from_json`.
#include <cstdint>
#include <cstdlib>

#include "models/request_writer.hpp"

namespace {

using namespace praxis;

std::vector<Message> messages_of(std::string_view lines) {
  std::vector<Message> messages;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const auto json = parse_json(line);
    if (!json) continue;
    if (auto message = message_from_json(*json)) messages.push_back(*std::move(message));
  }
  return messages;
}

ModelRequest request_of(History history) {
  static const auto kTools = std::make_shared<const std::vector<ToolDefinition>>(
      1, ToolDefinition{.name = "f", .description = "d", .parameters = JsonObject{{"type", "object"}}});
  ModelRequest request;
  request.instructions = "Be brief.";
  request.history = std::move(history);
  request.tools = kTools;
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CodecPtr kCodec = make_codec(PRAXIS_FUZZ_API, {.provider = "p", .model = "m"}).value();
  RequestWriter going_on(kCodec);
  HistoryBuilder builder;
  for (const Message& message : messages_of({reinterpret_cast<const char*>(data), size})) {
    builder.push(std::make_shared<const Message>(message));
    const ModelRequest request = request_of(builder.history());
    const std::string continued = *going_on.write(request);
    if (continued != *RequestWriter(kCodec).write(request)) std::abort();
    if (!parse_json(continued, {.max_depth = 256})) std::abort();
  }
  return 0;
}
