// The codec of the Gemini protocol, for Google AI and Vertex AI.
#include <array>
#include <utility>

#include "models/wire/gemini/request.hpp"
#include "models/wire/gemini/response.hpp"

namespace praxis {
namespace gemini {
namespace {

class GeminiCodec final : public Codec {
 public:
  GeminiCodec(CodecTarget target, Dialect dialect) : target_(std::move(target)), dialect_(dialect) {}

  std::string path(bool stream) const override { return request_path(target_.model, stream); }
  std::string head(const ModelRequest& request) const override {
    return request_head(target_, dialect_, request);
  }
  void append(std::string& body, const Message& message, RenderState& state) const override {
    append_message(body, message, target_, dialect_, state);
  }
  void close(std::string& body, const RenderState& state) const override { close_request(body, state); }
  std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const override {
    return std::make_unique<ResponseReader>(target_, std::move(options));
  }

 private:
  const CodecTarget target_;
  const Dialect dialect_;
};

constexpr std::array<std::pair<std::string_view, bool Dialect::*>, 4> kSwitches{
    {{"requires_signatures", &Dialect::requires_signatures},
     {"media_results", &Dialect::media_results},
     {"schema_with_tools", &Dialect::schema_with_tools},
     {"json_schema", &Dialect::json_schema}}};

constexpr std::array<std::pair<std::string_view, Thinking>, 3> kThinking{
    {{"level", Thinking::kLevel}, {"budget", Thinking::kBudget}, {"none", Thinking::kNone}}};

Status read_flag(Dialect& dialect, std::string_view name, const Json& value) {
  if (name == "thinking") {
    for (const auto& [word, thinking] : kThinking) {
      if (!value.is_string() || value.get_string() != word) continue;
      dialect.thinking = thinking;
      return {};
    }
    return fail(ErrorCode::kInput, "flag \"thinking\" must be level, budget or none");
  }
  for (const auto& [flag, field] : kSwitches) {
    if (name != flag) continue;
    if (!value.is_bool()) {
      return fail(ErrorCode::kInput, "flag \"" + std::string(name) + "\" must be true or false");
    }
    dialect.*field = value.get_bool();
    return {};
  }
  return fail(ErrorCode::kInput, "flag \"" + std::string(name) +
                                     "\" is unknown; known are thinking, requires_signatures, media_results, "
                                     "schema_with_tools and json_schema");
}

}  // namespace

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  if (const JsonObject* object = flags.if_object()) {
    for (const auto& [name, value] : *object) {
      if (const Status read = read_flag(dialect, name, value); !read) return fail(read.error());
    }
  }
  return dialect;
}

}  // namespace gemini

Result<CodecPtr> gemini_codec(CodecTarget target) {
  auto dialect = gemini::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const gemini::GeminiCodec>(std::move(target), *dialect);
}

}  // namespace praxis
