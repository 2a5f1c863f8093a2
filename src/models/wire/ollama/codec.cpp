// The codec of Ollama's own protocol.
#include "models/field_reader.hpp"
#include "models/wire/ollama/request.hpp"
#include "models/wire/ollama/response.hpp"

namespace praxis {
namespace ollama {
namespace {

class OllamaCodec final : public Codec {
 public:
  OllamaCodec(CodecTarget target, Dialect dialect) : target_(std::move(target)), dialect_(dialect) {}

  std::string path(bool) const override { return "/api/chat"; }
  Framing framing() const override { return Framing::kLines; }
  std::string head(const ModelRequest& request) const override {
    return request_head(target_, dialect_, request);
  }
  void append(std::string& body, const Message& message, RenderState&) const override {
    append_message(body, message, target_);
  }
  void close(std::string& body, const RenderState&) const override { body += "]}"; }
  std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const override {
    return std::make_unique<ResponseReader>(target_, std::move(options));
  }

 private:
  const CodecTarget target_;
  const Dialect dialect_;
};

}  // namespace

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  const Json table = flags.is_null() ? Json(JsonObject{}) : flags;
  FieldReader fields(table, "dialect");
  if (!fields.any("num_ctx").is_null()) fields.tokens("num_ctx", dialect.num_ctx.emplace());
  if (auto status = fields.finish(); !status) return fail(status.error());
  return dialect;
}

}  // namespace ollama

Result<CodecPtr> ollama_codec(CodecTarget target) {
  auto dialect = ollama::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const ollama::OllamaCodec>(std::move(target), *dialect);
}

}  // namespace praxis
