#include "models/answer_builder.hpp"

#include <algorithm>

namespace praxis {

std::size_t AnswerBuilder::open(Part part) {
  response.parts.push_back(std::move(part));
  return response.parts.size() - 1;
}

void AnswerBuilder::text(std::size_t item, std::string_view text) {
  if (text.empty()) return;
  const auto number = static_cast<std::uint32_t>(item);
  if (auto* refusal = std::get_if<RefusalPart>(&part(item))) {
    refusal->text += text;
    emit(RefusalChunk{text, number});
  } else {
    std::get<TextPart>(part(item)).text += text;
    emit(TextChunk{text, number});
  }
}

void AnswerBuilder::reasoning(std::size_t item, std::string_view text, bool summary) {
  if (text.empty()) return;
  auto& thought = std::get<ReasoningPart>(part(item));
  (summary ? thought.summary : thought.text) += text;
  emit(ReasoningChunk{text, static_cast<std::uint32_t>(item), summary});
}

void AnswerBuilder::name_call(std::size_t item, std::string_view vendor_id, std::string_view name) {
  ++calls_;
  std::string id = usable_id(vendor_id);
  auto& call = std::get<ToolCallPart>(part(item));
  call.id = CallId(std::move(id));
  call.name = name;
  const auto number = static_cast<std::uint32_t>(item);
  emit(ToolCallChunk{call.id.value, call.name, number});
  if (!call.arguments.empty()) emit(ToolArgumentsChunk{call.arguments, number});
}

void AnswerBuilder::arguments(std::size_t item, std::string_view bytes) {
  if (bytes.empty()) return;
  auto& call = std::get<ToolCallPart>(part(item));
  call.arguments += bytes;
  if (!call.id.empty()) emit(ToolArgumentsChunk{bytes, static_cast<std::uint32_t>(item)});
}

VendorStatePtr AnswerBuilder::state(std::string raw) const {
  return std::make_shared<const VendorState>(VendorState{target_.provider, target_.model, std::move(raw)});
}

std::string AnswerBuilder::usable_id(std::string_view vendor_id) const {
  const auto taken = [&](std::string_view id) {
    const auto has_id = [&](const Part& other) {
      const auto* call = std::get_if<ToolCallPart>(&other);
      return call != nullptr && call->id.value == id;
    };
    return std::ranges::any_of(response.parts, has_id) || (options_.call_taken && options_.call_taken(id));
  };
  std::string id(vendor_id);
  for (std::size_t n = calls_; id.empty() || taken(id); ++n) id = options_.call_prefix + std::to_string(n);
  return id;
}

void AnswerBuilder::emit(const ModelDelta& delta) {
  ++deltas_;
  if (options_.deltas != nullptr) options_.deltas->on_delta(delta);
}

}  // namespace praxis
