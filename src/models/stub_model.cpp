#include "praxis/models/stub_model.hpp"

#include <utility>

namespace praxis {
namespace {

class StubSession final : public ModelSession {
 public:
  explicit StubSession(std::shared_ptr<const StubAnswer> answer) : answer_(std::move(answer)) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    if (stop.stop_requested()) return sink->on_done(fail(ErrorCode::kCancelled, "the call was stopped"));
    auto response = (*answer_)(request);
    if (response && request.stream) stream(*response, *sink);
    sink->on_done(std::move(response));
  }

 private:
  static void stream(const ModelResponse& response, ModelSink& sink) {
    std::uint32_t item = 0;
    for (const Part& part : response.parts) {
      if (const auto* text = std::get_if<TextPart>(&part)) {
        sink.on_delta(TextChunk{text->text, item});
      } else if (const auto* thought = std::get_if<ReasoningPart>(&part)) {
        sink.on_delta(ReasoningChunk{thought->text, item, false});
      } else if (const auto* call = std::get_if<ToolCallPart>(&part)) {
        sink.on_delta(ToolCallChunk{call->id.str(), call->name, item});
        sink.on_delta(ToolArgumentsChunk{call->arguments, item});
      }
      ++item;
    }
  }

  const std::shared_ptr<const StubAnswer> answer_;
};

class StubModel final : public Model {
 public:
  StubModel(StubAnswer answer, std::string name)
      : answer_(std::make_shared<const StubAnswer>(std::move(answer))), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<StubSession>(answer_); }
  MicroUsd price(const Usage&) const override { return {}; }

 private:
  const std::shared_ptr<const StubAnswer> answer_;
  const std::string name_;
};

}  // namespace

std::shared_ptr<Model> stub_model(StubAnswer answer, std::string name) {
  return std::make_shared<StubModel>(std::move(answer), std::move(name));
}

ModelResponse stub_text(std::string text) {
  ModelResponse response;
  response.parts.emplace_back(TextPart{std::move(text)});
  response.model = "stub";
  return response;
}

ModelResponse stub_call(std::string id, std::string tool, const Json& arguments) {
  ModelResponse response;
  response.parts.emplace_back(
      ToolCallPart{CallId{std::move(id)}, std::move(tool), to_json_text(arguments), true, nullptr});
  response.finish = FinishReason::kToolCalls;
  response.model = "stub";
  return response;
}

}  // namespace praxis
