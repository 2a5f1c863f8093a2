// Arbitrary bytes as an answer of one protocol (PRAXIS_FUZZ_API): where they are cut makes no difference, a
// call that may run has arguments that parse, and the answer can be sent back. The first byte says whether
// the response failed, the second how it is cut.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "models/answer.hpp"
#include "models/answer_parser.hpp"
#include "models/request_writer.hpp"

namespace {

using namespace praxis;

const CodecPtr& codec() {
  static const CodecPtr kCodec = make_codec(PRAXIS_FUZZ_API, {.provider = "p", .model = "m"}).value();
  return kCodec;
}

Result<ModelResponse> read(std::string_view body, int status, std::size_t piece) {
  AnswerParser parser(*codec(), {.call_prefix = "call_"});
  parser.head({status, {}});
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) parser.feed(body.substr(0, piece));
  return parser.finish({});
}

std::string text_of(const Result<ModelResponse>& answer) {
  return to_json_text(answer ? to_json(*answer) : to_json(answer.error()));
}

void check_calls(const ModelResponse& answer) {
  for (const Part& part : answer.parts) {
    const auto* call = std::get_if<ToolCallPart>(&part);
    if (call == nullptr || !call->valid) continue;
    if (call->name.empty() || call->id.empty() || !parse_json(arguments_or_empty(call->arguments)))
      std::abort();
  }
}

void send_back(ModelResponse answer) {
  Message turn;
  turn.role = Role::kAssistant;
  turn.parts = std::move(answer.parts);
  ModelRequest request;
  request.history =
      normalise({text_message(Role::kUser, "a"), std::move(turn), text_message(Role::kUser, "b")}).history;
  if (!parse_json(*RequestWriter(codec()).write(request), {.max_depth = 256})) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int status = data[0] == '!' ? 429 : 200;
  const std::size_t piece = std::max<std::size_t>(data[1] % 64, 1);
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  auto whole = read(body, status, std::max<std::size_t>(body.size(), 1));
  if (text_of(whole) != text_of(read(body, status, piece))) std::abort();
  if (!whole) return 0;
  check_calls(*whole);
  send_back(*std::move(whole));
  return 0;
}
