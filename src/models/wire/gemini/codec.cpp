// The codec of the Gemini protocol, for Google AI and Vertex AI.
#include <utility>

#include "models/wire/gemini/request.hpp"
#include "models/wire/gemini/response.hpp"

namespace praxis {
namespace wire::gemini {
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

}  // namespace

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  if (const Status read = read_settings(flags, "dialect", dialect); !read) return fail(read.error());
  return dialect;
}

}  // namespace wire::gemini

Result<CodecPtr> gemini_codec(CodecTarget target) {
  auto dialect = wire::gemini::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const wire::gemini::GeminiCodec>(std::move(target), *dialect);
}

}  // namespace praxis
