// Arbitrary bytes as a script of a model: an accepted script can be played, and the pieces of an answer add
// up to the answer.
#include <cstdint>
#include <cstdlib>

#include "base/testing/manual_executor.hpp"
#include "praxis/models/model.hpp"

namespace {

using namespace praxis;

constexpr std::uint64_t kMostAnswers = 8;
constexpr std::chrono::hours kLongestDelay{24 * 12};  // a billion milliseconds

struct Listener final : ModelSink {
  void on_delta(const ModelDelta& delta) override {
    if (done) std::abort();
    if (const auto* piece = std::get_if<TextChunk>(&delta)) text += piece->text;
    if (const auto* piece = std::get_if<ReasoningChunk>(&delta)) reasoning += piece->text;
    if (const auto* piece = std::get_if<ToolArgumentsChunk>(&delta)) arguments += piece->bytes;
  }
  void on_done(Result<ModelResponse> response) override {
    if (done) std::abort();
    done = std::move(response);
  }

  std::string text, reasoning, arguments;
  std::optional<Result<ModelResponse>> done;
};

void check(const Listener& heard) {
  if (!heard.done) std::abort();
  if (!*heard.done) return;
  std::string text, reasoning, arguments;
  for (const Part& part : (*heard.done)->parts) {
    if (const auto* said = std::get_if<TextPart>(&part)) text += said->text;
    if (const auto* thought = std::get_if<ReasoningPart>(&part)) reasoning += thought->text;
    if (const auto* call = std::get_if<ToolCallPart>(&part)) arguments += call->arguments;
  }
  if (text != heard.text || reasoning != heard.reasoning || arguments != heard.arguments) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto executor = std::make_shared<ManualExecutor>();
  const auto model = script_model({reinterpret_cast<const char*>(data), size}, "fuzz", executor);
  if (!model) return model.error().code == ErrorCode::kInput ? 0 : (std::abort(), 1);
  const auto session = (*model)->open_session();
  ModelRequest request;
  for (; request.ordinal < kMostAnswers; ++request.ordinal) {
    const auto listener = std::make_shared<Listener>();
    session->start(request, listener, {});
    executor->advance(kLongestDelay);
    check(*listener);
  }
  return 0;
}
