// Measures the cost of reading a streamed answer for each codec: reads long generated streams in pieces of 4
// KB, as they would arrive from the network. Prints a Markdown table.
//
//   praxis_codec_bench [EVENTS]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "models/answer_parser.hpp"

namespace {

using namespace praxis;

/// The text of an event; some texts need escapes, as real ones do.
std::string words(int n) {
  return std::to_string(n) + " and then the fox, not at all tired, said" +
         (n % 8 == 0 ? " \\u00e9t\\u00e9" : "");
}

/// A stream of one protocol with a lot of text.
struct Workload {
  const char* name;
  const char* api;
  std::function<std::string(int)> first, next, last;  ///< events, by their number
};

std::string number(int n) { return std::to_string(n); }
std::string event(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }
std::string named(std::string_view name, std::string_view rest) {
  return "event: " + std::string(name) + "\ndata: {\"type\":\"" + std::string(name) + "\"," +
         std::string(rest) + "}\n\n";
}

std::string chat_chunk(std::string_view delta, std::string_view finish) {
  return event(
      R"({"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{)" +
      std::string(delta) + R"(},"finish_reason":)" + std::string(finish) + "}]}");
}

Workload chat() {
  return {"chat", "chat", [](int) { return chat_chunk(R"("role":"assistant","content":"")", "null"); },
          [](int n) { return chat_chunk("\"content\":\"" + words(n) + '"', "null"); },
          [](int) { return chat_chunk("", "\"stop\"") + event("[DONE]"); }};
}

Workload chat_arguments() {
  const auto call = [](std::string_view head, std::string_view arguments) {
    return chat_chunk("\"tool_calls\":[{\"index\":0," + std::string(head) + "\"function\":{" +
                          std::string(arguments) + "}}]",
                      "null");
  };
  return {
      "chat, arguments", "chat",
      [call](int) { return call(R"("id":"c","type":"function",)", R"("name":"f","arguments":"{\"a\":\"")"); },
      [call](int n) { return call("", "\"arguments\":\"" + number(n) + " and then the fox, not tired\""); },
      [call](int) {
        return call("", R"("arguments":"\"}")") + chat_chunk("", "\"tool_calls\"") + event("[DONE]");
      }};
}

Workload responses() {
  return {
      "responses", "responses",
      [](int) {
        return named("response.created", R"("sequence_number":0,"response":{"id":"r","model":"m"})") +
               named(
                   "response.output_item.added",
                   R"("output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]})") +
               named(
                   "response.content_part.added",
                   R"("item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""})");
      },
      [](int n) {
        return named("response.output_text.delta",
                     "\"sequence_number\":" + number(n) +
                         R"(,"item_id":"msg_1","output_index":0,"content_index":0,"delta":")" + words(n) +
                         '"');
      },
      [](int) {
        return named("response.completed", R"("response":{"id":"r","status":"completed","output":[]})");
      }};
}

Workload messages() {
  return {"messages", "messages",
          [](int) {
            return named("message_start",
                         R"("message":{"id":"m1","model":"m","content":[],"usage":{"input_tokens":1}})") +
                   named("content_block_start", R"("index":0,"content_block":{"type":"text","text":""})");
          },
          [](int n) {
            return named("content_block_delta",
                         R"("index":0,"delta":{"type":"text_delta","text":")" + words(n) + "\"}");
          },
          [](int) {
            return named("content_block_stop", R"("index":0)") +
                   named("message_delta",
                         R"("delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9})") +
                   named("message_stop", R"("x":0)");
          }};
}

Workload gemini() {
  const auto chunk = [](std::string_view text, std::string_view finish) {
    return event(
        R"({"candidates":[{"content":{"parts":[{"text":")" + std::string(text) + R"("}],"role":"model"})" +
        std::string(finish) +
        R"(,"index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9},"modelVersion":"m"})");
  };
  return {"gemini", "gemini", [](int) { return std::string(); },
          [chunk](int n) { return chunk(words(n), ""); },
          [chunk](int) { return chunk("", R"(,"finishReason":"STOP")"); }};
}

Workload ollama() {
  const auto line = [](std::string_view text, std::string_view end) {
    return R"({"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":")" +
           std::string(text) + R"("},"done":)" + std::string(end) + "}\n";
  };
  return {
      "ollama", "ollama", [](int) { return std::string(); },
      [line](int n) { return line(words(n), "false"); },
      [line](int) { return line("", R"(true,"done_reason":"stop","prompt_eval_count":5,"eval_count":9)"); }};
}

struct Nobody final : ModelSink {
  void on_delta(const ModelDelta&) override {}
  void on_done(Result<ModelResponse>) override {}
};

double seconds_to_read(const Codec& codec, std::string_view stream) {
  constexpr std::size_t kPiece = 4096;
  Nobody nobody;
  const std::clock_t begin = std::clock();  // CPU time: other processes may be active
  AnswerParser parser(codec, {.deltas = &nobody, .call_prefix = "call_"});
  parser.head({200, {}});
  for (; !stream.empty(); stream.remove_prefix(std::min(kPiece, stream.size())))
    parser.feed(stream.substr(0, kPiece));
  const auto answer = parser.finish({});
  const std::clock_t end = std::clock();
  if (!answer) {
    std::fprintf(stderr, "praxis_codec_bench: %s\n", answer.error().message.c_str());
    std::exit(1);
  }
  return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
}

void measure(const Workload& workload, int events) {
  constexpr int kRounds = 5;  // the best round counts: the others were disturbed
  const auto codec = make_codec(workload.api, {.provider = "p", .model = "m"});
  if (!codec) std::exit(1);
  std::string stream = workload.first(0);
  for (int n = 1; n <= events; ++n) stream += workload.next(n);
  stream += workload.last(events + 1);
  double best = seconds_to_read(**codec, stream);
  for (int round = 1; round < kRounds; ++round) best = std::min(best, seconds_to_read(**codec, stream));
  std::printf("| %s | %.2f | %.0f |\n", workload.name, best * 1e6 / events,
              static_cast<double>(stream.size()) / best / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const int events = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 50'000;
  std::printf("| codec | us/event | MB/s |\n| --- | --- | --- |\n");
  for (const Workload& workload : {chat(), chat_arguments(), responses(), messages(), gemini(), ollama()})
    measure(workload, events);
  return 0;
}
