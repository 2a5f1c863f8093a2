// The codec of the Responses protocol.
#include <utility>

#include "models/wire/responses/items.hpp"
#include "models/wire/responses/request.hpp"
#include "models/wire/responses/response.hpp"

namespace praxis {
namespace wire::responses {
namespace {

class ResponsesCodec final : public Codec {
 public:
  ResponsesCodec(CodecTarget target, Dialect dialect)
      : target_(std::move(target)), dialect_(std::move(dialect)) {}

  std::string path(bool) const override { return "/responses"; }
  bool compacts() const override { return dialect_.native_compaction && target_.facts.context_window > 0; }
  std::string head(const ModelRequest& request) const override {
    return request_head(target_, dialect_, request);
  }
  void append(std::string& body, const Message& message, RenderState& state) const override {
    append_message(body, message, target_, dialect_, state);
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
  if (const Status read = read_settings(flags, "dialect", dialect); !read) return fail(read.error());
  return dialect;
}

}  // namespace wire::responses

Result<CodecPtr> responses_codec(CodecTarget target) {
  auto dialect = wire::responses::read_dialect(target.dialect);
  if (!dialect) return fail(dialect.error());
  return std::make_shared<const wire::responses::ResponsesCodec>(std::move(target), *std::move(dialect));
}

}  // namespace praxis
