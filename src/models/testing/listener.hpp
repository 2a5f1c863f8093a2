// Records the deltas of an answer reader for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "praxis/models/model.hpp"

namespace praxis {

/// Records each delta as `kind item(text) `, for comparison.
class Listener final : public ModelSink {
 public:
  void on_delta(const ModelDelta& delta) override {
    std::visit([this](const auto& d) { note(d); }, delta);
  }
  void on_done(Result<ModelResponse>) override {}
  const std::string& heard() const { return heard_; }

 private:
  void note(const TextChunk& d) { add("text", d.item, d.text); }
  void note(const ReasoningChunk& d) { add(d.summary ? "summary" : "reasoning", d.item, d.text); }
  void note(const ToolCallChunk& d) { add("call", d.item, std::string(d.id) + "=" + std::string(d.name)); }
  void note(const ToolArgumentsChunk& d) { add("arguments", d.item, d.bytes); }
  void note(const RefusalChunk& d) { add("refusal", d.item, d.text); }
  void note(const ProviderEvent& d) { heard_ += "event(" + std::string(d.raw) + ") "; }
  void note(const auto&) {}
  void add(std::string_view kind, std::uint32_t item, std::string_view text) {
    heard_ += std::string(kind) + std::to_string(item) + "(" + std::string(text) + ") ";
  }

  std::string heard_;
};

}  // namespace praxis
