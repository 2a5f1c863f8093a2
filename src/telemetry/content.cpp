#include "telemetry/content.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "praxis/base/utf8.hpp"

namespace praxis::telemetry {
namespace {

std::string redacted(const SpanQuestion& question, const std::string& text) {
  return question.redact ? question.redact(text) : text;
}

/// The part of a message in the form of the conventions.
class PartForm {
 public:
  explicit PartForm(const SpanQuestion& question) : question_(question) {}

  JsonObject operator()(const TextPart& part) const {
    return {{"type", "text"}, {"content", redacted(question_, part.text)}};
  }
  JsonObject operator()(const ReasoningPart& part) const {
    return {{"type", "reasoning"},
            {"content", redacted(question_, part.text.empty() ? part.summary : part.text)}};
  }
  JsonObject operator()(const ToolCallPart& part) const {
    return {{"type", "tool_call"},
            {"id", part.id.str()},
            {"name", redacted(question_, part.name)},
            {"arguments", redacted(question_, part.arguments)}};
  }
  JsonObject operator()(const ToolResultPart& part) const {
    return {
        {"type", "tool_call_response"}, {"id", part.id.str()}, {"response", redacted(question_, part.text)}};
  }
  JsonObject operator()(const ImagePart& part) const {
    return {{"type", "blob"}, {"modality", "image"}, {"mime_type", part.source.mime}};
  }
  JsonObject operator()(const FilePart& part) const {
    return {{"type", "blob"}, {"modality", "file"}, {"mime_type", part.source.mime}};
  }
  JsonObject operator()(const RefusalPart& part) const {
    return {{"type", "refusal"}, {"content", redacted(question_, part.text)}};
  }
  JsonObject operator()(const CompactionPart& part) const {
    return {{"type", "compaction"}, {"content", redacted(question_, part.summary)}};
  }
  JsonObject operator()(const OpaquePart& part) const { return {{"type", part.kind}}; }

 private:
  const SpanQuestion& question_;
};

JsonArray parts_form(const SpanQuestion& question, const std::vector<Part>& parts) {
  JsonArray form;
  for (const Part& part : parts) form.emplace_back(std::visit(PartForm(question), part));
  return form;
}

/// Without what exceeds `most` bytes.
std::string cut(std::string text, std::size_t most) {
  return text.size() <= most ? std::move(text) : std::string(utf8_head(text, most)) + "...";
}

}  // namespace

std::string content_text(const SpanQuestion& question, std::string text) {
  return cut(redacted(question, text), question.max_content);
}

std::string messages_text(const SpanQuestion& question, const std::vector<MessagePtr>& messages) {
  std::vector<std::string> forms;
  std::size_t bytes = 0;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    std::string form = to_json_text(JsonObject{{"role", to_string((*message)->role)},
                                               {"parts", parts_form(question, (*message)->parts)}});
    bytes += form.size() + 1;
    if (bytes > question.max_content) break;
    forms.push_back(std::move(form));
  }
  std::string text = "[";
  for (auto form = forms.rbegin(); form != forms.rend(); ++form) text += (text.size() > 1 ? "," : "") + *form;
  return text + ']';
}

std::string answer_text(const SpanQuestion& question, const ModelResponse& answer) {
  JsonObject form{{"role", "assistant"},
                  {"parts", parts_form(question, answer.parts)},
                  {"finish_reason", to_string(answer.finish)}};
  std::string text = to_json_text(JsonArray{form});
  if (text.size() <= question.max_content) return text;
  form["parts"] = JsonArray{};
  return to_json_text(JsonArray{form});
}

}  // namespace praxis::telemetry
