#include "models/redacting_sink.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace praxis {
namespace {

/// The text of a delta that continues in later deltas; null for other deltas.
std::string_view* continued_text(ModelDelta& delta) {
  if (auto* text = std::get_if<TextChunk>(&delta)) return &text->text;
  if (auto* reasoning = std::get_if<ReasoningChunk>(&delta)) return &reasoning->text;
  if (auto* arguments = std::get_if<ToolArgumentsChunk>(&delta)) return &arguments->bytes;
  if (auto* refusal = std::get_if<RefusalChunk>(&delta)) return &refusal->text;
  return nullptr;
}

/// Whether both deltas are pieces of the same text.
bool continues(const ModelDelta& before, const ModelDelta& after) {
  if (before.index() != after.index()) return false;
  if (const auto* reasoning = std::get_if<ReasoningChunk>(&before)) {
    const auto& next = std::get<ReasoningChunk>(after);
    return reasoning->item == next.item && reasoning->summary == next.summary;
  }
  const auto item = [](const ModelDelta& delta) {
    return std::visit(
        [](const auto& chunk) -> std::uint32_t {
          if constexpr (requires { chunk.item; }) return chunk.item;
          return 0;
        },
        delta);
  };
  return item(before) == item(after);
}

class RedactingSink final : public ModelSink {
 public:
  RedactingSink(std::shared_ptr<const Redactor> redactor, std::shared_ptr<ModelSink> sink)
      : redactor_(std::move(redactor)), sink_(std::move(sink)) {}

  void on_delta(const ModelDelta& delta) override {
    if (std::holds_alternative<KeepAlive>(delta)) return sink_->on_delta(delta);
    ModelDelta next = delta;
    std::string_view* text = continued_text(next);
    if (open_ && (text == nullptr || !continues(*open_, next))) release();
    if (text == nullptr) return pass_on(next);
    held_ = redactor_->without_secrets(held_.append(*text));
    const std::size_t ready = held_.size() - redactor_->unfinished(held_);
    open_ = next;
    send(ready);
  }

  void on_done(Result<ModelResponse> response) override {
    release();
    if (response) redact(*response);
    sink_->on_done(std::move(response));
  }

 private:
  std::string clean(std::string text) const { return redactor_->without_secrets(std::move(text)); }

  /// Passes on the first `count` bytes of the text that is held back.
  void send(std::size_t count) {
    if (count == 0) return sink_->on_delta(KeepAlive{});
    *continued_text(*open_) = std::string_view(held_).substr(0, count);
    sink_->on_delta(*open_);
    held_.erase(0, count);
  }

  void release() {
    if (open_ && !held_.empty()) send(held_.size());
    held_.clear();
    open_.reset();
  }

  void pass_on(const ModelDelta& delta) const {
    const auto* event = std::get_if<ProviderEvent>(&delta);
    if (event == nullptr) return sink_->on_delta(delta);
    const std::string raw = clean(std::string(event->raw));
    sink_->on_delta(ProviderEvent{raw});
  }

  void redact(VendorStatePtr& state) const {
    if (!state) return;
    std::string raw = clean(state->raw);
    if (raw != state->raw)
      state = std::make_shared<const VendorState>(VendorState{state->vendor, state->model, std::move(raw)});
  }

  void redact(ModelResponse& response) const {
    for (Part& part : response.parts) {
      std::visit(
          [&](auto& one) {
            if constexpr (requires { one.vendor; }) redact(one.vendor);
            if constexpr (requires { one.text; }) one.text = clean(std::move(one.text));
            if constexpr (requires { one.summary; }) one.summary = clean(std::move(one.summary));
            if constexpr (requires { one.arguments; }) one.arguments = clean(std::move(one.arguments));
            if constexpr (requires { one.citations; }) {
              for (Citation& citation : one.citations) {
                for (std::string* text : {&citation.url, &citation.title, &citation.quote})
                  *text = clean(std::move(*text));
              }
            }
          },
          part);
    }
    for (std::string& warning : response.warnings) warning = clean(std::move(warning));
    for (std::string* text :
         {&response.finish_raw, &response.model, &response.response_id, &response.request_id})
      *text = clean(std::move(*text));
  }

  const std::shared_ptr<const Redactor> redactor_;
  const std::shared_ptr<ModelSink> sink_;
  std::optional<ModelDelta> open_;  ///< the kind and item of the text that is held back
  std::string held_;
};

}  // namespace

std::shared_ptr<ModelSink> redacting_sink(std::shared_ptr<const Redactor> redactor,
                                          std::shared_ptr<ModelSink> sink) {
  return std::make_shared<RedactingSink>(std::move(redactor), std::move(sink));
}

}  // namespace praxis
