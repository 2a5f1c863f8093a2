// The codec of Ollama's own protocol.
#include "models/wire/ollama/request.hpp"
#include "models/wire/ollama/response.hpp"

namespace praxis {
namespace wire::ollama {
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
  constexpr std::int64_t kMost = 1'000'000'000'000;
  Dialect dialect;
  if (const Status read = read_settings(flags, "dialect", dialect); !read) return fail(read.error());
  const std::int64_t context = dialect.num_ctx.value_or(0);
  if (context < 0 || context > kMost) return misfit("dialect.num_ctx", must_be_integer(0, kMost));
  return dialect;
}

}  // namespace wire::ollama

Result<CodecPtr> ollama_codec(CodecTarget target) {
  auto dialect = wire::ollama::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const wire::ollama::OllamaCodec>(std::move(target), *dialect);
}

}  // namespace praxis
